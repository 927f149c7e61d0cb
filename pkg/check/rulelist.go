package check

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// RuleList answers `check --list`.
type RuleList struct {
	view.Envelope
	Items []Rule `json:"items"`

	detailed bool
}

// NewRuleList lists the rules of the given ids, or all, those of requirements among them.
func NewRuleList(ids []string, requirements []*requirement.Requirement) *RuleList {
	list := &RuleList{Items: []Rule{}, detailed: len(ids) > 0}
	all := Catalogue()
	for _, r := range requirements {
		all = append(all, Asked(r))
	}
	for _, r := range all {
		if len(ids) == 0 || slices.Contains(ids, r.ID) {
			list.Items = append(list.Items, r)
		}
	}
	list.Seal("FindingRuleList", nil)
	return list
}

// Names are the ids.
func (l *RuleList) Names() []string {
	var out []string
	for _, r := range l.Items {
		out = append(out, r.ID)
	}
	return out
}

// Table is a line for every rule; what was asked for by id is told in full.
func (l *RuleList) Table(o view.TableOptions) view.Table {
	if l.detailed {
		return view.Table{Blocks: l.details()}
	}
	b := view.Block{Columns: []view.Column{{Name: "ID"}, {Name: "SEVERITY"}, {Name: "WHEN"}, {Name: "WHAT TO DO", Wide: true}, {Name: "CLAUSE", Wide: true}}}
	for _, r := range l.Items {
		b.Rows = append(b.Rows, []view.Cell{{Text: r.ID}, {Text: string(r.Severities[0])}, {Text: r.Summary}, {Text: r.Fix}, {Text: r.Clause}})
	}
	return view.Table{Blocks: []view.Block{b}, Footer: []string{"about one: kubectl dopolicy check --list ID"}}
}

func (l *RuleList) details() []view.Block {
	var out []view.Block
	for _, r := range l.Items {
		b := view.Block{Heading: []string{r.ID}, Columns: []view.Column{{}, {}}}
		facts := [][2]string{{"severity", r.severities()}, {"when", r.Summary}, {"what to do", r.Fix}, {"clause", r.Clause},
			{"ignore it", "--ignore " + r.ID + ", or the annotation " + IgnoreAnnotation + ": " + r.ID + " on the object"}}
		for _, f := range facts {
			if f[1] != "" {
				b.Rows = append(b.Rows, []view.Cell{{Text: f[0]}, {Text: f[1]}})
			}
		}
		out = append(out, b)
	}
	return out
}

// severities are those of the rule, the usual one first.
func (r *Rule) severities() string {
	var words []string
	for _, s := range r.Severities {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}
