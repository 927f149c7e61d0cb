package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// routed is the engine of kinds whose policies hold along the paths of traffic.
type routed struct {
	*Kind
	*stacks
	facts   [][]fact                              // by node: what it says of the paths through it
	refused map[[2]topology.NodeID]*model.Problem // steps that the kind's vendor does not recognise, with the reason
}

// walk computes the contexts of every node from the top down, once.
func (k *routed) walk() {
	g := k.res.Graph
	k.list = append(make([]push, 0, len(k.attached)+1), push{})
	k.known = make(map[push]StackID, len(k.attached))
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
		if k.Local && above != nil {
			above = root
		}
		k.at[id] = k.with(above, id)
	}
	for i := range k.res.virtual {
		id := topology.NodeID(g.Len() + i)
		k.at[id] = k.with(root, id)
	}
	k.verdicts, k.bare = make([]*Verdict, len(k.list)), make([]bool, len(k.list))
	for s := range k.bare {
		k.bare[s] = s == 0 || k.list[s].node == topology.None && k.bare[k.list[s].under]
	}
	if k.Facets != nil {
		for s := range k.bare {
			k.bare[s] = k.bare[s] || !shows(k, StackID(s))
		}
	}
}

// startsPath reports whether a path may begin at the node: at a root, and at a backend or port that no traffic reaches, where only
// what targets it directly can hold.
func (k *routed) startsPath(id topology.NodeID) bool {
	switch k.res.Graph.Node(id).Role {
	case topology.GatewayClass, topology.Backend, topology.Port, topology.Namespace: // the last in the family of workloads only
		return true
	case topology.Frontend:
		return k.res.Graph.Node(id).Ref.Section == ""
	case topology.Gateway:
		return len(k.res.Graph.Parents(k.Family, id)) == 0
	case topology.Binding, topology.Cluster:
		return len(k.res.Graph.Parents(k.Family, id)) == 0
	case topology.ListenerSet: // one that may not be read: where it is attached is not known, what holds there and below is
		return k.res.Graph.Node(id).Object == nil
	}
	return false
}

// inherited is the stacks of the node's parents, sorted, each once; shared with the parents if all have the same.
func (k *routed) inherited(id topology.NodeID) []StackID {
	var out []StackID
	same := true
	for _, p := range k.parents(id) {
		below := k.stacksBelow(p, id)
		switch {
		case len(out) == 0:
			out = below
		case !same:
			out = append(out, below...)
		case !slices.Equal(out, below):
			out, same = slices.Concat(out, below), false
		}
	}
	if same {
		return out
	}
	slices.Sort(out)
	return slices.Compact(out)
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
func (k *Kind) Paths(id topology.NodeID, s StackID) []Path { return k.engine.paths(id, s) }

func (k *routed) paths(id topology.NodeID, s StackID) []Path {
	return k.pathsWith(k.adds(id), id, s)
}

// pathsWith lists the ways to the node with a stack that comes about by what the node adds.
func (k *routed) pathsWith(adds own, id topology.NodeID, s StackID) []Path {
	parents := k.parents(id)
	if len(parents) == 0 {
		return []Path{{id}}
	}
	var out []Path
	for _, p := range parents {
		for _, under := range k.stacksBelow(p, id) {
			if !k.Local && !k.leadsTo(under, adds, s) {
				continue
			}
			var ways []Path
			switch {
			case k.res.Graph.Owners(p, id, k.Controllers) != nil:
				ways = k.pathsTo(p)
			case !k.res.Graph.Passes(p, id):
				ways = k.pathsWith(own{}, p, under)
			default:
				ways = k.paths(p, under)
			}
			for _, way := range ways {
				out = append(out, append(slices.Clip(way), id))
			}
		}
	}
	if out == nil && k.startsPath(id) {
		return []Path{{id}}
	}
	return out
}

// judgeSteps asks the kind's vendor about every step of the paths, once.
func (k *routed) judgeSteps() {
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
func (k *routed) parents(id topology.NodeID) []topology.NodeID {
	if int(id) >= k.res.Graph.Len() {
		return nil
	}
	all := k.res.Graph.Parents(k.Family, id)
	if k.res.Graph.Node(id).Role == topology.ListenerSet {
		all = k.aboveSet(id, all)
	}
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
func (k *routed) holdsBelow(id topology.NodeID) bool {
	return len(k.holding(id)) > 0 || slices.ContainsFunc(k.res.Graph.Children(k.Family, id), func(c topology.NodeID) bool { return len(k.holding(c)) > 0 })
}

// unrecognised reports the steps that the Gateway API allows and the kind's vendor does not, below which a policy of the kind holds.
func (k *routed) unrecognised() []model.Problem {
	var out []model.Problem
	for step, problem := range k.refused {
		if slices.ContainsFunc(k.at[step[0]], func(s StackID) bool { return !k.Empty(s) }) || k.holdsBelow(step[1]) {
			out = append(out, *problem)
		}
	}
	return model.SortProblems(out)
}

// Below tells for every stack of the kind whether the policy holds in it, or is kept out of it by another one.
func (k *Kind) Below(p *policy.Policy) []bool { return k.engine.below(p) }

func (k *routed) below(p *policy.Policy) []bool {
	mine := map[topology.NodeID]bool{}
	for _, id := range k.targetsOf(p) {
		mine[id] = true
	}
	out := make([]bool, len(k.list))
	for s := 1; s < len(k.list); s++ { // a stack is interned after the one it stands on
		out[s] = out[k.list[s].under] || mine[k.list[s].node]
	}
	return out
}

// Before is the policy that comes first at a target of another one, with what puts it first; nil if that one itself is.
func (k *Kind) Before(p *policy.Policy, id topology.NodeID) (*policy.Policy, merge.Decision) {
	at := k.attached[id]
	if len(at.policies) == 0 || at.policies[0].Policy == p {
		return nil, merge.Decision{}
	}
	first := at.policies[0]
	for _, v := range k.rejectedAt[id] {
		if v.Attached.Policy == p && v.By == first.Policy {
			return first.Policy, v.Decision
		}
		if v.Attached.Policy == p {
			return first.Policy, k.decide(first, v.Attached, at.ageIgnored)
		}
	}
	for _, a := range at.policies {
		if a.Policy == p {
			return first.Policy, k.decide(first, a, at.ageIgnored)
		}
	}
	return nil, merge.Decision{}
}
