package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Query is what a question is about.
type Query struct {
	Targets  []topology.NodeID // objects or sections; nil: every one
	Through  []topology.NodeID // targets above route rules that were asked for by name: the rules below them are asked for as well
	Kinds    []model.GroupKind // nil: every policy kind
	ShowNone bool              // also targets on which nothing is in force

	// Namespace is the one that was asked about: problems of it matter even where nothing was found. "": none in particular.
	Namespace string

	// Judges are asked what places that are no route rules are protected by; without gate functions nobody is.
	Judges Judges

	isComparison bool // the answer is compared with that of another input, so that the comparison reports what this one does not have
}

// collector collects what one view visits, and the problems on the way.
type collector struct {
	res        *resolve.Resolution
	query      Query
	askedKinds []*resolve.Kind // that the question is about and that have policies

	answers           answerCache
	foundProblems     []model.Problem
	visitedNamespaces map[string]bool           // the namespaces of what was visited
	visitedRoutes     map[model.Ref]bool        // the routes that were visited
	pathCache         map[string][]Path         // paths in the shape of the contract, by the nodes that they show
	scopedPathCache   map[scopedPathsKey][]Path // what waysOf made of kinds in scopes
	ruleRouteKinds    map[model.GroupKind]bool  // the kinds of routes at whose rules one of the policy kinds has results
	visitedKinds      map[model.GroupKind]bool  // the policy kinds of what was visited
	askedNodes        map[topology.NodeID]bool
	visitedNodes      []topology.NodeID

	perRequest      bool // the answer is about single requests, each of which says what unread routes mean for it
	clustersVisited bool // whole clusters were visited: policies come there from any namespace

	byRoute, byRule bool // paths show their route, or rule, as it matters to the kind at hand

	onlyPolicy *policy.Policy // not nil: only the paths by which this policy itself comes to a target
}

// newCollector returns a collector for a question, which has visited nothing yet.
func newCollector(r *resolve.Resolution, q Query) *collector {
	a := &collector{res: r, query: q}
	a.visitedNamespaces, a.visitedRoutes, a.visitedKinds = map[string]bool{}, map[model.Ref]bool{}, map[model.GroupKind]bool{}
	a.ruleRouteKinds = map[model.GroupKind]bool{}
	a.askedKinds = a.selectKinds()
	for _, k := range a.askedKinds {
		if k.HasResultsAt(topology.Rule) {
			for _, gk := range k.Routes {
				a.ruleRouteKinds[gk] = true
			}
		}
	}
	return a
}

// newRequestCollector returns a collector for questions about single requests, to which nodes are
// added one by one.
func newRequestCollector(r *resolve.Resolution, kinds []model.GroupKind) *collector {
	a := newCollector(r, Query{Targets: []topology.NodeID{}, Kinds: kinds})
	a.perRequest = true
	return a
}

// eachStack calls see for every effective target asked for, with every kind and every stack that
// reaches it, targets in order.
func (a *collector) eachStack(see func(*resolve.Kind, topology.NodeID, resolve.StackID, []Path)) {
	for _, k := range a.askedKinds {
		if a.query.Targets == nil && a.answers.byStack[k] == nil && a.answers.facts[k] == nil {
			k.FoldAll()
		}
	}
	nodes := a.listNodes()
	a.markVisited(nodes)
	for _, id := range nodes {
		a.eachStackAt(id, func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, ways []resolve.Path) {
			if a.query.Through != nil && !a.askedNodes[id] {
				ways = slices.DeleteFunc(slices.Clone(ways), func(w resolve.Path) bool { return !a.goesThrough(w) })
			}
			if a.onlyPolicy != nil {
				ways = k.PathsVia(a.onlyPolicy, id, ways)
			}
			if len(ways) > 0 {
				see(k, id, s, a.convertTargetPaths(k, id, s, ways))
			}
		})
	}
}

