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

// IsAbout reports whether a change is about a target, or about a rule of it.
func (c *PolicyChange) IsAbout(target model.Ref) bool {
	return c.Target == target || target.Section == "" && c.Target.WithoutSection() == target
}

// HasSameTarget reports whether two changes are about the same policy kind at the same target.
func (c *PolicyChange) HasSameTarget(other *PolicyChange) bool {
	return c.PolicyKind == other.PolicyKind && c.Target == other.Target
}

// NewHistory completes an answer.
func NewHistory(h *History, problems []model.Problem) *History {
	if h.Items == nil {
		h.Items = []HistoryChange{}
	}
	h.Finish("History", problems)
	return h
}

// Table lists the changes, a line for each setting.
func (h *History) Table(o TableOptions) Table {
	t := Table{Footer: h.formatClosing()}
	if len(h.Items) == 0 {
		return t
	}
	kinds := kindNames{}
	for i := range h.Items {
		kinds.add(h.Items[i].PolicyKind)
	}
	b := Block{Heading: []string{h.Target.String() + " · " + FormatCount(len(h.Items), "change") + " in " + FormatCount(h.Snapshots, "snapshot")},
		Columns: []Column{{Name: "TIME", Rank: 1, MinWidth: 20}, {Name: "RULE", Rank: 6, MinWidth: 8}, {Name: "KIND", Rank: 7, MinWidth: 9, Shorten: shortKind}, {Name: "SETTING", Rank: 5, MinWidth: 12, Shorten: shortSetting},
			{Name: "BEFORE", Rank: 3, MinWidth: 14}, {Name: "AFTER", Rank: 4, MinWidth: 14}, {Name: "BY", Rank: 2, MinWidth: 20},
			{Name: "SINCE", Wide: true}, {Name: "FILE", Wide: true}}}
	lines := 0
	for i := range h.Items {
		for _, row := range h.buildRows(&h.Items[i], kinds, o) {
			if lines++; o.countShown(lines) == lines {
				b.Rows = append(b.Rows, row)
			}
		}
	}
	t.Footer = append(formatMoreLine(lines-len(b.Rows), "line"), t.Footer...)
	t.Blocks = []Block{b}
	return t
}

// buildRows returns the rows of one change.
func (h *History) buildRows(c *HistoryChange, kinds kindNames, o TableOptions) [][]Cell {
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

// formatClosing says how far the answer goes.
func (h *History) formatClosing() []string {
	var out []string
	if len(h.Items) == 0 {
		out = append(out, "nothing changes at "+h.Target.String()+" in "+FormatCount(h.Snapshots, "snapshot"))
	}
	out = append(out, "from "+h.From+" to "+h.To+"; what changed and changed back between two snapshots is not seen")
	return append(out, h.IncompleteLines()...)
}
