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

	compared bool // with another input: what this one does not have is told by the comparison
}

// collector collects what one view looks at.
type collector struct {
	res    *resolve.Resolution
	query  Query
	picked []*resolve.Kind // that the question is about and that have policies

	answers answers
	found   []model.Problem
	spaces  map[string]bool          // the namespaces of what was looked at
	routes  map[model.Ref]bool       // the routes that were looked at
	ways    map[string][]Path        // what paths made, by the nodes that count
	scoped  map[scopedPaths][]Path   // what waysOf made of kinds in scopes
	atRules map[model.GroupKind]bool // the kinds of routes at whose rules a policy kind that was looked at has results
	kinds   map[model.GroupKind]bool // the policy kinds of what was looked at
	asked   map[topology.NodeID]bool
	looked  []topology.NodeID

	judged   bool // what routes that are not read mean is told for each request
	clusters bool // whole clusters were looked at: policies come there from any namespace

	byRoute, byRule bool // the ways of a kind are made for which it matters by which route, or rule, they lead

	only *policy.Policy // not nil: only the ways by which this policy itself comes to a target
}

// each calls see for every effective target asked for, with every kind and every stack that reaches it, targets in order.
func (a *collector) each(see func(*resolve.Kind, topology.NodeID, resolve.StackID, []Path)) {
	a.begin()
	for _, k := range a.picked {
		if a.query.Targets == nil && a.answers.made[k] == nil && a.answers.passing[k] == nil {
			k.Fold()
		}
	}
	nodes := a.nodes()
	a.look(nodes)
	for _, id := range nodes {
		a.seeNode(id, func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, ways []resolve.Path) {
			if a.query.Through != nil && !a.asked[id] {
				ways = slices.DeleteFunc(slices.Clone(ways), func(w resolve.Path) bool { return !a.passes(w) })
			}
			if a.only != nil {
				ways = k.Via(a.only, id, ways)
			}
			if len(ways) > 0 {
				see(k, id, s, a.pathsOf(k, id, s, ways))
			}
		})
	}
}

// begin prepares a survey of nothing yet.
func (a *collector) begin() {
	a.spaces, a.routes, a.kinds = map[string]bool{}, map[model.Ref]bool{}, map[model.GroupKind]bool{}
	a.atRules = map[model.GroupKind]bool{}
	a.picked = a.chosen()
	for _, k := range a.picked {
		if k.Reaches(topology.Rule) {
			for _, gk := range k.Routes {
				a.atRules[gk] = true
			}
		}
	}
}

// look notes what is looked at: problems of it matter. Those of everything do anyway.
func (a *collector) look(nodes []topology.NodeID) {
	a.clusters = a.clusters || slices.ContainsFunc(nodes, func(id topology.NodeID) bool { return a.res.Node(id).Role == topology.Cluster })
	if a.query.Targets == nil && !a.judged {
		return
	}
	a.looked = append(a.looked, nodes...)
	for _, id := range nodes {
		n := a.res.Node(id)
		a.spaces[n.Ref.Namespace] = true
		if n.Role == topology.Route || n.Role == topology.Rule {
			if a.query.Targets != nil { // else all are
				a.routes[n.Ref.WithoutSection()] = true
			}
			for _, parent := range a.attachments(id) {
				a.spaces[parent.Parent.Namespace] = true
			}
		}
	}
}

// seeNode calls see for a node with every kind that has results there, and every stack that reaches it.
func (a *collector) seeNode(id topology.NodeID, see func(*resolve.Kind, topology.NodeID, resolve.StackID, []resolve.Path)) {
	for _, k := range a.picked {
		if !k.ReachesNode(a.res.Node(id)) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.Empty(s) && !a.query.ShowNone {
				continue
			}
			a.kinds[k.GroupKind] = true
			see(k, id, s, k.Paths(id, s))
		}
	}
}

// chosen are the kinds that the question is about and that have policies.
func (a *collector) chosen() []*resolve.Kind {
	var out []*resolve.Kind
	for _, k := range a.res.Kinds {
		if k.InUse() && (a.query.Kinds == nil || slices.Contains(a.query.Kinds, k.GroupKind)) {
			out = append(out, k)
		}
	}
	return out
}

// contexts is how many answers there are about everything, those about nothing aside.
func (a *collector) contexts() (n int) {
	for _, k := range a.chosen() {
		k.EachContext(func(topology.NodeID, resolve.StackID) { n++ })
	}
	return n
}

