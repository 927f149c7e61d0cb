package resolve

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// judge runs the kind's checks on a policy that is attached, and says if that voids what it is attached to.
func (k *attacher) judge(p *policy.Policy) {
	if k.checks == nil {
		k.checks = k.AttachedChecks(k.res.Graph, k.res.Snapshot)
	}
	k.res.Problems = append(k.res.Problems, k.Judge(k.checks, p, k.targetsOf(p))...)
	if p.Fault != "" && k.InError == policy.Poison {
		k.res.Problems = append(k.res.Problems, model.Problem{Severity: model.Warning, Code: model.PolicyInError, Message: fmt.Sprintf(
			"the policy is in error: %s. No policy of kind %s is in force where it is attached", p.Fault, k.GroupKind.Kind)}.At(p.Object))
	}
}

// void leaves nothing in force where a policy of the stack is in error, or something else voids it. The settings of policies in error are out of
// the fold; what the others make of it is still told by the groups of the result.
func (o *Verdict) void(k *Kind, nodes []topology.NodeID) {
	culprit := -1
	if k.InError == policy.Poison {
		for i, l := range o.Layers {
			if l.Rejected || l.Policy.Fault == "" {
				continue
			}
			at := &o.stack.Layers[i]
			at.Wrote, at.Blocks, at.Faulty = l.sets(), nil, true
			if culprit < 0 {
				culprit = i
			}
		}
	}
	for _, id := range nodes {
		if o.Void == "" {
			o.Void = k.attached[id].void
		}
	}
	if culprit >= 0 {
		o.Void = o.Layers[culprit].Policy.Ref().String() + " is in error: " + o.Layers[culprit].Policy.Fault
	}
	if o.Void != "" {
		o.stack.Void = &merge.Void{By: culprit}
	}
}

// Unfaulted is the answer for a stack as if no policy of it was in error: what is in force if what
// they lack exists. It is nil where no error voids the stack.
func (k *Kind) Unfaulted(s StackID) *Verdict {
	o, plans := k.build(s)
	if o.stack.Void == nil || o.stack.Void.By < 0 {
		return nil
	}
	for i := range o.stack.Layers {
		if at := &o.stack.Layers[i]; at.Faulty {
			at.Blocks, at.Wrote, at.Faulty = at.Wrote, nil, false
		}
	}
	o.Void, o.stack.Void = "", nil
	o.Result = merge.Fold(plans, k.Rules, o.stack)
	return o
}

// open reports settings of which it is not known whether they are in force beside those that are.
func (o *Verdict) open() []model.Problem {
	var out []model.Problem
	for loss := range o.losses {
		if loss.Reason != merge.NotEvaluated || o.Layers[loss.From.Layer].Rejected { // of those that is said where they meet
			continue
		}
		var winners []string
		for _, to := range loss.To {
			winners = append(winners, o.Layers[to.Layer].Policy.Ref().FullName())
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
			"cannot tell whether %s is in force next to that of %s", loss.Rule, strings.Join(winners, ", "))}.At(o.Layers[loss.From.Layer].Policy.Object))
	}
	return out
}
