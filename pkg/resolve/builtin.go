package resolve

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// builtinFact marks in a stack a node whose own settings beat those of policies; its value is the
// node.
const builtinFact = "builtin"

// builtinFactAt returns the mark of a node with settings of its own that beat those of policies.
func (k *pathEngine) builtinFactAt(id topology.NodeID) (pathFact, bool) {
	if k.Builtins == nil || !k.HasBuiltins(k.res.Graph.Node(id)) {
		return pathFact{}, false
	}
	return pathFact{builtinFact, strconv.Itoa(int(id))}, true
}

// addBuiltins adds to a stack what beats its policies: the settings of the nodes along the path
// themselves, the least specific first.
func (k stackLayout) addBuiltins(o *Verdict) {
	if k.Builtins == nil {
		return
	}
	var ids []topology.NodeID
	for s := k.stack; s != 0; s = k.steps[s].under {
		if f := k.steps[s].fact; f.name == builtinFact {
			id, err := strconv.Atoi(f.value)
			if err == nil {
				ids = append(ids, topology.NodeID(id))
			}
		}
	}
	for _, id := range slices.Backward(k.orderBuiltins(ids)) {
		n := k.res.Graph.Node(id)
		for _, own := range k.BuiltinsOf(n) {
			if own.Level != "" {
				continue
			}
			p := own.Policy
			o.Layers = append(o.Layers, Layer{Policy: p, Node: id, Level: n.Role})
			o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(n.Role), Target: -1, Builtin: true,
				Unwritten: true, Blocks: p.Blocks})
		}
	}
}

// orderBuiltins orders nodes with settings of their own, those that count most first, from the most
// specific to the least: what is more specific counts more, unless a route that others are below
// says by its strategy that it wins.
func (k stackLayout) orderBuiltins(ids []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range ids {
		n := k.res.Graph.Node(id)
		if s := k.HopStrategy(n.Object); n.Delegates && s != nil && s.Wins == merge.Higher {
			out = slices.Insert(out, 0, id)
		} else {
			out = append(out, id)
		}
	}
	return out
}

// visitNodes calls add for each node of a stack, and inserts behind what holds there the settings
// of the node itself that stand at levels among policies. Only the marks in the stack say which
// nodes have such settings.
func (k stackLayout) visitNodes(o *Verdict, add func(id topology.NodeID)) {
	if k.Builtins == nil {
		for _, id := range k.nodesOf(k.stack) {
			add(id)
		}
		return
	}
	pending := topology.None
	flush := func() {
		if pending == topology.None {
			return
		}
		n := k.res.Graph.Node(pending)
		for _, own := range k.BuiltinsOf(n) {
			if own.Level != "" {
				o.Layers = append(o.Layers, Layer{Policy: own.Policy, Node: pending, Level: own.Level, kind: k.Kind})
			}
		}
		pending = topology.None
	}
	for _, step := range k.stepsOf(k.stack) {
		switch {
		case step.node == topology.None && step.fact.name == builtinFact:
			flush()
			if id, err := strconv.Atoi(step.fact.value); err == nil {
				pending = topology.NodeID(id)
			}
		case step.node != topology.None:
			if pending != topology.None && step.node != pending &&
				!slices.Contains(k.res.Graph.Above(pending), step.node) {
				flush()
			}
			add(step.node)
		}
	}
	flush()
}

// stepsOf returns what a stack is made of, least specific first.
func (k *stackTable) stepsOf(s StackID) []stackStep {
	var out []stackStep
	for ; s != 0; s = k.steps[s].under {
		out = append(out, k.steps[s])
	}
	slices.Reverse(out)
	return out
}
