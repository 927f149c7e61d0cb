package topology

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// HostnamesAt returns what is left of a route's hostnames at a listener, whether or not the
// listener takes the route (gatewayapi G16). It is nil if nothing is left, or if the hostnames
// cannot be read.
func (g *Graph) HostnamesAt(route, listener NodeID) []gatewayapi.Hostname {
	own := g.Hostname(listener)
	list := g.nodes.list[route].Object.Body.At("spec", "hostnames")
	if list.Len() == 0 {
		return []gatewayapi.Hostname{{Effective: own}}
	}
	var hosts []string
	for _, v := range list.Items {
		if h := v.Text(); h != "" {
			hosts = append(hosts, h)
		}
	}
	return gatewayapi.IntersectHostnames(own, hosts)
}

// ExplainUnattached says for a route that gets no traffic what became of its parentRefs; "" if it
// gets some.
func (g *Graph) ExplainUnattached(route NodeID) string {
	if len(g.Parents(All, route)) > 0 || len(g.nodes.instances[route]) > 0 {
		return ""
	}
	verdicts := g.ParentVerdicts(route)
	ref := g.nodes.list[route].Ref
	if len(verdicts) == 0 {
		return ref.String() + " names no Gateway: no traffic reaches it"
	}
	if slices.ContainsFunc(verdicts, func(v Attachment) bool { return v.Verdict != nil && v.State == Accepted }) {
		return ""
	}
	var reasons []string
	what := " is attached to no listener: "
	switch {
	case IsJudged(verdicts):
		what = " is attached to no parent: "
	case isMeshBound(g, g.nodes.list[route].Object):
		what = " is attached to no Service: "
	}
	for _, v := range verdicts {
		reasons = append(reasons, v.Reason)
		if v.State == Accepted {
			what = " gets no traffic: "
		}
	}
	return ref.String() + what + strings.Join(reasons, "; ")
}

// MayDelegate reports whether ReferenceGrants that may not be read decide whether some route hands
// over to others.
func (g *Graph) MayDelegate() bool { return g.parts.DelegationHidden }

// MayMissRoutes reports whether not all routes were read that may attach to a node or below it, or
// that may send to it.
func (g *Graph) MayMissRoutes(id NodeID) bool {
	kinds, namespace := gatewayapi.RouteKinds(), ""
	switch n := g.Node(id); n.Role {
	case GatewayClass, Gateway, ListenerSet:
		return slices.ContainsFunc(g.Children(Traffic, id), g.MayMissRoutes)
	case Listener:
		l := g.Listener(id)
		kinds = l.Kinds
		if l.OwnNamespace {
			namespace = n.Ref.Namespace
		}
	case Backend, Port:
	default:
		return false
	}
	return slices.ContainsFunc(kinds, func(gk model.GroupKind) bool {
		return g.Cluster().HasUnread(gk) || g.FindOmission(gk, namespace) != nil
	})
}
