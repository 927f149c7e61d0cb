package check

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// RuleList answers `check --list`.
type RuleList struct {
	view.Envelope
	Items []model.Rule `json:"items"` // by id, those of requirements last

	detailed bool
}

// List lists the rules of the given ids, or all.
func (c Catalogue) List(ids []string) *RuleList {
	list := &RuleList{Items: []model.Rule{}, detailed: len(ids) > 0}
	for _, r := range c {
		if len(ids) == 0 || slices.Contains(ids, string(r.ID)) {
			list.Items = append(list.Items, r)
		}
	}
	list.Finish("FindingRuleList", nil)
	return list
}

// FilterNames returns the ids.
func (l *RuleList) FilterNames() []string { return Catalogue(l.Items).IDs() }

// Table is a line for every rule; what was asked for by id is told in full.
func (l *RuleList) Table(o view.TableOptions) view.Table {
	if l.detailed {
		return view.Table{Blocks: l.detailBlocks()}
	}
	b := view.Block{Columns: []view.Column{{Name: "ID", Rank: 2, MinWidth: 24}, {Name: "SEVERITY"},
		{Name: "WHEN", Rank: 9, MinWidth: 40, Wrap: true}, {Name: "WHAT TO DO", Wide: true}, {Name: "CLAUSE",
			Wide: true}}}
	for _, r := range l.Items {
		b.Rows = append(b.Rows, []view.Cell{{Text: string(r.ID)}, {Text: string(r.Severities[0])}, {Text: r.Summary},
			{Text: r.Fix}, {Text: r.Clause}})
	}
	return view.Table{Blocks: []view.Block{b}, Footer: []string{"about one: kubectl dopolicy check --list ID"}}
}

func (l *RuleList) detailBlocks() []view.Block {
	var out []view.Block
	for _, r := range l.Items {
		id := string(r.ID)
		b := view.Block{Heading: []string{id}, Columns: []view.Column{{}, {Rank: 1, MinWidth: 40, Wrap: true}}}
		facts := [][2]string{{"severity", r.SeverityText()}, {"when", r.Summary}, {"what to do", r.Fix},
			{"clause", r.Clause},
			{"ignore it", "--ignore " + id + ", or the annotation " + IgnoreAnnotation + ": " + id + " on the object"}}
		for _, f := range facts {
			if f[1] != "" {
				b.Rows = append(b.Rows, []view.Cell{{Text: f[0]}, {Text: f[1]}})
			}
		}
		out = append(out, b)
	}
	return out
}
