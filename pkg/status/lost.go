package status

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// losses are the rules that one policy lost, by name.
type losses map[string]*Lost

// add notes a loss in one stack; now are the policies that have the rule there.
func (l losses) add(o *resolve.Verdict, loss merge.Loss, now []model.Ref) {
	lost := l[loss.Rule]
	if lost == nil {
		lost = &Lost{Rule: loss.Rule}
		l[loss.Rule] = lost
	}
	for _, to := range loss.To {
		if to.Layer != loss.From.Layer {
			lost.To = appendNew(lost.To, []model.Ref{o.Layers[to.Layer].Policy.Ref()})
		}
	}
	lost.Holders = appendNew(lost.Holders, now)
	if now != nil {
		return
	}
	for _, layer := range o.Layers {
		if !layer.Rejected {
			lost.Beside = appendNew(lost.Beside, []model.Ref{layer.Policy.Ref()})
		}
	}
}

func (l losses) sorted() []Lost {
	var out []Lost
	for _, lost := range l {
		for _, list := range [][]model.Ref{lost.To, lost.Holders, lost.Beside} {
			slices.SortFunc(list, model.Ref.Compare)
		}
		out = append(out, *lost)
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
