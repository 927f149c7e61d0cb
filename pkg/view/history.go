package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ObjectChange is an object that is not the same before and after.
type ObjectChange struct {
	Object model.Ref `json:"object"` // which
	Change string    `json:"change"` // Added, Removed, Changed
}

// HistoryChange is a change of an effective policy between two snapshots that follow each other.
type HistoryChange struct {
	Since string `json:"since"` // when the snapshot before it was read
	At    string `json:"at"`    // when the first snapshot was read that has it
	File  string `json:"file"`  // that snapshot
	PolicyChange
	// By are the objects without whose change this would not have changed. Where several are needed together, or each would have been enough, all of
	// them are named.
	By []ObjectChange `json:"by"`
}

// History answers `history`.
type History struct {
	Envelope
	Target    model.Ref       `json:"target"`    // that was asked about
	Snapshots int             `json:"snapshots"` // that were read
	From      string          `json:"from"`      // when the first was read
	To        string          `json:"to"`        // when the last was read
	Items     []HistoryChange `json:"items"`     // by time, then by target and policy kind
}

// About reports whether a change is about a target, or about a rule of it.
func (c *PolicyChange) About(target model.Ref) bool {
	return c.Target == target || target.Section == "" && c.Target.WithoutSection() == target
}

// Same reports whether two changes are about the same policy kind at the same target.
func (c *PolicyChange) Same(other *PolicyChange) bool {
	return c.PolicyKind == other.PolicyKind && c.Target == other.Target
}

// NewHistory settles an answer.
func NewHistory(h *History, problems []model.Problem) *History {
	if h.Items == nil {
		h.Items = []HistoryChange{}
	}
	h.Seal("History", problems)
	return h
}

// Table lists the changes, a line for each setting.
func (h *History) Table(o TableOptions) Table {
	t := Table{Footer: h.closing()}
	if len(h.Items) == 0 {
		return t
	}
	kinds := kindNames{}
	for i := range h.Items {
		kinds.add(h.Items[i].PolicyKind)
	}
	b := Block{Heading: []string{h.Target.String() + " · " + Counted(len(h.Items), "change") + " in " + Counted(h.Snapshots, "snapshot")},
		Columns: []Column{{Name: "TIME", Rank: 1, Least: 20}, {Name: "RULE", Rank: 6, Least: 8}, {Name: "KIND", Rank: 7, Least: 9, Short: shortKind}, {Name: "SETTING", Rank: 5, Least: 12, Short: shortSetting},
			{Name: "BEFORE", Rank: 3, Least: 14}, {Name: "AFTER", Rank: 4, Least: 14}, {Name: "BY", Rank: 2, Least: 20},
			{Name: "SINCE", Wide: true}, {Name: "FILE", Wide: true}}}
	lines := 0
	for i := range h.Items {
		for _, row := range h.rows(&h.Items[i], kinds, o) {
			if lines++; o.limit(lines) == lines {
				b.Rows = append(b.Rows, row)
			}
		}
	}
	t.Footer = append(moreLine(lines-len(b.Rows), "line"), t.Footer...)
	t.Blocks = []Block{b}
	return t
}

// rows are the lines of one change.
func (h *History) rows(c *HistoryChange, kinds kindNames, o TableOptions) [][]Cell {
	var by []string
	for _, one := range c.By {
		by = append(by, one.Object.String()+" "+strings.ToLower(one.Change))
	}
	section := c.Target.Section
	if section == "" {
		section = "-"
	}
	var out [][]Cell
	for _, row := range changeRows(&c.PolicyChange, kinds, o) {
		cells := slices.Concat([]Cell{{Text: c.At}, {Text: section}}, row[:4], []Cell{{Text: strings.Join(by, ", ")}, {Text: c.Since}, {Text: c.File}})
		out = append(out, markUnsure(cells, c.Unread))
	}
	return out
}

// closing says how far the answer goes.
func (h *History) closing() []string {
	var out []string
	if len(h.Items) == 0 {
		out = append(out, "nothing changes at "+h.Target.String()+" in "+Counted(h.Snapshots, "snapshot"))
	}
	out = append(out, "from "+h.From+" to "+h.To+"; what changed and changed back between two snapshots is not seen")
	return append(out, h.Closing()...)
}
