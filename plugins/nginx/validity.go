package nginx

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// What the controller takes of Gateways and routes, as far as files show it: an object that it
// refuses as a whole carries no traffic.

// explainInvalid is why the controller takes a Gateway or a route for invalid, "" if it is not
// known to.
func explainInvalid(n *topology.Node) string {
	switch {
	case n.Object == nil:
	case n.Role == topology.Gateway:
		for _, a := range n.Object.Body.At("spec", "addresses").Items {
			if kind := a.Text("type"); kind != "" && kind != "IPAddress" {
				return fmt.Sprintf("an address of type %s is not supported", kind)
			}
		}
	case n.Role == topology.Route:
		return explainInvalidRoute(n)
	}
	return ""
}

// explainInvalidRoute is why the controller takes a route for invalid, by itself: each of its rules
// has something invalid.
func explainInvalidRoute(n *topology.Node) string {
	why := ""
	for _, rule := range n.Object.Body.At("spec", "rules").Items {
		fault := judgeRule(n.Ref.Kind, rule)
		if fault == "" {
			return ""
		}
		why = cmp.Or(why, fault)
	}
	return why
}

// headerNamePattern is what the controller takes for the name of a header.
var headerNamePattern = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// newStepCheck refuses the paths through what the controller takes for invalid, or does not know.
func newStepCheck(g *topology.Graph, in *model.Snapshot) policy.StepFunc {
	v := viewOf(g, in)
	return func(g *topology.Graph, parent, child topology.NodeID) *model.Problem {
		n := g.Node(child)
		if n.Hop > 0 || n.Object == nil {
			return nil
		}
		why := ""
		switch n.Role {
		case topology.Gateway:
			why = explainInvalid(n)
		case topology.Listener:
			why = v.explainListener(child)
		case topology.Route:
			why = v.explainRoute(parent, child)
		}
		if why == "" {
			return nil
		}
		p := model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: fmt.Sprintf("NGINX Gateway Fabric refuses %s: %s; nothing is in force on a way through it", n.Ref,
				why)}.At(n.Object)
		return &p
	}
}

// explainListener says why a listener has no place in the configuration, "" if it has one.
func (v *controllerView) explainListener(id topology.NodeID) string {
	for _, l := range v.listenersOf(v.g.Listener(id).Owner) {
		if l.id == id && !l.valid {
			return l.conditions[0].Message
		}
	}
	return ""
}

// listenersOf lists the listeners of a Gateway or a ListenerSet.
func (v *controllerView) listenersOf(owner topology.NodeID) []*listenerView {
	if gateway := v.gateways[owner]; gateway != nil {
		return gateway.listeners
	}
	if set := v.sets[owner]; set != nil && !set.unknown {
		return set.listeners
	}
	return nil
}

// explainRoute says why a route has no place at a listener, "" if it has one.
func (v *controllerView) explainRoute(listener, id topology.NodeID) string {
	n, parent := v.g.Node(id), v.g.Node(listener)
	if parent.Role != topology.Listener || v.listenersOf(v.g.Listener(listener).Owner) == nil ||
		n.Ref.Kind != "HTTPRoute" && n.Ref.Kind != "GRPCRoute" || n.Ref.Group != gatewayGroup {
		return ""
	}
	r := v.routes[id]
	switch {
	case r == nil:
		return "it names no listener that is there"
	case r.fault != "":
		return r.fault
	}
	why := ""
	for _, p := range r.parents {
		if p.attached && slices.Contains(p.reached, listener) {
			return ""
		}
		for _, c := range p.failed {
			if c.Reason == "UnsupportedConfiguration" {
				why = c.Message
			}
		}
	}
	return why
}

// isManaged reports whether a Gateway is the controller's: its class names it, or the input does
// not tell.
func isManaged(g *topology.Graph, gateway topology.NodeID, controllers []string) bool {
	return !slices.ContainsFunc(g.Parents(topology.Traffic, gateway), func(class topology.NodeID) bool {
		o := g.Node(class).Object
		return o != nil && !slices.Contains(controllers, o.Text("spec", "controllerName"))
	})
}

// findGateways lists the controller's Gateways that a route names as parents, directly or by a
// ListenerSet, whether or not they take it; open if there is a parent that is not in the input.
func findGateways(g *topology.Graph, route topology.NodeID, controllers []string) (out []topology.NodeID, open bool) {
	for _, a := range g.Attachments(route) {
		gateway, known := findGateway(g, a.Parent.WithoutSection())
		switch {
		case !known:
			open = open || a.Missing || a.State == topology.Unknown
		case isManaged(g, gateway, controllers) && !slices.Contains(out, gateway):
			out = append(out, gateway)
		}
	}
	return out, open
}

// findGateway is the Gateway behind a parent.
func findGateway(g *topology.Graph, parent model.Ref) (topology.NodeID, bool) {
	for _, id := range g.Lookup(parent) {
		n := g.Node(id)
		if n.Role == topology.ListenerSet {
			id = g.ListenerSet(id).Gateway
		}
		if id != topology.None && g.Node(id).Role == topology.Gateway && g.Node(id).Object != nil {
			return id, true
		}
	}
	return topology.None, false
}
