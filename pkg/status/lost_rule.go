package status

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// lossesByRule are the rules that one policy lost, by name.
type lossesByRule map[string]*lossCount

// lossCount is a LostRule while it is counted.
type lossCount struct {
	to, holders model.Set[model.Ref]
	beside      [][]model.Ref
}

// addLoss notes a loss in one stack; now are the policies that have the rule there.
func (l lossesByRule) addLoss(s *stackResult, loss merge.Loss, now []model.Ref) {
	lost := l[loss.Rule]
	if lost == nil {
		lost = &lossCount{}
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

func (l lossesByRule) toLostRules() []LostRule {
	var out []LostRule
	for rule, lost := range l {
		out = append(out, LostRule{Rule: rule, To: sortedRefs(lost.to), Holders: sortedRefs(lost.holders),
			Beside: lost.beside})
	}
	slices.SortFunc(out, func(a, b LostRule) int { return strings.Compare(a.Rule, b.Rule) })
	return out
}

// listLostRules names the rules that a policy lost somewhere.
func (f *PolicyOutcome) listLostRules() string {
	var names []string
	for _, l := range f.Lost {
		names = append(names, l.Rule)
	}
	return listNames(names)
}
