package resolve

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// StackID names a stack of one kind. 0 is the empty one.
type StackID int32

// push is a stack: another one, and what comes below it: a node whose policies do, or a fact of the path that the kind's plans ask for.
type push struct {
	under StackID
	node  topology.NodeID // None for a fact
	fact  fact
}

type fact struct{ name, value string }

// own is what a node adds to the stacks that reach it.
type own struct {
	nodes []topology.NodeID // whose policies hold there
	facts []fact
}

// adds is what the node adds to the stacks that reach it.
func (k *Kind) adds(id topology.NodeID) own {
	out := own{nodes: k.holding(id)}
	if int(id) < len(k.facts) {
		out.facts = k.facts[id]
	}
	return out
}

// readFacts reads the facts that the kind's plans ask for, and which nodes have settings of their own, once.
func (k *Kind) readFacts() {
	faulty := k.faulty()
	if len(k.Asked()) == 0 && k.Builtins == nil && len(faulty) == 0 {
		return
	}
	k.facts = make([][]fact, k.res.Graph.Len())
	for i := range k.facts {
		id := topology.NodeID(i)
		for _, name := range k.Asked() {
			if value := k.res.Graph.PathFact(id, name); value != "" {
				k.facts[i] = append(k.facts[i], fact{name, value})
			}
		}
		if f, ok := k.builtin(id); ok {
			k.facts[i] = append(k.facts[i], f)
		}
		if faulty[id] {
			k.facts[i] = append(k.facts[i], fact{inError, strconv.Itoa(i)})
		}
	}
}

// walk computes the contexts of every node from the top down, once.
func (k *Kind) walk() {
	g := k.res.Graph
	k.stacks = append(make([]push, 0, len(k.attached)+1), push{})
	k.interned = make(map[push]StackID, len(k.attached))
	k.at = make([][]StackID, g.Len()+len(k.res.virtual))
	k.readFacts()
	k.judgeSteps()
	root := []StackID{0}
	for _, id := range g.Order(k.Family) {
		if !k.passes(g.Node(id)) {
			continue
		}
		above := k.inherited(id)
		if above == nil && k.startsPath(id) {
			above = root
		}
		k.at[id] = k.with(above, id)
	}
	for i := range k.res.virtual {
		id := topology.NodeID(g.Len() + i)
		k.at[id] = k.with(root, id)
	}
	k.outcomes = make([]*Outcome, len(k.stacks))
}

// startsPath reports whether a path may begin at the node: at a root, and at a backend or port that no traffic reaches, where only
// what targets it directly can hold.
func (k *Kind) startsPath(id topology.NodeID) bool {
	switch k.res.Graph.Node(id).Role {
	case topology.GatewayClass, topology.Backend, topology.Port:
		return true
	case topology.Frontend:
		return k.res.Graph.Node(id).Ref.Section == ""
	case topology.Gateway:
		return len(k.res.Graph.Parents(k.Family, id)) == 0
	case topology.ListenerSet: // one that may not be read: where it is attached is not known, what holds there and below is
		return k.res.Graph.Node(id).Object == nil
	}
	return false
}

