package build

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// AddDelegation makes rules of HTTPRoutes hand over to other HTTPRoutes, at the Gateways of an
// implementation.
func (b *Builder) AddDelegation(d Delegation) { b.delegations = append(b.delegations, d) }

// Delegation says how rules of HTTPRoutes hand their requests over to other HTTPRoutes: by a
// backendRef to one, or to "*" for all of a namespace, and by one with a label. Where the input
// does not tell whose a Gateway is, the group of a backendRef with a label does.
type Delegation struct {
	Controllers []string // at whose Gateways; one whose class is not in the input may be theirs

	// The backendRef that selects children by label: its group and kind, the label's key, whose
	// value is the reference's name, and the namespace that means every one. Group "": there is
	// none.
	LabelGroup, LabelKind, LabelKey, AllNamespaces string

	NamesLabel bool // a name KEY=VALUE means the routes of the namespace with that label
	NeedsGrant bool // a route of another namespace takes a ReferenceGrant

	// The annotation with which a child lets its parent's matches be part of its own, and the
	// values that say so, in lower case.
	InheritKey    string
	InheritValues []string
}

// delegateRef is one backendRef by which a rule hands over.
type delegateRef struct {
	ref     model.Ref
	at      manifest.Position
	byLabel bool
}

// maxInstances bounds the copies that chains of delegation make of routes.
const maxInstances = 20000

// readDelegate reads a backendRef that hands over to routes; false if it is none.
func (bs *backendBuilder) readDelegate(f *manifest.Fields) (delegateRef, bool) {
	if !f.HasField("kind") { // it is a Service
		return delegateRef{}, false
	}
	ref := f.ReadReference(model.Ref{Namespace: f.At.Object.Ref.Namespace})
	d := delegateRef{at: f.At, byLabel: ref.GroupKind() != gatewayapi.HTTPRouteKind, ref: ref}
	if f.Bad || !slices.ContainsFunc(bs.delegations, func(way Delegation) bool { return way.matchesRef(d) }) {
		return delegateRef{}, false
	}
	return d, true
}

// delegationChains makes an instance of a route for every chain of delegation that leads to it:
// which of its rules take requests depends on the rules above, and so do circles.
type delegationChains struct {
	*gatewayBuilder
	delegates map[topology.NodeID][]delegateRef     // by rule
	below     map[topology.NodeID][]topology.NodeID // the backends of rules
	hostnamed map[topology.NodeID][]model.Ref       // by route with hostnames: the routes that would hand over to it
	reported  map[model.Ref]bool
	copies    int
	full      bool // there would be more copies
}

func newDelegationChains(gs *gatewayBuilder, handing map[topology.NodeID][]delegateRef) *delegationChains {
	return &delegationChains{gatewayBuilder: gs, delegates: handing, below: map[topology.NodeID][]topology.NodeID{},
		hostnamed: map[topology.NodeID][]model.Ref{}, reported: map[model.Ref]bool{}}
}

// followAll follows delegation from every route that traffic reaches, once all routes are there.
func (c *delegationChains) followAll() {
	for _, e := range c.traffic {
		if role := c.nodes.Node(e.From).Role; role == topology.Rule && len(c.delegates) > 0 {
			c.below[e.From] = append(c.below[e.From], e.To)
		}
	}
	for id := range topology.NodeID(c.nodes.Len()) {
		n := c.nodes.Node(id)
		if n.Role != topology.Route || n.Hop > 0 {
			continue
		}
		if ways := c.delegationsAt(id); len(ways) > 0 {
			c.followRoute(id, []topology.NodeID{id}, nil, ways)
		}
	}
	c.decideParents()
}

// followRoute follows the rules of a route, or of an instance of one. Chain has the routes from the
// root down to it, as they stand by themselves; matches are those of its rules, where they are not
// just what the rules say; ways are those in which it may hand over.
func (c *delegationChains) followRoute(id topology.NodeID, chain []topology.NodeID,
	matches map[topology.NodeID][]routeMatch, ways []Delegation) {
	for rule := range c.nodes.Node(id).EachPart {
		own := c.originalRule(rule, id, chain[len(chain)-1])
		if len(c.delegates[own]) == 0 {
			continue
		}
		ms, ok := matches[rule]
		if !ok {
			ms = readMatches(c.nodes.Node(rule).Object, c.nodes.Node(rule).Index)
		}
		for _, d := range c.delegates[own] {
			meant := slices.DeleteFunc(slices.Clone(ways), func(way Delegation) bool { return !way.matchesRef(d) })
			if len(meant) == 0 {
				c.reportForeignKind(chain[len(chain)-1], rule, d)
				continue
			}
			if d.byLabel {
				c.noteUnknownOwner(chain, rule, d)
			}
			c.nodes.Node(rule).Delegates = true
			if !c.delegateRule(rule, d, chain, ms, meant) {
				c.reportUnresolvable(chain[len(chain)-1], rule, d, meant)
			}
		}
	}
}

// originalRule returns the rule that an instance's rule is a copy of.
func (c *delegationChains) originalRule(rule, instance, route topology.NodeID) topology.NodeID {
	if instance == route {
		return rule
	}
	for id := range c.nodes.Node(route).EachPart {
		if c.nodes.Node(id).Index == c.nodes.Node(rule).Index {
			return id
		}
	}
	return topology.None
}

