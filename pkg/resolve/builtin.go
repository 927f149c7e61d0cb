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
func (k *Kind) builtin(id topology.NodeID) (fact, bool) {
	if k.Builtins == nil || !k.HasBuiltins(k.res.Graph.Node(id)) {
		return fact{}, false
	}
	return fact{builtinFact, strconv.Itoa(int(id))}, true
}

// overrule adds to a stack what beats its policies: the settings of the nodes along the path themselves, the least specific first.
func (k *Kind) overrule(s StackID, o *Verdict) {
	if k.Builtins == nil {
		return
	}
	var ids []topology.NodeID
	for ; s != 0; s = k.stacks[s].under {
		if f := k.stacks[s].fact; f.name == builtinFact {
			id, err := strconv.Atoi(f.value)
			if err == nil {
				ids = append(ids, topology.NodeID(id))
			}
		}
	}
	for _, id := range slices.Backward(k.precedence(ids)) {
		n := k.res.Graph.Node(id)
		for _, p := range k.BuiltinsOf(n) {
			o.Layers = append(o.Layers, Layer{Policy: p, Node: id, Level: n.Role})
			o.stack.Layers = append(o.stack.Layers, merge.Layer{Level: string(n.Role), Target: -1, Builtin: true, Unwritten: true, Blocks: p.Blocks})
		}
	}
}

// precedence orders nodes with settings of their own, those that count most first, from the most specific to the least: what is more specific
// counts more, unless a route that others are below says by its strategy that it wins.
func (k *Kind) precedence(ids []topology.NodeID) []topology.NodeID {
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
