package resolve

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ManagesGateway reports whether the kind's vendor manages a Gateway, or the Gateway of a
// ListenerSet: its class names one of the vendor's controllers, or the input does not tell whose it
// is.
func (k *Kind) ManagesGateway(id topology.NodeID) bool {
	return managesGateway(k.Kind, k.res.Graph, id)
}

// managesGateway reports whether a kind's vendor manages a Gateway, or the Gateway of a ListenerSet,
// or the input does not tell whose it is.
func managesGateway(k *policy.Kind, g *topology.Graph, id topology.NodeID) bool {
	if g.Node(id).Role == topology.ListenerSet {
		if id = g.ListenerSet(id).Gateway; id == topology.None {
			return true
		}
	}
	return k.Controllers == nil || !slices.ContainsFunc(g.Parents(topology.Traffic, id), func(class topology.NodeID) bool { return foreignController(k, g, class) != "" })
}

// DecidesOwner reports whether objects of a kind decide whose Gateways they are, where that matters
// for policies of k.
func (k Gaps) DecidesOwner(gk model.GroupKind) bool {
	return k.DependsOnController() && gk == classKind || k.HasDialects && gk == gatewayKind
}

// DecidesAcceptance reports whether objects of a kind, from other namespaces too, decide which
// policies of the kind are accepted: the policies themselves, which keep each other out, and the
// grants that let them.
func (k Gaps) DecidesAcceptance(gk model.GroupKind) bool {
	return k.Namespaces == policy.WithGrant && k.SameTarget == policy.Conflict && (gk == k.GroupKind || gk == grantKind)
}

// foreignController returns the controller of a class if it is none of the kind's vendor, "" if it
// is one or is not known.
func foreignController(k *policy.Kind, g *topology.Graph, class topology.NodeID) string {
	o := g.Node(class).Object
	if o == nil || k.Controllers == nil {
		return ""
	}
	if name := o.Text("spec", "controllerName"); !slices.Contains(k.Controllers, name) {
		return name
	}
	return ""
}

// judgeStep judges one step of a path: nil if the kind's vendor recognises it. No vendor recognises
// a step to a Gateway of another controller.
func (k *pathEngine) judgeStep(parent, child topology.NodeID) *model.Problem {
	g := k.res.Graph
	if n := g.Node(child); n.Role == topology.Gateway && n.Object != nil && g.Node(parent).Role == topology.GatewayClass {
		if name := foreignController(k.Kind.Kind, g, parent); name != "" {
			p := model.Problem{Severity: model.Info, Code: model.NotReached,
				Message: fmt.Sprintf("%s belongs to controller %s: %s does not apply on paths through it", n.Ref, name, k.GroupKind.Kind)}.At(n.Object)
			return &p
		}
	}
	if p := k.unseenProblem(child); p != nil {
		return p
	}
	if k.Step == nil {
		return nil
	}
	return k.Step(g, parent, child)
}