// delegateRule connects a rule with instances of the routes that one backendRef selects in the ways
// that it may mean, and reports whether there was one. A backendRef that leads back to a route of
// the chain hands nothing over, to the other routes that it selects either.
func (c *delegationChains) delegateRule(rule topology.NodeID, d delegateRef, chain []topology.NodeID,
	matches []routeMatch, ways []Delegation) bool {
	parent := c.nodes.Node(chain[len(chain)-1]).Ref
	granted := slices.ContainsFunc(ways, func(way Delegation) bool { return !way.NeedsGrant })
	children := slices.DeleteFunc(slices.Clone(c.selectChildren(d, ways)), func(child *model.Object) bool {
		if !c.acceptsParent(child, parent) {
			return true
		}
		denied := !granted && !c.grants.Allow(gatewayapi.HTTPRouteKind, parent.Namespace, child.Ref)
		c.delegationHidden = c.delegationHidden || denied && c.in.IsUnread(gatewayapi.GrantKind,
			child.Ref.Namespace)
		return denied
	})
	for _, child := range children {
		if slices.Contains(chain, c.nodes.OfObject(child)) {
			c.reportCircle(chain[len(chain)-1], d, child)
			return false
		}
	}
	handed := false
	for _, child := range children {
		id := c.nodes.OfObject(child)
		rules, kept := c.rulesFor(id, matches, ways)
		if len(rules) == 0 {
			continue
		}
		if child.Body.At("spec", "hostnames").Len() > 0 {
			c.hostnamed[id] = append(c.hostnamed[id], parent)
			c.reportOnce(child, model.Problem{Severity: model.Warning, Code: model.InvalidObject,
				Message: child.Ref.String() +
					" has hostnames, so nothing can be delegated to it: " + parent.String() + " delegates to it"},
				"spec", "hostnames")
			continue
		}
		if c.copies >= maxInstances {
			c.full = true
			return true
		}
		handed = true
		instance, below := c.addInstance(id, rules, kept, int32(len(chain)))
		c.addEdge(rule, instance)
		c.followRoute(instance, append(slices.Clone(chain), id), below, ways)
	}
	return handed
}

// addInstance adds a copy of a route with the given rules.
func (c *delegationChains) addInstance(of topology.NodeID, rules []topology.NodeID, kept [][]routeMatch,
	hop int32) (topology.NodeID, map[topology.NodeID][]routeMatch) {
	orig := c.nodes.Node(of)
	c.copies++
	id := c.nodes.AddInstance(of, hop)
	c.addToNamespace(orig.Ref.Namespace, id)
	matches := map[topology.NodeID][]routeMatch{}
	for i, r := range rules {
		copied := c.nodes.AddInstancePart(id, r, hop)
		c.addEdge(id, copied)
		for _, to := range c.below[r] {
			c.addEdge(copied, to)
		}
		matches[copied] = kept[i]
	}
	return id, matches
}

// decideParents decides the parentRefs that name routes: accepted where one of those hands over to
// the route.
func (c *delegationChains) decideParents() {
	if c.full {
		c.Problems = append(c.Problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "delegation makes more than " + manifest.FormatInt(maxInstances) +
				" copies of routes; the rest is not evaluated"})
	}
	above := map[topology.NodeID][]model.Ref{}
	for _, e := range c.traffic {
		if c.nodes.Node(e.From).Role == topology.Rule && c.nodes.Node(e.To).Role == topology.Route {
			above[c.nodes.OfObject(c.nodes.Node(e.To).Object)] = append(
				above[c.nodes.OfObject(c.nodes.Node(e.To).Object)], c.nodes.Node(e.From).Ref.WithoutSection())
		}
	}
	cluster := c.in.Cluster
	open := c.delegationHidden || cluster.HasUnread(gatewayapi.HTTPRouteKind) ||
		cluster.HasUnread(gatewayapi.GatewayKind) || cluster.HasUnread(gatewayapi.GatewayClassKind) ||
		cluster.HasUnread(gatewayapi.ListenerSetKind)
	for id := range topology.NodeID(c.nodes.Len()) {
		if c.nodes.Node(id).Role != topology.Route || c.nodes.Node(id).Hop > 0 {
			continue
		}
		for i := range c.tables[id] {
			a := &c.tables[id][i]
			switch {
			case a.Parent.GroupKind() != gatewayapi.HTTPRouteKind:
			case slices.Contains(above[id], a.Parent.WithoutSection()):
				a.State, a.Reason = topology.Accepted, a.Parent.String()+" delegates to the route"
			case slices.Contains(c.hostnamed[id], a.Parent.WithoutSection()):
				a.State, a.Reason = topology.UnsupportedValue, "it has hostnames, so nothing can be delegated to it"
			case open:
				a.State, a.Reason = topology.Unknown, "whether "+a.Parent.String()+
					" delegates to the route depends on what is forbidden"
			default:
				a.Reason = a.Parent.String() + " does not delegate to the route, or gets no requests itself"
			}
		}
	}
}
