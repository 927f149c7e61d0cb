package resolve

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// builtinFact marks in a stack a node whose own settings beat those of policies; its value is the node.
const builtinFact = "builtin"

// builtin is the mark of a node with settings of its own that beat those of policies.
func (k *routed) builtin(id topology.NodeID) (fact, bool) {
	if k.Builtins == nil || !k.HasBuiltins(k.res.Graph.Node(id)) {
		return fact{}, false
	}
	return fact{builtinFact, strconv.Itoa(int(id))}, true
}

// overrule adds to a stack what beats its policies: the settings of the nodes along the path themselves, the least specific first.
func (k layout) overrule(o *Verdict) {
	if k.Builtins == nil {
		return
	}
	var ids []topology.NodeID
	for s := k.stack; s != 0; s = k.list[s].under {
		if f := k.list[s].fact; f.name == builtinFact {
			id, err := strconv.Atoi(f.value)
			if err == nil {
				ids = append(ids, topology.NodeID(id))
			}
		}
	}
	for _, id := range slices.Backward(k.precedence(ids)) {
		n := k.res.Graph.Node(id)
		for _, own := range k.BuiltinsOf(n) {
			if own.Level != "" {
				continue
			}
			p := own.Policy
			o.Layers = append(o.Layers, Layer{Policy: p, Node: id, Level: n.Role})
			o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(n.Role), Target: -1, Builtin: true, Unwritten: true, Blocks: p.Blocks})
		}
	}
}

// precedence orders nodes with settings of their own, those that count most first, from the most specific to the least: what is more specific
// counts more, unless a route that others are below says by its strategy that it wins.
func (k layout) precedence(ids []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range ids {
		n := k.res.Graph.Node(id)
		if s := k.HopStrategy(n.Object); n.Transit && s != nil && s.Wins == merge.Higher {
			out = slices.Insert(out, 0, id)
		} else {
			out = append(out, id)
		}
	}
	return out
}

// amid inserts into the layers of a stack what its nodes themselves set at levels among policies: each behind what holds at its node. From the
// nodes of the stack only the marks say which have such settings.
func (k layout) amid(o *Verdict, add func(id topology.NodeID)) {
	if k.Builtins == nil {
		for _, id := range k.nodes(k.stack) {
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
	for _, step := range k.steps(k.stack) {
		switch {
		case step.node == topology.None && step.fact.name == builtinFact:
			flush()
			if id, err := strconv.Atoi(step.fact.value); err == nil {
				pending = topology.NodeID(id)
			}
		case step.node != topology.None:
			if pending != topology.None && step.node != pending && !slices.Contains(k.res.Graph.Above(pending), step.node) {
				flush()
			}
			add(step.node)
		}
	}
	flush()
}

// steps are what a stack is made of, least specific first.
func (k *stacks) steps(s StackID) []push {
	var out []push
	for ; s != 0; s = k.list[s].under {
		out = append(out, k.list[s])
	}
	slices.Reverse(out)
	return out
}