// markVisited notes that nodes are visited, so that problems about them matter. A question about
// everything has all problems anyway.
func (a *collector) markVisited(nodes []topology.NodeID) {
	a.clustersVisited = a.clustersVisited || slices.ContainsFunc(nodes, func(id topology.NodeID) bool { return a.res.Node(id).Role == topology.Cluster })
	if a.query.Targets == nil && !a.perRequest {
		return
	}
	a.visitedNodes = append(a.visitedNodes, nodes...)
	for _, id := range nodes {
		n := a.res.Node(id)
		a.visitedNamespaces[n.Ref.Namespace] = true
		if n.Role == topology.Route || n.Role == topology.Rule {
			if a.query.Targets != nil { // else all are
				a.visitedRoutes[n.Ref.WithoutSection()] = true
			}
			for _, parent := range a.attachmentsOf(id) {
				a.visitedNamespaces[parent.Parent.Namespace] = true
			}
		}
	}
}

// addVisited notes nodes as visited whose own neighbours do not matter.
func (a *collector) addVisited(nodes []topology.NodeID) {
	a.visitedNodes = append(a.visitedNodes, nodes...)
}

// markKind notes that policies of a kind are looked at, so that problems about them matter.
func (a *collector) markKind(gk model.GroupKind) { a.visitedKinds[gk] = true }

// addProblems adds problems that were found on the way.
func (a *collector) addProblems(found ...model.Problem) {
	a.foundProblems = append(a.foundProblems, found...)
}

// asksFor reports whether a node was asked for by name.
func (a *collector) asksFor(id topology.NodeID) bool { return a.askedNodes[id] }

// hasRulesOf reports whether a policy kind asked for has results at the rules of routes of a kind.
func (a *collector) hasRulesOf(route model.GroupKind) bool { return a.ruleRouteKinds[route] }

// hasRules reports whether a policy kind asked for has results at the rules of routes.
func (a *collector) hasRules() bool { return len(a.ruleRouteKinds) > 0 }

// eachStackAt calls see for a node with every kind that has results there, and every stack that
// reaches it.
func (a *collector) eachStackAt(id topology.NodeID, see func(*resolve.Kind, topology.NodeID, resolve.StackID, []resolve.Path)) {
	for _, k := range a.askedKinds {
		if !k.HasResultsAtNode(a.res.Node(id)) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.IsEmpty(s) && !a.query.ShowNone {
				continue
			}
			a.visitedKinds[k.GroupKind] = true
			see(k, id, s, k.Paths(id, s))
		}
	}
}

// selectKinds returns the kinds that the question is about and that have policies.
func (a *collector) selectKinds() []*resolve.Kind {
	var out []*resolve.Kind
	for _, k := range a.res.Kinds {
		if k.IsInUse() && (a.query.Kinds == nil || slices.Contains(a.query.Kinds, k.GroupKind)) {
			out = append(out, k)
		}
	}
	return out
}

// countContexts returns how many answers there are about everything, without those where nothing is
// in force.
func (a *collector) countContexts() (n int) {
	for _, k := range a.selectKinds() {
		k.EachContext(func(topology.NodeID, resolve.StackID) { n++ })
	}
	return n
}

