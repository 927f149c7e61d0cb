package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// pathEngine is the engine of kinds whose policies hold along the paths of traffic.
type pathEngine struct {
	*Kind
	*stackTable
	facts [][]pathFact    // by node: what it says of the paths through it
	step  policy.StepFunc // the kind's, while steps are judged; nil: it has none
	// steps that the kind's vendor does not recognise, with the reason
	refusedSteps map[[2]topology.NodeID]*model.Problem
}

// computeContexts computes the contexts of every node from the top down, once.
func (k *pathEngine) computeContexts() {
	g := k.res.Graph
	k.steps = append(make([]stackStep, 0, len(k.Table)+1), stackStep{})
	k.index = make(map[stackStep]StackID, len(k.Table))
	k.contexts = make([][]StackID, g.Len()+len(k.res.Virtual))
	k.readFacts()
	k.judgeSteps()
	root := []StackID{0}
	for _, id := range g.Order(k.Family) {
		if !k.passesNode(g.Node(id)) {
			continue
		}
		above := k.inheritedStacks(id)
		if above == nil && k.startsPath(id) {
			above = root
		}
		if k.Local && above != nil {
			above = root
		}
		k.contexts[id] = k.addToStacks(above, id)
	}
	for i := range k.res.Virtual {
		id := topology.NodeID(g.Len() + i)
		k.contexts[id] = k.addToStacks(root, id)
	}
	k.verdicts, k.emptyStacks = make([]*Verdict, len(k.steps)), make([]bool, len(k.steps))
	for s := range k.emptyStacks {
		k.emptyStacks[s] = s == 0 || k.steps[s].node == topology.None && k.emptyStacks[k.steps[s].under]
	}
	if k.Facets != nil {
		for s := range k.emptyStacks {
			k.emptyStacks[s] = k.emptyStacks[s] || !hasShownPolicy(k, StackID(s))
		}
	}
}

// startsPath reports whether a path may begin at the node: at a root, and at a backend or port that
// no traffic reaches, where only what targets it directly can hold.
func (k *pathEngine) startsPath(id topology.NodeID) bool {
	switch k.res.Graph.Node(id).Role {
	// the last in the family of workloads only
	case topology.GatewayClass, topology.Backend, topology.Port, topology.Namespace:
		return true
	case topology.Frontend:
		return k.res.Graph.Node(id).Ref.Section == ""
	case topology.Gateway:
		return len(k.res.Graph.Parents(k.Family, id)) == 0
	case topology.Binding, topology.Cluster:
		return len(k.res.Graph.Parents(k.Family, id)) == 0
	// one that may not be read: where it is attached is not known, what holds there and below is
	case topology.ListenerSet:
		return k.res.Graph.Node(id).Object == nil
	}
	return false
}

