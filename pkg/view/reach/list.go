package reach

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// PolicyReachList answers `reach` for several policies.
type PolicyReachList struct {
	view.Envelope
	Items []PolicyReach `json:"items"` // in the order asked for
}

// NewList puts the answers about several policies into one.
func NewList(all []*PolicyReach) *PolicyReachList {
	out := &PolicyReachList{Items: []PolicyReach{}}
	var problems []model.Problem
	for _, r := range all {
		out.Items = append(out.Items, *r)
		problems = append(problems, r.Problems...)
	}
	out.Finish("PolicyReachList", problems)
	return out
}

// Table shows one policy after the other.
func (l *PolicyReachList) Table(o view.TableOptions) view.Table {
	var out view.Table
	for i := range l.Items {
		t := l.Items[i].Table(o)
		out.Blocks = append(out.Blocks, t.Blocks...)
		for _, line := range t.Footer {
			if !slices.Contains(out.Footer, line) {
				out.Footer = append(out.Footer, line)
			}
		}
	}
	return out
}

// FilterNames are those of all targets, each once.
func (l *PolicyReachList) FilterNames() []string {
	var out []string
	for i := range l.Items {
		out = append(out, l.Items[i].FilterNames()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
