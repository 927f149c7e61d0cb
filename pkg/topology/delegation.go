package topology

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Delegate makes rules of HTTPRoutes hand over to other HTTPRoutes, at the Gateways of an implementation.
func (b *Builder) Delegate(d Delegation) { b.delegations = append(b.delegations, d) }

// Delegation says how rules of HTTPRoutes hand their requests over to other HTTPRoutes: by a backendRef to one, or to "*" for all of a
// namespace, and by one with a label. Where the input does not tell whose a Gateway is, the group of a backendRef with a label does.
type Delegation struct {
	Controllers []string // at whose Gateways; one whose class is not in the input may be theirs

	// The backendRef that selects children by label: its group and kind, the label's key, whose value is the reference's name, and the
	// namespace that means every one. Group "": there is none.
	LabelGroup, LabelKind, LabelKey, Everywhere string

	NamesLabel bool // a name KEY=VALUE means the routes of the namespace with that label
	Granted    bool // a route of another namespace takes a ReferenceGrant

	// The annotation with which a child lets its parent's matches be part of its own, and the values that say so, in lower case.
	InheritKey string
	Inherit    []string
}

// delegate is one backendRef by which a rule hands over.
type delegate struct {
	ref    model.Ref
	at     fieldPosition
	labels bool
}

// mostInstances bounds the copies that chains of delegation make of routes.
const mostInstances = 20000

// readDelegate reads a backendRef that hands over to routes, if it is one.
func (bs *backends) readDelegate(f *fields) (delegate, bool) {
	if !f.has("kind") { // it is a Service
		return delegate{}, false
	}
	ref := f.reference(model.Ref{Namespace: f.at.object.Ref.Namespace})
	d := delegate{at: f.at, labels: ref.GroupKind() != httpRouteKind, ref: ref}
	if f.bad || !slices.ContainsFunc(bs.delegations, func(way Delegation) bool { return way.reads(d) }) {
		return delegate{}, false
	}
	return d, true
}

// chains makes an instance of a route for every chain of delegation that leads to it: which of its rules take requests depends on
// the rules above, and so do circles.
type chains struct {
	*gateways
	handing map[NodeID][]delegate  // by rule
	below   map[NodeID][]NodeID    // the backends of rules
	hosted  map[NodeID][]model.Ref // by route with hostnames: the routes that would hand over to it
	said    map[model.Ref]bool
	copies  int
	full    bool  // there would be more copies
	noTable int32 // the position of a table without attachments
}

func newChains(gs *gateways, handing map[NodeID][]delegate) *chains {
	return &chains{gateways: gs, handing: handing, below: map[NodeID][]NodeID{}, hosted: map[NodeID][]model.Ref{}, said: map[model.Ref]bool{}}
}

// follow follows delegation from every route that traffic reaches, once all routes are there.
func (c *chains) follow() {
	c.noTable = int32(len(c.tables))
	c.tables = append(c.tables, nil)
	for _, e := range c.traffic {
		if role := c.nodes[e.from].Role; role == Rule && len(c.handing) > 0 {
			c.below[e.from] = append(c.below[e.from], e.to)
		}
	}
	for id := range NodeID(len(c.nodes)) {
		n := &c.nodes[id]
		if n.Role != Route || n.Hop > 0 {
			continue
		}
		if ways := c.delegationsAt(id); len(ways) > 0 {
			c.route(id, []NodeID{id}, nil, ways)
		}
	}
	c.decideParents()
}

// route follows the rules of a route, or of an instance of one. Chain has the routes from the root down to it, as they stand by themselves;
// matches are those of its rules, where they are not just what the rules say; ways are those in which it may hand over.
func (c *chains) route(id NodeID, chain []NodeID, matches map[NodeID][]match, ways []Delegation) {
	for rule := range c.nodes[id].parts.all {
		own := c.original(rule, id, chain[len(chain)-1])
		if len(c.handing[own]) == 0 {
			continue
		}
		ms, ok := matches[rule]
		if !ok {
			ms = readMatches(c.nodes[rule].Object, c.nodes[rule].Index)
		}
		for _, d := range c.handing[own] {
			meant := slices.DeleteFunc(slices.Clone(ways), func(way Delegation) bool { return !way.reads(d) })
			if len(meant) == 0 {
				c.unread(chain[len(chain)-1], rule, d)
				continue
			}
			if d.labels {
				c.foreign(chain, rule, d)
			}
			c.nodes[rule].Transit = true
			if !c.hand(rule, d, chain, ms, meant) {
				c.unresolvable(chain[len(chain)-1], rule, d, meant)
			}
		}
	}
}

// original is the rule that an instance's rule is a copy of.
func (c *chains) original(rule, instance, route NodeID) NodeID {
	if instance == route {
		return rule
	}
	for id := range c.nodes[route].parts.all {
		if c.nodes[id].Index == c.nodes[rule].Index {
			return id
		}
	}
	return None
}