// inheritedStacks returns the stacks of the node's parents, sorted, each once; shared with the
// parents if all have the same.
func (k *pathEngine) inheritedStacks(id topology.NodeID) []StackID {
	var out []StackID
	same := true
	for _, p := range k.parentsOf(id) {
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

// Contexts lists the stacks with which traffic can reach the node, sorted. It is empty for a node
// that no path leads to. The slice may be shared with other nodes and must not be changed.
func (k *Kind) Contexts(id topology.NodeID) []StackID {
	if k.contexts == nil || int(id) >= len(k.contexts) {
		return nil
	}
	return k.contexts[id]
}

// Path is one way traffic reaches a node: the nodes from the root down to it.
type Path []topology.NodeID

// Paths lists the ways that reach the node with the given stack, in a stable order. A node reached
// by no traffic has none. The list is not to be changed.
func (k *Kind) Paths(id topology.NodeID, s StackID) []Path { return k.engine.pathsOf(id, s) }

func (k *pathEngine) pathsOf(id topology.NodeID, s StackID) []Path {
	return k.pathsWith(k.additionsOf(id), id, s)
}

// pathsWith lists the ways to the node with a stack that comes about by what the node adds.
func (k *pathEngine) pathsWith(adds nodeAdditions, id topology.NodeID, s StackID) []Path {
	parents := k.parentsOf(id)
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
			case k.res.Graph.HostOwners(p, id, k.Controllers) != nil:
				ways = k.pathsTo(p)
			case !k.res.Graph.PassesPolicies(p, id):
				ways = k.pathsWith(nodeAdditions{}, p, under)
			default:
				ways = k.pathsOf(p, under)
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
func (k *pathEngine) judgeSteps() {
	if k.Step == nil && k.Controllers == nil && k.SeesAll() {
		return
	}
	k.refusedSteps = map[[2]topology.NodeID]*model.Problem{}
	g := k.res.Graph
	if k.Step != nil {
		k.step = k.Step(g, k.res.Snapshot)
	}
	for _, id := range g.Order(k.Family) {
		if !k.passesNode(g.Node(id)) {
			continue
		}
		for _, p := range g.Parents(k.Family, id) {
			if problem := k.judgeStep(p, id); problem != nil {
				k.refusedSteps[[2]topology.NodeID{p, id}] = problem
			}
		}
	}
}

// parentsOf returns the nodes right above, by steps that the kind's vendor recognises.
func (k *pathEngine) parentsOf(id topology.NodeID) []topology.NodeID {
	if int(id) >= k.res.Graph.Len() {
		return nil
	}
	all := k.res.Graph.Parents(k.Family, id)
	if k.res.Graph.Node(id).Role == topology.ListenerSet {
		all = k.parentsOfSet(id, all)
	}
	if len(k.refusedSteps) == 0 {
		return all
	}
	refused := func(p topology.NodeID) bool { return k.refusedSteps[[2]topology.NodeID{p, id}] != nil }
	if !slices.ContainsFunc(all, refused) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), refused)
}

// hasPolicyBelow reports whether a policy is attached to the node or right below it.
func (k *pathEngine) hasPolicyBelow(id topology.NodeID) bool {
	return len(k.nodesHoldingAt(id)) > 0 || slices.ContainsFunc(k.res.Graph.Children(k.Family, id),
		func(c topology.NodeID) bool { return len(k.nodesHoldingAt(c)) > 0 })
}

// reportRefusedSteps reports the steps that the Gateway API allows and the kind's vendor does not,
// below which a policy of the kind holds.
func (k *pathEngine) reportRefusedSteps() []model.Problem {
	var out []model.Problem
	for step, problem := range k.refusedSteps {
		if slices.ContainsFunc(k.contexts[step[0]], func(s StackID) bool { return !k.IsEmpty(s) }) ||
			k.hasPolicyBelow(step[1]) {
			out = append(out, *problem)
		}
	}
	return model.SortProblems(out)
}

// StacksHolding tells for every stack of the kind whether the policy holds in it, or is kept out of
// it by another one.
func (k *Kind) StacksHolding(p *policy.Policy) []bool { return k.engine.stacksHolding(p) }

func (k *pathEngine) stacksHolding(p *policy.Policy) []bool {
	mine := map[topology.NodeID]bool{}
	for _, id := range k.NodesOf(p) {
		mine[id] = true
	}
	out := make([]bool, len(k.steps))
	for s := 1; s < len(k.steps); s++ { // a stack is interned after the one it stands on
		out[s] = out[k.steps[s].under] || mine[k.steps[s].node]
	}
	return out
}

// PolicyBefore returns the policy that comes first at a target of another one, with what puts it
// first; nil if that one itself is.
func (k *Kind) PolicyBefore(p *policy.Policy, id topology.NodeID) (*policy.Policy, merge.Decision) {
	at := k.Table[id]
	if len(at.Policies) == 0 || at.Policies[0].Policy == p {
		return nil, merge.Decision{}
	}
	first := at.Policies[0]
	for _, v := range k.RejectedAt[id] {
		if v.Attached.Policy == p && v.By == first.Policy {
			return first.Policy, v.Decision
		}
		if v.Attached.Policy == p {
			return first.Policy, attach.DecisionBetween(k.Kind, first, v.Attached, at.AgeIgnored)
		}
	}
	for _, a := range at.Policies {
		if a.Policy == p {
			return first.Policy, attach.DecisionBetween(k.Kind, first, a, at.AgeIgnored)
		}
	}
	return nil, merge.Decision{}
}