// listNodes returns the nodes at which the question can have an answer, in order.
func (a *collector) listNodes() []topology.NodeID {
	if a.query.Targets == nil {
		out := make([]topology.NodeID, 0, a.res.Len())
		for id := range a.res.Len() {
			out = append(out, topology.NodeID(id))
		}
		return out
	}
	var out []topology.NodeID
	g := a.res.Graph
	a.askedNodes = map[topology.NodeID]bool{}
	for _, id := range a.query.Targets {
		a.askedNodes[id] = true
		out = append(out, id)
		n := a.res.Node(id)
		if n.Ref.Section == "" {
			for _, section := range g.Sections(n.Ref) {
				out = append(out, g.Lookup(n.Ref.WithSection(section))...)
			}
		}
		if n.Role == topology.Backend || n.Role == topology.Port {
			out = append(out, g.Parents(topology.All, id)...)
		}
		if n.Role == topology.Frontend {
			out = append(out, a.nodesBelow([]topology.NodeID{id})...)
		}
	}
	out = append(out, a.nodesBelow(a.query.Through)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// nodesBelow returns the given nodes and what traffic reaches through them, down to the route
// rules.
func (a *collector) nodesBelow(nodes []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	seen := map[topology.NodeID]bool{}
	for level := nodes; len(level) > 0; {
		var next []topology.NodeID
		for _, id := range level {
			if seen[id] {
				continue
			}
			seen[id] = true
			out = append(out, id)
			if a.res.Node(id).Role != topology.Rule {
				next = append(next, a.res.Graph.Children(topology.All, id)...)
			}
		}
		level = next
	}
	return out
}

// uncoveredPaths returns the paths to a node other than the given ones.
func (a *collector) uncoveredPaths(id topology.NodeID, covered []Path) []Path {
	for _, k := range a.res.Kinds {
		contexts := k.Contexts(id)
		if len(contexts) == 0 {
			continue
		}
		if k.Scope != nil {
			continue
		}
		var ways []resolve.Path
		for _, s := range contexts {
			ways = append(ways, k.Paths(id, s)...)
		}
		return slices.DeleteFunc(slices.Clone(a.convertPaths(ways)), func(p Path) bool {
			return slices.ContainsFunc(covered, func(c Path) bool { return comparePaths(p, c) == 0 })
		})
	}
	return nil
}

// hasTraffic reports whether traffic can come to a route or a rule.
func (a *collector) hasTraffic(id topology.NodeID) bool {
	g := a.res.Graph
	if g.Node(id).Role == topology.Rule {
		id = g.Parents(topology.All, id)[0]
	}
	return len(g.Parents(topology.All, id)) > 0
}

// goesThrough reports whether a path leads through one of the nodes asked for.
func (a *collector) goesThrough(way resolve.Path) bool {
	return slices.ContainsFunc(way, func(id topology.NodeID) bool { return slices.Contains(a.query.Through, id) })
}

// collectProblems returns the problems of the input that touch what was visited, and those found on
// the way. A question about everything has all.
func (a *collector) collectProblems() []model.Problem {
	out := append(slices.Clone(a.foundProblems), a.unreadProblems()...)
	for _, p := range a.res.Problems {
		if about := p.Ref; about != nil && (p.Code == model.GenericKind || p.Code == model.ProfileChosen || p.Code == model.Inferred) && !a.visitedKinds[about.GroupKind()] {
			continue
		}
		if p.Severity != model.Error && a.isUnaskedPolicy(p.Ref) {
			continue
		}
		if a.query.Targets == nil || p.Ref == nil || p.Ref.Namespace == "" || p.Severity == model.Error || (a.visitedNamespaces[p.Ref.Namespace] || p.Ref.Namespace == a.query.Namespace || a.affectsClusters(p.Ref.GroupKind())) && !a.isOtherRoute(*p.Ref) {
			out = append(out, p)
		}
	}
	return out
}

// isUnaskedPolicy reports whether an object is a policy of a kind without a descriptor that was not
// asked about: no other kind depends on it.
func (a *collector) isUnaskedPolicy(ref *model.Ref) bool {
	if ref == nil || a.query.Kinds == nil || slices.Contains(a.query.Kinds, ref.GroupKind()) {
		return false
	}
	k := a.res.Kind(ref.GroupKind())
	return k != nil && k.IsGeneric()
}

// affectsClusters reports whether objects of a kind, wherever they are, affect the clusters that
// were visited.
func (a *collector) affectsClusters(gk model.GroupKind) bool {
	return a.clustersVisited && slices.ContainsFunc(a.askedKinds, func(k *resolve.Kind) bool {
		return k.HasResultsAt(topology.Cluster) && (k.GroupKind == gk || slices.Contains(k.Members, gk) || slices.Contains(k.Reads, gk))
	})
}

// attachmentsOf returns the attachments of a route; a rule has none.
func (a *collector) attachmentsOf(id topology.NodeID) []topology.Attachment {
	if int(id) >= a.res.Graph.Len() {
		return nil
	}
	return a.res.Graph.Attachments(id)
}

// isOtherRoute reports whether ref is a route other than those that were visited.
func (a *collector) isOtherRoute(ref model.Ref) bool {
	ids := a.res.Graph.Lookup(ref.WithoutSection())
	return len(ids) > 0 && a.res.Node(ids[0]).Role == topology.Route && !a.visitedRoutes[ref.WithoutSection()]
}