// hand connects a rule with instances of the routes that one backendRef selects in the ways that it may mean, and reports whether there was
// one. A backendRef that leads back to a route of the chain hands nothing over, to the other routes that it selects either.
func (c *chains) hand(rule NodeID, d delegate, chain []NodeID, matches []match, ways []Delegation) bool {
	parent := c.nodes[chain[len(chain)-1]].Ref
	granted := slices.ContainsFunc(ways, func(way Delegation) bool { return !way.Granted })
	children := slices.DeleteFunc(slices.Clone(c.selected(d, ways)), func(child *model.Object) bool {
		if !c.takesFrom(child, parent) {
			return true
		}
		denied := !granted && !c.grants.allow(httpRouteKind, parent.Namespace, child.Ref)
		c.hidden = c.hidden || denied && c.in.Cluster.Misses(grantKind, child.Ref.Namespace)
		return denied
	})
	for _, child := range children {
		if slices.Contains(chain, c.byObject[child]) {
			c.circle(chain[len(chain)-1], d, child)
			return false
		}
	}
	handed := false
	for _, child := range children {
		id := c.byObject[child]
		rules, kept := c.rulesFor(id, matches, ways)
		if len(rules) == 0 {
			continue
		}
		if child.Body.At("spec", "hostnames").Len() > 0 {
			c.hosted[id] = append(c.hosted[id], parent)
			c.sayOnce(child, model.Problem{Severity: model.Warning, Code: model.InvalidObject, Message: child.Ref.String() +
				" has hostnames, so nothing can be delegated to it: " + parent.String() + " delegates to it"}, "spec", "hostnames")
			continue
		}
		if c.copies >= mostInstances {
			c.full = true
			return true
		}
		handed = true
		instance, below := c.instance(id, rules, kept, int32(len(chain)))
		c.connect(rule, instance)
		c.route(instance, append(slices.Clone(chain), id), below, ways)
	}
	return handed
}

// instance adds a copy of a route with the given rules.
func (c *chains) instance(of NodeID, rules []NodeID, kept [][]match, hop int32) (NodeID, map[NodeID][]match) {
	id := NodeID(len(c.nodes))
	orig := c.nodes[of]
	c.copies++
	c.nodes = append(c.nodes, Node{Role: Route, Ref: orig.Ref, Object: orig.Object, Hop: hop, table: c.noTable})
	c.instances[of] = append(c.instances[of], id)
	c.under(orig.Ref.Namespace, id)
	matches := map[NodeID][]match{}
	for i, r := range rules {
		n := c.nodes[r]
		copied := c.addPart(id, Node{Role: Rule, Ref: n.Ref, Object: n.Object, Index: n.Index, Hop: hop})
		c.instances[r] = append(c.instances[r], copied)
		c.connect(id, copied)
		for _, to := range c.below[r] {
			c.connect(copied, to)
		}
		matches[copied] = kept[i]
	}
	return id, matches
}

// decideParents settles the parentRefs that name routes: accepted where one of those hands over to the route.
func (c *chains) decideParents() {
	if c.full {
		c.problems = append(c.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "delegation makes more than " + itoa(mostInstances) + " copies of routes; the rest is not evaluated"})
	}
	above := map[NodeID][]model.Ref{}
	for _, e := range c.traffic {
		if c.nodes[e.from].Role == Rule && c.nodes[e.to].Role == Route {
			above[c.byObject[c.nodes[e.to].Object]] = append(above[c.byObject[c.nodes[e.to].Object]], c.nodes[e.from].Ref.WithoutSection())
		}
	}
	cluster := c.in.Cluster
	open := c.hidden || cluster.MissesAny(httpRouteKind) || cluster.MissesAny(gatewayKind) || cluster.MissesAny(gatewayClassKind) || cluster.MissesAny(listenerSetKind)
	for id := range NodeID(len(c.nodes)) {
		if c.nodes[id].Role != Route || c.nodes[id].Hop > 0 {
			continue
		}
		for i := range c.tables[c.nodes[id].table] {
			a := &c.tables[c.nodes[id].table][i]
			switch {
			case a.Parent.GroupKind() != httpRouteKind:
			case slices.Contains(above[id], a.Parent.WithoutSection()):
				a.State, a.Reason = Accepted, a.Parent.String()+" delegates to the route"
			case slices.Contains(c.hosted[id], a.Parent.WithoutSection()):
				a.State, a.Reason = UnsupportedValue, "it has hostnames, so nothing can be delegated to it"
			case open:
				a.State, a.Reason = Unknown, "whether "+a.Parent.String()+" delegates to the route depends on what may not be read"
			default:
				a.Reason = a.Parent.String() + " does not delegate to the route, or gets no requests itself"
			}
		}
	}
}
