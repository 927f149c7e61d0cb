package status

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// losses are the rules that one policy lost, by name.
type losses map[string]*losing

// losing is a Lost while it is counted.
type losing struct {
	to, holders model.Set[model.Ref]
	beside      [][]model.Ref
}

// add notes a loss in one stack; now are the policies that have the rule there.
func (l losses) add(s *stack, loss merge.Loss, now []model.Ref) {
	lost := l[loss.Rule]
	if lost == nil {
		lost = &losing{}
		l[loss.Rule] = lost
	}
	for _, to := range loss.To {
		if to.Layer != loss.From.Layer {
			lost.to.Add(s.Layers[to.Layer].Policy.Ref())
		}
	}
	lost.holders.Add(now...)
	if now == nil {
		lost.beside = append(lost.beside, s.beside)
	}
}

func (l losses) sorted() []Lost {
	var out []Lost
	for rule, lost := range l {
		out = append(out, Lost{Rule: rule, To: sortedRefs(lost.to), Holders: sortedRefs(lost.holders), Beside: lost.beside})
	}
	slices.SortFunc(out, func(a, b Lost) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}

// rules names the rules that a policy lost somewhere.
func (f *Fate) rules() string {
	var names []string
	for _, l := range f.Lost {
		names = append(names, l.Rule)
	}
	return few(names)
}
