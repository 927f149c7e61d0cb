package resolve

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// applyVoid leaves nothing in force where a policy of the stack is in error, or something else
// voids it. The settings of policies in error are out of the fold; what the others make of it is
// still in the groups of the result.
func (o *Verdict) applyVoid(k *Kind, nodes []topology.NodeID) {
	culprit := -1
	if k.InError == policy.VoidResult {
		for i, l := range o.Layers {
			if l.Rejected || l.Policy.Fault == "" {
				continue
			}
			at := &o.stack.Layers[i]
			at.Written, at.Blocks, at.InError = l.blocksAtPlace(), nil, true
			if culprit < 0 {
				culprit = i
			}
		}
	}
	for _, id := range nodes {
		if o.Void == "" {
			o.Void = k.Table[id].Void
		}
	}
	if culprit >= 0 {
		o.Void = o.Layers[culprit].Policy.Ref().String() + " is in error: " + o.Layers[culprit].Policy.Fault
	}
	if o.Void != "" {
		o.stack.Void = &merge.Void{By: culprit}
	}
}

// VerdictWithoutErrors is the answer for a stack as if no policy of it was in error: what is in
// force if what they lack exists. It is nil where no error voids the stack.
func (k *Kind) VerdictWithoutErrors(s StackID) *Verdict {
	o, plans := k.layOutStack(s)
	if o.stack.Void == nil || o.stack.Void.By < 0 {
		return nil
	}
	for i := range o.stack.Layers {
		if at := &o.stack.Layers[i]; at.InError {
			at.Blocks, at.Written, at.InError = at.Written, nil, false
		}
	}
	o.Void, o.stack.Void = "", nil
	o.Result = merge.Fold(plans, k.Rules, o.stack)
	return o
}

// openProblems reports settings of which it is not known whether they are in force beside those
// that are.
func (o *Verdict) openProblems() []model.Problem {
	var out []model.Problem
	for loss := range o.eachLoss {
		// those are reported where they meet
		if loss.Reason != merge.NotEvaluated || o.Layers[loss.From.Layer].Rejected {
			continue
		}
		var winners []string
		for _, to := range loss.To {
			winners = append(winners, o.Layers[to.Layer].Policy.Ref().FullName())
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
			"cannot tell whether %s is in force next to that of %s", loss.Rule, strings.Join(winners, ", "))}.At(
			o.Layers[loss.From.Layer].Policy.Object))
	}
	return out
}
