package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// spare takes the settings of policies in error out of the fold, where one of them voids the whole stack: what the others make of it is
// still told by the groups of the result.
func (o *Outcome) spare(k *Kind) {
	if k.InError != policy.Poison {
		return
	}
	for i := range o.stack.Layers {
		if o.Layers[i].Policy.Fault != "" {
			o.stack.Layers[i].Blocks, o.stack.Layers[i].Faulty = nil, true
		}
	}
}

// judge runs the kind's checks on a policy that is attached, and says if that voids what it is attached to.
func (k *Kind) judge(p *policy.Policy) {
	if k.checks == nil {
		k.checks = k.Judgements(k.res.Graph, k.res.Snapshot)
	}
	k.res.Problems = append(k.res.Problems, k.Judge(k.checks, p, k.targetsOf[p])...)
	if p.Fault != "" && k.InError == policy.Poison {
		k.res.Problems = append(k.res.Problems, model.Problem{Severity: model.Warning, Code: model.PolicyInError, Message: fmt.Sprintf(
			"the policy is in error: %s. No policy of kind %s is in force where it is attached", p.Fault, k.GroupKind.Kind)}.At(p.Object))
	}
}

// poison leaves nothing in force where a policy of the stack is in error, or something else voids it: every setting is lost to the culprit.
func (o *Outcome) poison(k *Kind, s StackID) {
	culprit := -1
	if k.InError == policy.Poison {
		culprit = slices.IndexFunc(o.Layers, func(l Layer) bool { return !l.Rejected && l.Policy.Fault != "" })
	}
	for _, id := range k.nodes(s) {
		if o.Void == "" {
			o.Void = k.attached[id].void
		}
	}
	if culprit < 0 && o.Void == "" {
		return
	}
	if culprit >= 0 {
		o.Void = o.Layers[culprit].Policy.Ref().String() + " is in error: " + o.Layers[culprit].Policy.Fault
	}
	o.Result.Rules, o.Result.Lost, o.Result.Doc = nil, nil, nil
	for i, l := range o.Layers {
		if l.Rejected || l.Policy.Builtin != "" {
			continue
		}
		winner := culprit
		if i == culprit { // it lost to nobody but itself
			winner = -1
		}
		o.Result.Lost = append(o.Result.Lost, o.whole(k, i, merge.Invalid, winner)...)
	}
	slices.SortStableFunc(o.Result.Lost, func(a, b merge.Loss) int { return strings.Compare(a.Rule, b.Rule) })
}

// open reports settings of which it is not known whether they are in force beside those that are.
func (o *Outcome) open() []model.Problem {
	var out []model.Problem
	for _, loss := range o.Losses() {
		if loss.Reason != merge.NotEvaluated {
			continue
		}
		var winners []string
		for _, to := range loss.To {
			winners = append(winners, o.Layers[to.Layer].Policy.Ref().FullName())
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
			"whether %s is in force beside that of %s is not known", loss.Rule, strings.Join(winners, ", "))}.At(o.Layers[loss.From.Layer].Policy.Object))
	}
	return out
}