// inherited is the stacks of the node's parents, sorted, each once; shared with the parent if there is one only.
func (k *Kind) inherited(id topology.NodeID) []StackID {
	parents := k.parents(id)
	if len(parents) == 1 {
		return k.below(parents[0], id)
	}
	var out []StackID
	for _, p := range parents {
		for _, s := range k.below(p, id) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	slices.Sort(out)
	return out
}

// with adds to each stack the policies that hold at the node.
func (k *Kind) with(stacks []StackID, id topology.NodeID) []StackID {
	own := k.adds(id)
	if len(own.nodes)+len(own.facts) == 0 || len(stacks) == 0 {
		return stacks
	}
	out := make([]StackID, len(stacks))
	for i, s := range stacks {
		out[i] = k.pushAll(s, own)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// holding lists the nodes whose policies hold at the node: those beside it, then itself.
func (k *Kind) holding(id topology.NodeID) []topology.NodeID {
	var own []topology.NodeID
	if k.beside && int(id) < k.res.Graph.Len() {
		for _, above := range k.res.Graph.Above(id) {
			if _, ok := k.attached[above]; ok {
				own = append(own, above)
			}
		}
	}
	if _, ok := k.attached[id]; ok {
		own = append(own, id)
	}
	return own
}

// pushAll interns the stack s with what a node adds below it. A node that is in it already counts where it is: once, at its least
// specific place.
func (k *Kind) pushAll(s StackID, own own) StackID {
	add := func(key push) {
		id, ok := k.interned[key]
		if !ok {
			id = StackID(len(k.stacks))
			k.stacks = append(k.stacks, key)
			k.interned[key] = id
		}
		s = id
	}
	for _, f := range own.facts {
		add(push{s, topology.None, f})
	}
	for _, n := range own.nodes {
		if !k.standing(s, n, own) {
			add(push{under: s, node: n})
		}
	}
	return s
}

// standing reports whether the policies of one of the nodes that are added are in the stack already.
func (k *Kind) standing(s StackID, n topology.NodeID, own own) bool {
	return (len(own.nodes) > 1 || k.beside) && k.stands(s, n)
}

// leadsTo reports whether the stack under with what a node adds below it is the stack s.
func (k *Kind) leadsTo(under StackID, own own, s StackID) bool {
	step := func(key push) bool {
		next, ok := k.interned[key]
		under = next
		return ok
	}
	for _, f := range own.facts {
		if !step(push{under, topology.None, f}) {
			return false
		}
	}
	for _, n := range own.nodes {
		if !k.standing(under, n, own) && !step(push{under: under, node: n}) {
			return false
		}
	}
	return under == s
}

// nodes lists the nodes of a stack, least specific first. The stacks of a kind with scopes are parts, not nodes.
func (k *Kind) nodes(s StackID) []topology.NodeID {
	if k.scoped != nil {
		return nil
	}
	var out []topology.NodeID
	for ; s != 0; s = k.stacks[s].under {
		if k.stacks[s].node != topology.None {
			out = append(out, k.stacks[s].node)
		}
	}
	slices.Reverse(out)
	return out
}

// Empty reports whether no policy is in the stack.
func (k *Kind) Empty(s StackID) bool {
	if k.scoped != nil {
		return s == 0
	}
	for ; s != 0; s = k.stacks[s].under {
		if k.stacks[s].node != topology.None {
			return false
		}
	}
	return true
}

// fact is what the paths of the stack have to say about one of the facts that plans ask for, the last word of several.
func (k *Kind) fact(s StackID, name string) string {
	if k.scoped != nil {
		return ""
	}
	for ; s != 0; s = k.stacks[s].under {
		if k.stacks[s].fact.name == name {
			return k.stacks[s].fact.value
		}
	}
	return ""
}

// Contexts lists the stacks with which traffic can reach the node, sorted. It is empty for a node that no path leads to. The slice may
// be shared with other nodes and must not be changed.
func (k *Kind) Contexts(id topology.NodeID) []StackID {
	if k.at == nil || int(id) >= len(k.at) {
		return nil
	}
	return k.at[id]
}

// Path is one way traffic reaches a node: the nodes from the root down to it.
type Path []topology.NodeID

// Paths lists the ways that reach the node with the given stack, in a stable order. A node reached by no traffic has none. The list is not
// to be changed.
func (k *Kind) Paths(id topology.NodeID, s StackID) []Path {
	if k.scoped != nil {
		return k.scopedPaths(id, s)
	}
	switch k.res.Node(id).Role {
	case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener: // few, with many below them
		at := push{under: s, node: id}
		known, ok := k.ways[at]
		if !ok {
			known = k.paths(id, s)
			k.ways[at] = known
		}
		return known
	}
	return k.paths(id, s)
}

func (k *Kind) paths(id topology.NodeID, s StackID) []Path { return k.waysWith(k.adds(id), id, s) }

// waysWith lists the ways to the node with a stack that comes about by what the node adds.
func (k *Kind) waysWith(adds own, id topology.NodeID, s StackID) []Path {
	parents := k.parents(id)
	if len(parents) == 0 {
		return []Path{{id}}
	}
	var out []Path
	for _, p := range parents {
		for _, under := range k.below(p, id) {
			if !k.leadsTo(under, adds, s) {
				continue
			}
			above := k.Paths
			if k.res.Graph.Owners(p, id, k.Controllers) != nil {
				above = func(p topology.NodeID, _ StackID) []Path { return k.waysTo(p) }
			} else if !k.res.Graph.Passes(p, id) {
				above = func(p topology.NodeID, under StackID) []Path { return k.waysWith(own{}, p, under) }
			}
			for _, path := range above(p, under) {
				out = append(out, append(path[:len(path):len(path)], id))
			}
		}
	}
	if len(out) == 0 && k.startsPath(id) {
		return []Path{{id}}
	}
	return out
}

// judgeSteps asks the kind's vendor about every step of the paths, once.
func (k *Kind) judgeSteps() {
	if k.Step == nil && k.Controllers == nil && k.seen == nil {
		return
	}
	k.refused = map[[2]topology.NodeID]*model.Problem{}
	g := k.res.Graph
	for _, id := range g.Order(k.Family) {
		if !k.passes(g.Node(id)) {
			continue
		}
		for _, p := range g.Parents(k.Family, id) {
			if problem := k.step(p, id); problem != nil {
				k.refused[[2]topology.NodeID{p, id}] = problem
			}
		}
	}
}

// parents are the nodes right above, by steps that the kind's vendor recognises.
func (k *Kind) parents(id topology.NodeID) []topology.NodeID {
	if int(id) >= k.res.Graph.Len() {
		return nil
	}
	all := k.res.Graph.Parents(k.Family, id)
	if len(k.refused) == 0 {
		return all
	}
	refused := func(p topology.NodeID) bool { return k.refused[[2]topology.NodeID{p, id}] != nil }
	if !slices.ContainsFunc(all, refused) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), refused)
}

// holdsBelow reports whether a policy is attached to the node or right below it.
func (k *Kind) holdsBelow(id topology.NodeID) bool {
	return len(k.holding(id)) > 0 || slices.ContainsFunc(k.res.Graph.Children(k.Family, id), func(c topology.NodeID) bool { return len(k.holding(c)) > 0 })
}

// unrecognised reports the steps that the Gateway API allows and the kind's vendor does not, below which a policy of the kind holds.
func (k *Kind) unrecognised() []model.Problem {
	var out []model.Problem
	for step, problem := range k.refused {
		if slices.ContainsFunc(k.at[step[0]], func(s StackID) bool { return !k.Empty(s) }) || k.holdsBelow(step[1]) {
			out = append(out, *problem)
		}
	}
	return model.SortProblems(out)
}

// Below tells for every stack of the kind whether the policy holds in it, or is kept out of it by another one.
func (k *Kind) Below(p *policy.Policy) []bool {
	if k.scoped != nil {
		return k.scopedBelow(p)
	}
	mine := map[topology.NodeID]bool{}
	for _, id := range k.TargetsOf(p) {
		mine[id] = true
	}
	out := make([]bool, len(k.stacks))
	for s := 1; s < len(k.stacks); s++ { // a stack is interned after the one it stands on
		out[s] = out[k.stacks[s].under] || mine[k.stacks[s].node]
	}
	return out
}

// TargetsOf lists the nodes to which the policy is attached, sorted.
func (k *Kind) TargetsOf(p *policy.Policy) []topology.NodeID {
	if k.scoped != nil {
		return slices.Clone(k.scoped.nodesOf[p])
	}
	return slices.Clone(k.targetsOf[p])
}

// At lists the policies at a node, established first; those that another one keeps out come last.
func (k *Kind) At(id topology.NodeID) []*policy.Policy {
	var out []*policy.Policy
	for _, a := range k.attached[id].policies {
		out = append(out, a.Policy)
	}
	for _, v := range k.rejectedAt[id] {
		out = append(out, v.Attached.Policy)
	}
	return out
}

// Attaches reports whether the policy's i-th reference led to a target.
func (k *Kind) Attaches(p *policy.Policy, i int) bool { return k.leads[lead{p, i}] }

// lead is one reference of a policy.
type lead struct {
	policy *policy.Policy
	ref    int
}