// nodes lists the nodes at which the question can have an answer, in order.
func (a *collector) nodes() []topology.NodeID {
	if a.query.Targets == nil {
		out := make([]topology.NodeID, 0, a.res.Len())
		for id := range a.res.Len() {
			out = append(out, topology.NodeID(id))
		}
		return out
	}
	var out []topology.NodeID
	g := a.res.Graph
	a.asked = map[topology.NodeID]bool{}
	for _, id := range a.query.Targets {
		a.asked[id] = true
		out = append(out, id)
		n := a.res.Node(id)
		if n.Ref.Section == "" {
			for _, section := range g.Sections(n.Ref) {
				out = append(out, g.Lookup(n.Ref.In(section))...)
			}
		}
		if n.Role == topology.Backend || n.Role == topology.Port {
			out = append(out, g.Parents(topology.All, id)...)
		}
		if n.Role == topology.Frontend {
			out = append(out, a.under([]topology.NodeID{id})...)
		}
	}
	out = append(out, a.under(a.query.Through)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// under lists what traffic reaches through the given nodes, down to the route rules.
func (a *collector) under(nodes []topology.NodeID) []topology.NodeID {
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

// uncovered are the ways to a node other than the given ones.
func (a *collector) uncovered(id topology.NodeID, covered []Path) []Path {
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
		return slices.DeleteFunc(slices.Clone(a.paths(ways)), func(p Path) bool {
			return slices.ContainsFunc(covered, func(c Path) bool { return comparePaths(p, c) == 0 })
		})
	}
	return nil
}

// reached reports whether traffic can come to a route or a rule.
func (a *collector) reached(id topology.NodeID) bool {
	g := a.res.Graph
	if g.Node(id).Role == topology.Rule {
		id = g.Parents(topology.All, id)[0]
	}
	return len(g.Parents(topology.All, id)) > 0
}

// passes reports whether a way goes through one of the nodes asked for.
func (a *collector) passes(way resolve.Path) bool {
	return slices.ContainsFunc(way, func(id topology.NodeID) bool { return slices.Contains(a.query.Through, id) })
}

// problems are those of the input that touch what was looked at, and those found on the way. A question about everything has all.
func (a *collector) problems() []model.Problem {
	out := append(slices.Clone(a.found), a.blind()...)
	for _, p := range a.res.Problems {
		if about := p.Ref; about != nil && (p.Code == model.GenericKind || p.Code == model.ProfileChosen || p.Code == model.Inferred) && !a.kinds[about.GroupKind()] {
			continue
		}
		if p.Severity != model.Error && a.unasked(p.Ref) {
			continue
		}
		if a.query.Targets == nil || p.Ref == nil || p.Ref.Namespace == "" || p.Severity == model.Error || (a.spaces[p.Ref.Namespace] || p.Ref.Namespace == a.query.Namespace || a.decides(p.Ref.GroupKind())) && !a.otherRoute(*p.Ref) {
			out = append(out, p)
		}
	}
	return out
}

// unasked reports whether something is a policy of a kind without a descriptor that was not asked about: no other kind depends on it.
func (a *collector) unasked(ref *model.Ref) bool {
	if ref == nil || a.query.Kinds == nil || slices.Contains(a.query.Kinds, ref.GroupKind()) {
		return false
	}
	k := a.res.Kind(ref.GroupKind())
	return k != nil && k.Generic()
}

// decides reports whether objects of a kind, wherever they are, have a say about the clusters that were looked at.
func (a *collector) decides(gk model.GroupKind) bool {
	return a.clusters && slices.ContainsFunc(a.picked, func(k *resolve.Kind) bool {
		return k.Reaches(topology.Cluster) && (k.GroupKind == gk || slices.Contains(k.Members, gk) || slices.Contains(k.Reads, gk))
	})
}

// attachments are those of a route; of a rule there are none.
func (a *collector) attachments(id topology.NodeID) []topology.Attachment {
	if int(id) >= a.res.Graph.Len() {
		return nil
	}
	return a.res.Graph.Attachments(id)
}

// otherRoute reports whether ref is a route beside those that were looked at.
func (a *collector) otherRoute(ref model.Ref) bool {
	ids := a.res.Graph.Lookup(ref.WithoutSection())
	return len(ids) > 0 && a.res.Node(ids[0]).Role == topology.Route && !a.routes[ref.WithoutSection()]
}
