package resolve

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// StackID names a stack of one kind. 0 is the empty one.
type StackID int32

// stackTable holds the stacks of a kind whose policies hold along paths, each once.
type stackTable struct {
	*Kind
	steps []stackStep // by StackID
	index map[stackStep]StackID
}

// stackStep is a stack: another one, and what comes below it: a node whose policies do, or a fact
// of the path that the kind's plans ask for.
type stackStep struct {
	under StackID
	node  topology.NodeID // None for a fact
	fact  pathFact
}

type pathFact struct{ name, value string }

// stackNode is a node that stands on a stack, or is reached with one.
type stackNode struct {
	stack StackID
	node  topology.NodeID
}

// nodeAdditions is what a node adds to the stacks that reach it.
type nodeAdditions struct {
	nodes []topology.NodeID // whose policies hold there
	facts []pathFact
}

// additionsOf returns what the node adds to the stacks that reach it.
func (k *pathEngine) additionsOf(id topology.NodeID) nodeAdditions {
	out := nodeAdditions{nodes: k.nodesHoldingAt(id)}
	if int(id) < len(k.facts) {
		out.facts = k.facts[id]
	}
	return out
}

// readFacts reads the facts that the kind's plans ask for, and which nodes have settings of their
// own, once.
func (k *pathEngine) readFacts() {
	faulty := k.faultNodes()
	if len(k.AskedFacts) == 0 && k.Builtins == nil && len(faulty) == 0 && k.Content.Entries == nil {
		return
	}
	k.facts = make([][]pathFact, k.res.Graph.Len())
	for i := range k.facts {
		id := topology.NodeID(i)
		for _, name := range k.AskedFacts {
			if name == topology.FactTarget && !k.HasResultsAt(k.res.Graph.Node(id).Role) {
				continue // nobody asks for a result there
			}
			if value := k.res.Graph.PathFact(id, name); value != "" {
				k.facts[i] = append(k.facts[i], pathFact{name, value})
			}
		}
		if f, ok := k.builtinFactAt(id); ok {
			k.facts[i] = append(k.facts[i], f)
		}
		if f, ok := k.entryFactAt(id); ok {
			k.facts[i] = append(k.facts[i], f)
		}
		if faulty[id] {
			k.facts[i] = append(k.facts[i], pathFact{errorFact, strconv.Itoa(i)})
		}
	}
}

// addToStacks adds to each stack the policies that hold at the node.
func (k *pathEngine) addToStacks(stacks []StackID, id topology.NodeID) []StackID {
	own := k.additionsOf(id)
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

// nodesHoldingAt lists the nodes whose policies hold at the node: those beside it, then itself.
func (k *pathEngine) nodesHoldingAt(id topology.NodeID) []topology.NodeID {
	var own []topology.NodeID
	if k.TargetsBesidePath && int(id) < k.res.Graph.Len() {
		for _, above := range k.res.Graph.Above(id) {
			if _, holds := k.Table[above]; holds {
				own = append(own, above)
			}
		}
	}
	if _, holds := k.Table[id]; holds {
		own = append(own, id)
	}
	return own
}

// pushAll interns the stack s with what a node adds below it. A node that is in it already counts
// where it is: once, at its least specific place.
func (k *stackTable) pushAll(s StackID, own nodeAdditions) StackID {
	add := func(key stackStep) {
		id, ok := k.index[key]
		if !ok {
			id = StackID(len(k.steps))
			k.steps = append(k.steps, key)
			k.index[key] = id
		}
		s = id
	}
	for _, f := range own.facts {
		add(stackStep{s, topology.None, f})
	}
	for _, n := range own.nodes {
		if !k.isPresent(s, n, own) {
			add(stackStep{under: s, node: n})
		}
	}
	return s
}

// isPresent reports whether the policies of one of the nodes that are added are in the stack
// already.
func (k *stackTable) isPresent(s StackID, n topology.NodeID, own nodeAdditions) bool {
	return (len(own.nodes) > 1 || k.TargetsBesidePath) && k.hasNode(s, n)
}

// leadsTo reports whether the stack under with what a node adds below it is the stack s.
func (k *stackTable) leadsTo(under StackID, own nodeAdditions, s StackID) bool {
	found, ok := k.findWith(under, own)
	return ok && found == s
}

// findWith returns the stack s with what a node adds below it, false if there is none.
func (k *stackTable) findWith(s StackID, own nodeAdditions) (StackID, bool) {
	step := func(key stackStep) bool {
		next, ok := k.index[key]
		s = next
		return ok
	}
	for _, f := range own.facts {
		if !step(stackStep{s, topology.None, f}) {
			return 0, false
		}
	}
	for _, n := range own.nodes {
		if !k.isPresent(s, n, own) && !step(stackStep{under: s, node: n}) {
			return 0, false
		}
	}
	return s, true
}

// nodesOf lists the nodes of a stack, least specific first.
func (k *stackTable) nodesOf(s StackID) []topology.NodeID {
	var out []topology.NodeID
	for ; s != 0; s = k.steps[s].under {
		if k.steps[s].node != topology.None {
			out = append(out, k.steps[s].node)
		}
	}
	slices.Reverse(out)
	return out
}

// IsEmpty reports whether no policy is in the stack.
func (k *Kind) IsEmpty(s StackID) bool { return k.emptyStacks[s] }

// factOf returns what the paths of the stack have to say about one of the facts that plans ask for,
// the last word of several.
func (k *stackTable) factOf(s StackID, name string) string {
	for ; s != 0; s = k.steps[s].under {
		if k.steps[s].fact.name == name {
			return k.steps[s].fact.value
		}
	}
	return ""
}
