package collect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Collector collects what one view visits, and the problems on the way.
type Collector struct {
	Resolution *resolve.Resolution
	Query      view.Query
	AskedKinds []*resolve.Kind // that the question is about and that have policies

	answers           answerCache
	FoundProblems     []model.Problem
	visitedNamespaces map[string]bool                // the namespaces of what was visited
	visitedRoutes     map[model.Ref]bool             // the routes that were visited
	pathCache         map[string][]view.Path         // paths in the shape of the contract, by the nodes that they show
	scopedPathCache   map[scopedPathsKey][]view.Path // what waysOf made of kinds in scopes
	// the kinds of routes at whose rules one of the policy kinds has results
	ruleRouteKinds map[model.GroupKind]bool
	visitedKinds   map[model.GroupKind]bool // the policy kinds of what was visited
	askedNodes     map[topology.NodeID]bool
	visitedNodes   []topology.NodeID

	perRequest      bool // the answer is about single requests, each of which says what unread routes mean for it
	clustersVisited bool // whole clusters were visited: policies come there from any namespace

	byRoute, byRule bool // paths show their route, or rule, as it matters to the kind at hand

	OnlyPolicy *policy.Policy // not nil: only the paths by which this policy itself comes to a target
}

// New returns a collector for a question, which has visited nothing yet.
func New(r *resolve.Resolution, q view.Query) *Collector {
	a := &Collector{Resolution: r, Query: q, answers: answerCache{summaries: q.Summaries}}
	a.visitedNamespaces, a.visitedRoutes, a.visitedKinds = map[string]bool{}, map[model.Ref]bool{},
		map[model.GroupKind]bool{}
	a.ruleRouteKinds = map[model.GroupKind]bool{}
	a.AskedKinds = a.selectKinds()
	for _, k := range a.AskedKinds {
		if k.HasResultsAt(topology.Rule) {
			for _, gk := range k.Routes {
				a.ruleRouteKinds[gk] = true
			}
		}
	}
	return a
}

// NewForRequests returns a collector for questions about single requests, to which nodes are added
// one by one.
func NewForRequests(r *resolve.Resolution, kinds []model.GroupKind) *Collector {
	a := New(r, view.Query{Targets: []topology.NodeID{}, Kinds: kinds})
	a.perRequest = true
	return a
}

// EachStack calls see for every effective target asked for, with every kind and every stack that
// reaches it, targets in order.
func (a *Collector) EachStack(see func(*resolve.Kind, topology.NodeID, resolve.StackID, []view.Path)) {
	for _, k := range a.AskedKinds {
		if a.Query.Targets == nil && a.answers.byStack[k] == nil && a.answers.facts[k] == nil {
			k.FoldAll()
		}
	}
	nodes := a.ListNodes()
	a.MarkVisited(nodes)
	for _, id := range nodes {
		a.EachStackAt(id, func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, ways []resolve.Path) {
			if a.Query.Through != nil && !a.askedNodes[id] {
				ways = slices.DeleteFunc(slices.Clone(ways), func(w resolve.Path) bool { return !a.GoesThrough(w) })
			}
			if a.OnlyPolicy != nil {
				ways = k.PathsVia(a.OnlyPolicy, id, ways)
			}
			if len(ways) > 0 {
				see(k, id, s, a.ConvertTargetPaths(k, id, s, ways))
			}
		})
	}
}

// MarkVisited notes that nodes are visited, so that problems about them matter. A question about
// everything has all problems anyway.
func (a *Collector) MarkVisited(nodes []topology.NodeID) {
	a.clustersVisited = a.clustersVisited ||
		slices.ContainsFunc(nodes,
			func(id topology.NodeID) bool { return a.Resolution.Node(id).Role == topology.Cluster })
	if a.Query.Targets == nil && !a.perRequest {
		return
	}
	a.visitedNodes = append(a.visitedNodes, nodes...)
	for _, id := range nodes {
		n := a.Resolution.Node(id)
		a.visitedNamespaces[n.Ref.Namespace] = true
		if n.Role == topology.Route || n.Role == topology.Rule {
			if a.Query.Targets != nil { // else all are
				a.visitedRoutes[n.Ref.WithoutSection()] = true
			}
			for _, parent := range a.AttachmentsOf(id) {
				a.visitedNamespaces[parent.Parent.Namespace] = true
			}
		}
	}
}

// AddVisited notes nodes as visited whose own neighbours do not matter.
func (a *Collector) AddVisited(nodes []topology.NodeID) {
	a.visitedNodes = append(a.visitedNodes, nodes...)
}

// MarkKind notes that policies of a kind are looked at, so that problems about them matter.
func (a *Collector) MarkKind(gk model.GroupKind) { a.visitedKinds[gk] = true }

// AddProblems adds problems that were found on the way.
func (a *Collector) AddProblems(found ...model.Problem) {
	a.FoundProblems = append(a.FoundProblems, found...)
}

// AsksFor reports whether a node was asked for by name.
func (a *Collector) AsksFor(id topology.NodeID) bool { return a.askedNodes[id] }

