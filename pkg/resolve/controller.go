package resolve

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ManagesGateway reports whether the kind's vendor manages a Gateway, or the Gateway of a
// ListenerSet: its class names one of the vendor's controllers, or the input does not tell whose it
// is.
func (k *Kind) ManagesGateway(id topology.NodeID) bool {
	return attach.ManagesGateway(k.Kind, k.res.Graph, id)
}

// DecidesOwner reports whether objects of a kind decide whose Gateways they are, where that matters
// for policies of k.
func (k Gaps) DecidesOwner(gk model.GroupKind) bool {
	return k.DependsOnController() && gk == attach.ClassKind || k.HasDialects && gk == attach.GatewayKind
}

// DecidesAcceptance reports whether objects of a kind, from other namespaces too, decide which
// policies of the kind are accepted: the policies themselves, which keep each other out, and the
// grants that let them.
func (k Gaps) DecidesAcceptance(gk model.GroupKind) bool {
	return k.Namespaces == policy.WithGrant && k.SameTarget == policy.Conflict && (gk == k.GroupKind ||
		gk == attach.GrantKind)
}

// judgeStep judges one step of a path: nil if the kind's vendor recognises it. No vendor recognises
// a step to a Gateway of another controller.
func (k *pathEngine) judgeStep(parent, child topology.NodeID) *model.Problem {
	g := k.res.Graph
	if n := g.Node(child); n.Role == topology.Gateway && n.Object != nil &&
		g.Node(parent).Role == topology.GatewayClass {
		if name := attach.ForeignController(k.Kind.Kind, g, parent); name != "" {
			p := model.Problem{Severity: model.Info, Code: model.NotReached,
				Message: fmt.Sprintf("%s belongs to controller %s: %s does not apply on paths through it", n.Ref, name,
					k.GroupKind.Kind)}.At(n.Object)
			return &p
		}
	}
	if p := k.unseenProblem(child); p != nil {
		return p
	}
	if k.step == nil {
		return nil
	}
	return k.step(g, parent, child)
}

// UnattachedTargets lists the targets to which a policy is not attached and about which the kind's
// vendor has a word, by target.
func (k *Kind) UnattachedTargets(p *policy.Policy) []policy.UnattachedTarget {
	var out []policy.UnattachedTarget
	for _, f := range k.res.FindersOf(p.Kind) {
		if f.FindUnattached != nil {
			out = append(out, f.FindUnattached(p)...)
		}
	}
	slices.SortFunc(out, func(a, b policy.UnattachedTarget) int { return int(a.Node - b.Node) })
	return out
}
