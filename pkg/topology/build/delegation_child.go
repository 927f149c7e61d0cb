package build

import (
	"cmp"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// selectChildren lists the routes that a backendRef selects in one of the given ways, sorted by
// reference.
func (c *delegationChains) selectChildren(d delegateRef, ways []Delegation) []*model.Object {
	var out []*model.Object
	for _, o := range c.in.OfKind(gatewayapi.HTTPRouteKind) {
		var picked bool
		switch {
		case d.byLabel:
			picked = slices.ContainsFunc(ways, func(way Delegation) bool {
				return o.Labels[way.LabelKey] == d.ref.Name && (d.ref.Namespace == way.AllNamespaces ||
					o.Ref.Namespace == d.ref.Namespace)
			})
		case d.hasLabelName(ways):
			key, value, _ := strings.Cut(d.ref.Name, "=")
			picked = o.Ref.Namespace == d.ref.Namespace && o.Labels[key] == value
		default:
			picked = o.Ref.Namespace == d.ref.Namespace && (d.ref.Name == "" || d.ref.Name == "*" ||
				o.Ref.Name == d.ref.Name)
		}
		if picked {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(x, y *model.Object) int { return x.Ref.Compare(y.Ref) })
	return out
}

// hasLabelName reports whether the name of a route stands for a label.
func (d *delegateRef) hasLabelName(ways []Delegation) bool {
	return strings.Contains(d.ref.Name, "=") &&
		slices.ContainsFunc(ways, func(way Delegation) bool { return way.NamesLabel })
}

// acceptsParent reports whether a route lets a parent hand over to it: it names no parents, or this
// one with group and kind written out.
func (c *delegationChains) acceptsParent(child *model.Object, parent model.Ref) bool {
	refs := child.Body.At("spec", "parentRefs")
	if refs.Len() == 0 {
		return true
	}
	for _, v := range refs.Items {
		if v.Text("group") == gatewayapi.HTTPRouteKind.Group && v.Text("kind") == gatewayapi.HTTPRouteKind.Kind &&
			v.Text("name") == parent.Name &&
			cmp.Or(v.Text("namespace"), child.Ref.Namespace) == parent.Namespace {
			return true
		}
	}
	return false
}

// rulesFor lists the rules of a child that take requests of a parent rule with the given matches,
// each with what it matches then.
func (c *delegationChains) rulesFor(child topology.NodeID, parents []routeMatch,
	ways []Delegation) (rules []topology.NodeID, kept [][]routeMatch) {
	n := c.nodes.Node(child)
	inherits := slices.ContainsFunc(ways, func(way Delegation) bool { return way.isInherited(n.Object) })
	for rule := range n.EachPart {
		var left []routeMatch
		for _, m := range readMatches(n.Object, c.nodes.Node(rule).Index) {
			for _, p := range parents {
				switch {
				case inherits:
					left = append(left, p.joinChild(m))
				case p.delegatesTo(m):
					left = append(left, m)
				}
			}
		}
		if len(left) > 0 {
			rules, kept = append(rules, rule), append(kept, left)
		}
	}
	return rules, kept
}

// reportCircle reports a route that hands over to one above it.
func (c *delegationChains) reportCircle(route topology.NodeID, d delegateRef, child *model.Object) {
	c.reportFailure(route, d, string(gatewayv1.RouteReasonRefNotPermitted), model.Problem{Code: model.RefNotPermitted,
		Message: "it delegates to " + child.Ref.String() + ", which delegated to it: nothing is delegated there"})
}

// reportForeignKind reports a backendRef with the label of an implementation that none of the
// route's Gateways belongs to: it is no kind of backend there.
func (c *delegationChains) reportForeignKind(route, rule topology.NodeID, d delegateRef) {
	c.reportFailure(route, d, string(gatewayv1.RouteReasonInvalidKind), model.Problem{Code: model.BackendNotFound,
		Message: "rule " + c.nodes.Node(rule).Ref.Section + " sends to a backend of kind " +
			d.ref.GroupKind().String() + ", which delegates to routes at Gateways of another implementation only"})
}

// reportFailure reports p about a backendRef by which a route hands over. The first of a route is
// what it cannot resolve; without a reason it is not known whether it can.
func (c *delegationChains) reportFailure(route topology.NodeID, d delegateRef, reason string, p model.Problem) {
	if c.unresolved[route] == (reference.Unresolved{}) {
		c.unresolved[route] = reference.Unresolved{Reason: reason, Message: p.Message}
	}
	p.Severity = model.Warning
	c.reportOnce(c.nodes.Node(route).Object, p, d.at.FromRoot()...)
}

// noteUnknownOwner leaves open whether a label is a kind of backend, where a cluster does not tell
// whose the Gateways of the route are: others do not know it.
func (c *delegationChains) noteUnknownOwner(chain []topology.NodeID, rule topology.NodeID, d delegateRef) {
	route := chain[len(chain)-1]
	if c.in.Cluster == nil || c.unresolved[route] != (reference.Unresolved{}) {
		return
	}
	for _, a := range c.tables[chain[0]] {
		if !gatewayapi.IsMeshParent(a.Parent.GroupKind()) && c.controllerOfAttachment(a) == "" {
			c.unresolved[route] = reference.Unresolved{Message: "rule " + c.nodes.Node(rule).Ref.Section +
				" delegates to " + d.String() + ", which depends on the implementation of " +
				a.Parent.WithoutSection().String() + ", and that is not known"}
			return
		}
	}
}

// reportUnresolvable reports a backendRef that hands over to nothing.
func (c *delegationChains) reportUnresolvable(route, rule topology.NodeID, d delegateRef, ways []Delegation) {
	message := "rule " + c.nodes.Node(rule).Ref.Section + " delegates to " + d.String() + ", and "
	if why := c.whyUnknown(c.nodes.Node(route).Ref, d, ways); why != "" {
		c.reportFailure(route, d, "", model.Problem{Code: model.NotEvaluated, Message: message + why,
			Hint: "add the manifests of the routes"})
		return
	}
	c.reportFailure(route, d, string(gatewayv1.RouteReasonBackendNotFound), model.Problem{Code: model.BackendNotFound,
		Message: message + "no such route takes its requests"})
}

// whyUnknown says why a backendRef of a route may hand over all the same: the routes that it
// selects, or a grant for them, may not be read, or no route of their namespace is in the files.
func (c *delegationChains) whyUnknown(from model.Ref, d delegateRef, ways []Delegation) string {
	namespace := d.ref.Namespace
	everywhere := d.byLabel &&
		slices.ContainsFunc(ways, func(way Delegation) bool { return namespace == way.AllNamespaces })
	switch cluster := c.in.Cluster; {
	case c.mayBeGranted(from, d, ways):
		return c.in.ExplainUnread("the ReferenceGrants there", gatewayapi.GrantKind, namespace)
	case cluster != nil && (everywhere && cluster.HasUnread(gatewayapi.HTTPRouteKind) || !everywhere &&
		cluster.IsUnread(gatewayapi.HTTPRouteKind, namespace)):
		return "routes there are forbidden"
	case cluster == nil && !everywhere && !slices.ContainsFunc(c.in.OfKind(gatewayapi.HTTPRouteKind),
		func(o *model.Object) bool { return o.Ref.Namespace == namespace }):
		return "no route of that namespace is in the input"
	}
	if o := c.in.FindOmission(gatewayapi.HTTPRouteKind, namespace); o != nil {
		return o.String() + ", and may make routes there"
	}
	return ""
}

// mayBeGranted reports whether a backendRef of a route selects routes that a grant which may not be
// read may let it hand over to.
func (c *delegationChains) mayBeGranted(from model.Ref, d delegateRef, ways []Delegation) bool {
	if slices.ContainsFunc(ways, func(way Delegation) bool { return !way.NeedsGrant }) {
		return false
	}
	return slices.ContainsFunc(c.selectChildren(d, ways), func(child *model.Object) bool {
		return c.acceptsParent(child, from) && child.Ref.Namespace != from.Namespace &&
			c.in.IsUnread(gatewayapi.GrantKind, child.Ref.Namespace)
	})
}

// String names what a backendRef selects.
func (d delegateRef) String() string {
	switch {
	case d.byLabel:
		return "routes with the label " + manifest.QuoteName(d.ref.Name) + " in namespace " + d.ref.Namespace
	case d.ref.Name == "" || d.ref.Name == "*":
		return "the routes in namespace " + d.ref.Namespace
	}
	return d.ref.String()
}

// reportOnce reports a problem at a place of an object, once for all chains.
func (c *delegationChains) reportOnce(o *model.Object, p model.Problem, path ...string) {
	key := o.Ref
	key.Section = p.Message
	if !c.reported[key] {
		c.reported[key] = true
		c.AddProblem(p, o, path...)
	}
}