// HasRulesOf reports whether a policy kind asked for has results at the rules of routes of a kind.
func (a *Collector) HasRulesOf(route model.GroupKind) bool { return a.ruleRouteKinds[route] }

// HasRules reports whether a policy kind asked for has results at the rules of routes.
func (a *Collector) HasRules() bool { return len(a.ruleRouteKinds) > 0 }

// EachStackAt calls see for a node with every kind that has results there, and every stack that
// reaches it.
func (a *Collector) EachStackAt(id topology.NodeID, see func(*resolve.Kind, topology.NodeID, resolve.StackID,
	[]resolve.Path)) {
	for _, k := range a.AskedKinds {
		if !k.HasResultsAtNode(a.Resolution.Node(id)) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if k.IsEmpty(s) && !a.Query.ShowNone {
				continue
			}
			a.visitedKinds[k.GroupKind] = true
			see(k, id, s, k.Paths(id, s))
		}
	}
}

// selectKinds returns the kinds that the question is about and that have policies.
func (a *Collector) selectKinds() []*resolve.Kind {
	var out []*resolve.Kind
	for _, k := range a.Resolution.Kinds {
		if k.IsInUse() && (a.Query.Kinds == nil || slices.Contains(a.Query.Kinds, k.GroupKind)) {
			out = append(out, k)
		}
	}
	return out
}

// CountContexts returns how many answers there are about everything, without those where nothing is
// in force.
func (a *Collector) CountContexts() (n int) {
	for _, k := range a.selectKinds() {
		k.EachContext(func(topology.NodeID, resolve.StackID) { n++ })
	}
	return n
}

// ListNodes returns the nodes at which the question can have an answer, in order.
func (a *Collector) ListNodes() []topology.NodeID {
	if a.Query.Targets == nil {
		out := make([]topology.NodeID, 0, a.Resolution.Len())
		for id := range a.Resolution.Len() {
			out = append(out, topology.NodeID(id))
		}
		return out
	}
	var out []topology.NodeID
	g := a.Resolution.Graph
	a.askedNodes = map[topology.NodeID]bool{}
	for _, id := range a.Query.Targets {
		a.askedNodes[id] = true
		out = append(out, id)
		n := a.Resolution.Node(id)
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
	out = append(out, a.nodesBelow(a.Query.Through)...)
	slices.Sort(out)
	return slices.Compact(out)
}

// nodesBelow returns the given nodes and what traffic reaches through them, down to the route
// rules.
func (a *Collector) nodesBelow(nodes []topology.NodeID) []topology.NodeID {
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
			if a.Resolution.Node(id).Role != topology.Rule {
				next = append(next, a.Resolution.Graph.Children(topology.All, id)...)
			}
		}
		level = next
	}
	return out
}

// UncoveredPaths returns the paths to a node other than the given ones.
func (a *Collector) UncoveredPaths(id topology.NodeID, covered []view.Path) []view.Path {
	for _, k := range a.Resolution.Kinds {
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
		return slices.DeleteFunc(slices.Clone(a.ConvertPaths(ways)), func(p view.Path) bool {
			return slices.ContainsFunc(covered, func(c view.Path) bool { return view.ComparePaths(p, c) == 0 })
		})
	}
	return nil
}

// HasTraffic reports whether traffic can come to a route or a rule.
func (a *Collector) HasTraffic(id topology.NodeID) bool {
	g := a.Resolution.Graph
	if g.Node(id).Role == topology.Rule {
		id = g.Parents(topology.All, id)[0]
	}
	return len(g.Parents(topology.All, id)) > 0
}

// GoesThrough reports whether a path leads through one of the nodes asked for.
func (a *Collector) GoesThrough(way resolve.Path) bool {
	return slices.ContainsFunc(way, func(id topology.NodeID) bool { return slices.Contains(a.Query.Through, id) })
}

// CollectProblems returns the problems of the input that touch what was visited, and those found on
// the way. A question about everything has all.
func (a *Collector) CollectProblems() []model.Problem {
	out := append(slices.Clone(a.FoundProblems), a.unreadProblems()...)
	for _, p := range a.Resolution.Problems {
		if about := p.Ref; about != nil && (p.Code == model.GenericKind || p.Code == model.ProfileChosen ||
			p.Code == model.Inferred) && !a.visitedKinds[about.GroupKind()] {
			continue
		}
		if p.Severity != model.Error && a.isUnaskedPolicy(p.Ref) {
			continue
		}
		if a.Query.Targets == nil || p.Ref == nil || p.Ref.Namespace == "" || p.Severity == model.Error ||
			(a.visitedNamespaces[p.Ref.Namespace] || p.Ref.Namespace == a.Query.Namespace ||
				a.affectsClusters(p.Ref.GroupKind())) && !a.isOtherRoute(*p.Ref) {
			out = append(out, p)
		}
	}
	return out
}

