package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// groupCallers makes groups of the callers that the same parts select, in the order of their nodes.
func (k *scopeEngine) groupCallers(selected map[topology.NodeID]partSet) {
	ids := make([]topology.NodeID, 0, len(selected))
	for id := range selected {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	at := map[string]int{}
	for _, id := range ids {
		key := selected[id].encode()
		i, ok := at[key]
		if !ok {
			i = len(k.callers)
			at[key] = i
			k.callers = append(k.callers, callerGroup{parts: selected[id]})
		}
		k.callers[i].nodes = append(k.callers[i].nodes, id)
	}
}

// spreadParts computes what holds at every target of the family: what is found there, and above it.
func (k *scopeEngine) spreadParts() {
	s, g := k, k.res.Graph
	s.sets, s.setAt = [][]int32{nil}, make([]int32, k.res.Len())
	numbers := map[string]int32{"": 0}
	order := g.Order(k.Family)
	for _, id := range order {
		var holds partSet
		for _, p := range g.Parents(k.Family, id) {
			holds = holds.union(s.sets[s.setAt[p]])
		}
		holds = holds.union(s.ownParts[id])
		key := holds.encode()
		n, ok := numbers[key]
		if !ok {
			n = int32(len(s.sets))
			numbers[key] = n
			s.sets = append(s.sets, holds)
		}
		s.setAt[id] = n
	}
	bySet := map[int32][]StackID{}
	for _, id := range order {
		if !k.HasResultsAtNode(g.Node(id)) {
			continue
		}
		if uses := g.Uses(id); len(uses) > 0 {
			k.contexts[id] = k.usedStacks(id, uses)
			continue
		}
		n := s.setAt[id]
		if bySet[n] == nil {
			bySet[n] = []StackID{}
			for c := range s.callers {
				for _, stack := range s.commonStacks(int32(c), n) {
					if !slices.Contains(bySet[n], stack) {
						bySet[n] = append(bySet[n], stack)
					}
				}
			}
			slices.Sort(bySet[n])
		}
		k.contexts[id] = bySet[n]
	}
}

// usedStacks returns the stacks of a node that comes into play at others: what holds at it for
// callers with something of its own there, else what holds where it comes into play.
func (k *scopeEngine) usedStacks(id topology.NodeID, uses []topology.NodeUse) []StackID {
	var out []StackID
	add := func(stacks []StackID) {
		for _, s := range stacks {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	for c := range k.callers {
		if k.hasOwnPart(c, id) {
			add(k.commonStacks(int32(c), k.setAt[id]))
			continue
		}
		for _, u := range uses {
			if slices.ContainsFunc(k.callers[c].nodes, u.IsFor) {
				add(k.commonStacks(int32(c), k.setAt[u.At]))
			}
		}
	}
	slices.Sort(out)
	return out
}

// hasOwnPart reports whether a part that holds for a group of callers is found at the node itself.
func (k *scopeEngine) hasOwnPart(c int, id topology.NodeID) bool {
	return len(k.callers[c].parts.intersection(k.ownParts[id])) > 0
}

// pathsOf lists the ways to a target on which a stack holds: the root of its family, who calls, and
// where the target comes into play. The target itself is left out, so that targets at which the
// same holds share their ways.
func (k *scopeEngine) pathsOf(id topology.NodeID, s StackID) []Path {
	root := k.rootPath(id)
	if len(k.Scope.Points) == 1 || s == 0 {
		return []Path{root}
	}
	if len(k.res.Graph.Uses(id)) > 0 {
		return k.usedPaths(id, s, root)
	}
	key := stackNode{s, topology.NodeID(k.setAt[id])}
	ways, ok := k.knownPaths[key]
	if !ok {
		var from []topology.NodeID
		for c := range k.callers {
			if slices.Contains(k.commonStacks(int32(c), k.setAt[id]), s) {
				from = append(from, k.callers[c].nodes...)
			}
		}
		slices.Sort(from) // as they will be printed, nearly
		for _, id := range from {
			ways = append(ways, Path{root[0], id})
		}
		k.knownPaths[key] = ways
	}
	return ways
}

// usedPaths returns the ways to a target that comes into play at others.
func (k *scopeEngine) usedPaths(id topology.NodeID, s StackID, root Path) []Path {
	var out []Path
	for c := range k.callers {
		own := k.hasOwnPart(c, id)
		if own && !slices.Contains(k.commonStacks(int32(c), k.setAt[id]), s) {
			continue
		}
		for _, from := range k.callers[c].nodes {
			way := append(root[:len(root):len(root)], from)
			n := len(out)
			for _, u := range k.res.Graph.Uses(id) {
				if u.IsFor(from) && (own || slices.Contains(k.commonStacks(int32(c), k.setAt[u.At]), s)) {
					out = append(out, append(way[:len(way):len(way)], u.At))
				}
			}
			if own && n == len(out) {
				out = append(out, way)
			}
		}
	}
	return out
}

// rootPath returns the root of the kind's family above a node, or the node itself.
func (k *scopeEngine) rootPath(id topology.NodeID) Path {
	top := id
	for {
		parents := k.res.Graph.Parents(k.Family, top)
		if len(parents) == 0 {
			break
		}
		top = parents[0]
	}
	return Path{top}
}

// layOut lays the parts of a stack out as layers.
func (k *scopeEngine) layOut(s StackID) (*Verdict, []merge.Plan) {
	var o *Verdict
	if at := k.situations[s]; at != nil {
		o = k.buildSituated(s, at)
		o.findProblems = o.uncertainOrders
	} else {
		o = k.buildParts(s)
		o.findProblems = o.undefinedOrders
	}
	o.applyVoid(k.Kind, nil)
	return o, k.plansOf(s, o)
}

// buildParts lays out the parts of a stack of which the targets do not matter.
func (k *scopeEngine) buildParts(s StackID) *Verdict {
	o := &Verdict{}
	o.stack.Name = k.stackNames[s]
	for i, at := range k.stacks[s] {
		a := k.parts[at]
		place := k.placeOf(a.Policy)
		l := Layer{Policy: a.Policy, Node: place, Level: k.levelAt(place), orderUncertain: k.hasTie(s, i),
			ageIgnored: k.ageIgnored, kind: k.Kind, attached: a}
		o.Layers = append(o.Layers, l)
		o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(l.Level), Target: i,
			Blocks: withSources(a.Policy.Blocks, i), Meta: a.Policy, Render: a.Policy.RenderDocument})
	}
	return o
}

// withSources returns blocks of the i-th layer whose units have their source: the fold of a scope
// accounts for all of them.
func withSources(blocks []merge.Block, i int) []merge.Block {
	out := slices.Clone(blocks)
	for b := range out {
		out[b].Units = slices.Clone(out[b].Units)
		for u := range out[b].Units {
			out[b].Units[u].From = []merge.Source{{Layer: i, Block: out[b].Kind}}
		}
	}
	return out
}

// hasTie reports whether the i-th part of a stack has no order against another one in it.
func (k *scopeEngine) hasTie(s StackID, i int) bool {
	stack, tied := k.stacks[s], k.tieStarts
	return i > 0 && tied[stack[i]] == tied[stack[i-1]] &&
		k.parts[stack[i]].Policy.Base() != k.parts[stack[i-1]].Policy.Base() ||
		i+1 < len(stack) && tied[stack[i]] == tied[stack[i+1]] &&
			k.parts[stack[i]].Policy.Base() != k.parts[stack[i+1]].Policy.Base()
}

// placeOf returns the one place that stands for all where a part holds: the root of the family that
// they are in.
func (k *scopeEngine) placeOf(part *policy.Policy) topology.NodeID {
	if len(part.Places) == 1 {
		return part.Places[0]
	}
	if id, ok := k.separatePlaces[part.Base()]; ok {
		return id
	}
	return k.rootPath(part.Places[0])[0]
}

// findSeparatePlaces gives the policies that hold below several roots a place of their own, which
// is the policy itself: they attach by what they select.
func (k *scopeEngine) findSeparatePlaces() {
	if k.Family != topology.Namespaced {
		return
	}
	k.separatePlaces = map[*policy.Policy]topology.NodeID{}
	for _, p := range k.Policies {
		nodes := k.NodesOf(p)
		if slices.ContainsFunc(nodes,
			func(id topology.NodeID) bool { return k.rootPath(id)[0] != k.rootPath(nodes[0])[0] }) {
			k.separatePlaces[p] = topology.None
		}
	}
	for _, p := range k.Policies { // in their order
		if _, ok := k.separatePlaces[p]; ok {
			k.separatePlaces[p] = k.res.OpaqueNode(p.Ref(), p.Object)
		}
	}
}

// levelAt returns the level of what stands at a place; who is selected is a workload, wherever the
// policy stands.
func (k *scopeEngine) levelAt(place topology.NodeID) topology.Role {
	if k.Family == topology.Namespaced {
		return topology.Workload
	}
	return k.res.Node(place).Role
}

// IsLaterScope reports whether the kind is one that another scope has shown already: it has the
// same policies.
func (k *Kind) IsLaterScope() bool { return k.Scope != nil && k.Scope != &k.Kind.Scopes[0] }

// ScopesOf lists a kind in all its scopes; for one without scopes itself.
func (r *Resolution) ScopesOf(k *Kind) []*Kind {
	if k.Scope == nil {
		return []*Kind{k}
	}
	var out []*Kind
	for _, other := range r.Kinds {
		if other.GroupKind == k.GroupKind {
			out = append(out, other)
		}
	}
	return out
}

// PartsOf returns the parts of a policy that the scope reads, in the order of the fold; a policy of
// a kind without scopes is its only part.
func (k *Kind) PartsOf(p *policy.Policy) []*policy.Policy {
	in, ok := k.engine.(*scopeEngine)
	if !ok {
		return []*policy.Policy{p}
	}
	var out []*policy.Policy
	for _, a := range in.parts {
		if a.Policy.Whole == p {
			out = append(out, a.Policy)
		}
	}
	return out
}

// AllParts returns the parts of a policy in all scopes of its kind.
func (k *Kind) AllParts(p *policy.Policy) []*policy.Policy {
	var out []*policy.Policy
	for _, scope := range k.res.ScopesOf(k) {
		out = append(out, scope.PartsOf(p)...)
	}
	return out
}

// stacksHolding tells in which stacks a part of the policy is.
func (k *scopeEngine) stacksHolding(p *policy.Policy) []bool {
	out := make([]bool, len(k.stacks))
	for s, parts := range k.stacks {
		out[s] = slices.ContainsFunc(parts, func(i int32) bool { return k.parts[i].Policy.Base() == p })
	}
	return out
}

// undefinedOrders reports losses between parts that nothing tells apart (engine E9).
func (o *Verdict) undefinedOrders() []model.Problem {
	var out []model.Problem
	for loss := range o.eachLoss {
		l := o.Layers[loss.From.Layer]
		for _, to := range loss.To {
			w := o.Layers[to.Layer]
			if !l.orderUncertain || !w.orderUncertain || w.Policy.Base() == l.Policy.Base() ||
				!l.Policy.Kind.IsTied(l.attached, w.attached) || o.setsValue(to.Source, loss.Path, loss.Value) {
				continue
			}
			p := model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
				Message: "tie: order undefined: " + l.Policy.Ref().String() + " and " + w.Policy.Ref().String() +
					" rank equal and set " + loss.Rule + " differently",
				Hint: "give one of them another name"}.At(l.Policy.Object)
			if !slices.ContainsFunc(out, func(q model.Problem) bool { return q.Message == p.Message }) {
				out = append(out, p)
			}
		}
	}
	return out
}
