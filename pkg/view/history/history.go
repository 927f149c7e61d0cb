package history

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
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
	diff.PolicyChange
	// By are the objects without whose change this would not have changed. Where several are needed
	// together, or each would have been enough, all of them are named.
	By []ObjectChange `json:"by"`
}

// History answers `history`.
type History struct {
	view.Envelope
	Target    model.Ref       `json:"target"`    // that was asked about
	Snapshots int             `json:"snapshots"` // that were read
	From      string          `json:"from"`      // when the first was read
	To        string          `json:"to"`        // when the last was read
	Items     []HistoryChange `json:"items"`     // by time, then by target and policy kind
}

// New completes an answer.
func New(h *History, problems []model.Problem) *History {
	if h.Items == nil {
		h.Items = []HistoryChange{}
	}
	h.Finish("History", problems)
	return h
}

// Table lists the changes, a line for each setting.
func (h *History) Table(o view.TableOptions) view.Table {
	t := view.Table{Footer: h.formatClosing()}
	if len(h.Items) == 0 {
		return t
	}
	kinds := view.KindNames{}
	for i := range h.Items {
		kinds.Add(h.Items[i].PolicyKind)
	}
	b := view.Block{Heading: []string{h.Target.String() + " · " + view.FormatCount(len(h.Items), "change") + " in " +
		view.FormatCount(h.Snapshots, "snapshot")},
		Columns: []view.Column{{Name: "TIME", Rank: 1, MinWidth: 20}, {Name: "RULE", Rank: 6, MinWidth: 8},
			{Name: "KIND", Rank: 7, MinWidth: 9, Shorten: view.ShortKind}, {Name: "SETTING", Rank: 5, MinWidth: 12,
				Shorten: view.ShortSetting, Shorter: view.LastOfSetting},
			{Name: "BEFORE", Rank: 3, MinWidth: 14, Wrap: true, Keep: true},
			{Name: "AFTER", Rank: 4, MinWidth: 14, Wrap: true, Keep: true}, {Name: "BY", Rank: 2,
				MinWidth: 20},
			{Name: "SINCE", Wide: true}, {Name: "FILE", Wide: true}}}
	lines := 0
	for i := range h.Items {
		for _, row := range h.buildRows(&h.Items[i], kinds, o) {
			if lines++; o.CountShown(lines) == lines {
				b.Rows = append(b.Rows, row)
			}
		}
	}
	t.Footer = append(view.FormatMoreLine(lines-len(b.Rows), "line"), t.Footer...)
	t.Blocks = []view.Block{b}
	return t
}

// buildRows returns the rows of one change.
func (h *History) buildRows(c *HistoryChange, kinds view.KindNames, o view.TableOptions) [][]view.Cell {
	var by []string
	for _, one := range c.By {
		by = append(by, one.Object.String()+" "+strings.ToLower(one.Change))
	}
	section := c.Target.Section
	if section == "" {
		section = "-"
	}
	var out [][]view.Cell
	for _, row := range diff.ChangeRows(&c.PolicyChange, kinds, o) {
		cells := slices.Concat([]view.Cell{{Text: c.At}, {Text: section}}, row[:4],
			[]view.Cell{{Text: strings.Join(by, ", ")}, {Text: c.Since}, {Text: c.File}})
		out = append(out, view.MarkUnsure(cells, c.Unread))
	}
	return out
}

// formatClosing says how far the answer goes.
func (h *History) formatClosing() []string {
	var out []string
	if len(h.Items) == 0 {
		out = append(out, "nothing changes at "+h.Target.String()+" in "+view.FormatCount(h.Snapshots, "snapshot"))
	}
	out = append(out, "from "+h.From+" to "+h.To+"; what changed and changed back between two snapshots is not seen")
	return append(out, h.IncompleteLines()...)
}