// isUnaskedPolicy reports whether an object is a policy of a kind without a descriptor that was not
// asked about: no other kind depends on it.
func (a *Collector) isUnaskedPolicy(ref *model.Ref) bool {
	if ref == nil || a.Query.Kinds == nil || slices.Contains(a.Query.Kinds, ref.GroupKind()) {
		return false
	}
	k := a.Resolution.Kind(ref.GroupKind())
	return k != nil && k.IsGeneric()
}

// affectsClusters reports whether objects of a kind, wherever they are, affect the clusters that
// were visited.
func (a *Collector) affectsClusters(gk model.GroupKind) bool {
	return a.clustersVisited && slices.ContainsFunc(a.AskedKinds, func(k *resolve.Kind) bool {
		return k.HasResultsAt(topology.Cluster) && (k.GroupKind == gk || slices.Contains(k.Members, gk) ||
			slices.Contains(k.Reads, gk))
	})
}

// AttachmentsOf returns the attachments of a route; a rule has none.
func (a *Collector) AttachmentsOf(id topology.NodeID) []topology.Attachment {
	if int(id) >= a.Resolution.Graph.Len() {
		return nil
	}
	return a.Resolution.Graph.Attachments(id)
}

// isOtherRoute reports whether ref is a route other than those that were visited.
func (a *Collector) isOtherRoute(ref model.Ref) bool {
	ids := a.Resolution.Graph.Lookup(ref.WithoutSection())
	return len(ids) > 0 && a.Resolution.Node(ids[0]).Role == topology.Route && !a.visitedRoutes[ref.WithoutSection()]
}

// BuildAnswers builds the answers of all stacks of the kinds asked for.
func (a *Collector) BuildAnswers() { a.answers.buildAll(a.Resolution, a.AskedKinds) }

// CollectFacts collects what a list has to know of all stacks of the kinds asked for before their
// answers are built.
func (a *Collector) CollectFacts() { a.answers.collectFacts(a.Resolution, a.AskedKinds) }

// LacksAnswer reports whether the answer of a stack is built only when it is needed, and has not
// been built.
func (a *Collector) LacksAnswer(k *resolve.Kind, s resolve.StackID) bool {
	return a.answers.facts[k] != nil && a.answers.byStack[k][s] == nil
}

// BuildStacks builds the answers of stacks of a kind, with their rules explained for the given
// targets.
func (a *Collector) BuildStacks(k *resolve.Kind, stacks []resolve.StackID,
	targets map[resolve.StackID][]topology.NodeID) {
	a.answers.buildStacks(a.Resolution, k, stacks, targets)
}

// DropAnswer drops the answer of a stack if no item of the list from next on needs it.
func (a *Collector) DropAnswer(k *resolve.Kind, s resolve.StackID, next int) {
	if facts := a.answers.findFacts(k, s); facts != nil && facts.LastItem < next {
		delete(a.answers.byStack[k], s)
	}
}

// KeptAnswers returns how many answers are kept that are built only when they are needed.
func (a *Collector) KeptAnswers() (n int) {
	for k, left := range a.answers.byStack {
		if a.answers.facts[k] != nil {
			n += len(left)
		}
	}
	return n
}

// BuildItemWithProblems returns the effective policy at one target, and notes the problems of its
// stack.
func (a *Collector) BuildItemWithProblems(k *resolve.Kind, id topology.NodeID, s resolve.StackID,
	paths []view.Path) view.EffectivePolicy {
	a.AddStackProblems(k, id, s)
	return a.BuildItem(k, id, s, paths)
}

// BuildItem returns the effective policy at one target, and notes nothing.
func (a *Collector) BuildItem(k *resolve.Kind, id topology.NodeID, s resolve.StackID,
	paths []view.Path) view.EffectivePolicy {
	out := a.answerOf(k, s).policyAt(a.Resolution.Node(id).Ref)
	out.Paths = paths
	out.Unread = a.Resolution.DescribeGaps(k.Gaps().At(id))
	return out
}

// AddStackProblems notes the problems of a stack at a target.
func (a *Collector) AddStackProblems(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *stackFacts {
	facts := a.answers.findFacts(k, s)
	if facts == nil {
		facts = &a.answerOf(k, s).stackFacts
	}
	if !facts.reported {
		facts.reported = true
		a.FoundProblems = append(a.FoundProblems, facts.problems...)
	}
	a.FoundProblems = append(a.FoundProblems, k.Guesses().Below(id, s)...)
	if facts.hasBareReference {
		item := a.answerOf(k, s).policy
		item.Target = a.Resolution.Node(id).Ref
		a.FoundProblems = append(a.FoundProblems, reportForeignReferences(a.Resolution.Snapshot, k, &item)...)
	}
	return facts
}

// AnswerWithProblems returns the answer of a stack, and notes its problems at one target.
func (a *Collector) AnswerWithProblems(k *resolve.Kind, id topology.NodeID, s resolve.StackID) *stackAnswer {
	a.AddStackProblems(k, id, s)
	return a.answerOf(k, s)
}

// answerOf returns the answer of a stack, which is the same at all targets.
func (a *Collector) answerOf(k *resolve.Kind, s resolve.StackID) *stackAnswer {
	return a.answers.answerOf(a.Resolution, k, s)
}
