package resolve

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// StackID names a stack of one kind. 0 is the empty one.
type StackID int32

// stacks are the stacks of a kind whose policies hold along paths, each once.
type stacks struct {
	*Kind
	list  []push // by StackID
	known map[push]StackID
}

// push is a stack: another one, and what comes below it: a node whose policies do, or a fact of the path that the kind's plans ask for.
type push struct {
	under StackID
	node  topology.NodeID // None for a fact
	fact  fact
}

type fact struct{ name, value string }

// place is a node that stands on a stack, or is reached with one.
type place struct {
	stack StackID
	node  topology.NodeID
}

// own is what a node adds to the stacks that reach it.
type own struct {
	nodes []topology.NodeID // whose policies hold there
	facts []fact
}

// adds is what the node adds to the stacks that reach it.
func (k *routed) adds(id topology.NodeID) own {
	out := own{nodes: k.holding(id)}
	if int(id) < len(k.facts) {
		out.facts = k.facts[id]
	}
	return out
}

// readFacts reads the facts that the kind's plans ask for, and which nodes have settings of their own, once.
func (k *routed) readFacts() {
	faulty := k.faulty()
	if len(k.Asked) == 0 && k.Builtins == nil && len(faulty) == 0 && k.Content.Entries == nil {
		return
	}
	k.facts = make([][]fact, k.res.Graph.Len())
	for i := range k.facts {
		id := topology.NodeID(i)
		for _, name := range k.Asked {
			if name == topology.FactTarget && !k.Reaches(k.res.Graph.Node(id).Role) {
				continue // nobody asks for a result there
			}
			if value := k.res.Graph.PathFact(id, name); value != "" {
				k.facts[i] = append(k.facts[i], fact{name, value})
			}
		}
		if f, ok := k.builtin(id); ok {
			k.facts[i] = append(k.facts[i], f)
		}
		if f, ok := k.ownEntries(id); ok {
			k.facts[i] = append(k.facts[i], f)
		}
		if faulty[id] {
			k.facts[i] = append(k.facts[i], fact{inError, strconv.Itoa(i)})
		}
	}
}

// with adds to each stack the policies that hold at the node.
func (k *routed) with(stacks []StackID, id topology.NodeID) []StackID {
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
func (k *routed) holding(id topology.NodeID) []topology.NodeID {
	var own []topology.NodeID
	if k.beside && int(id) < k.res.Graph.Len() {
		for _, above := range k.res.Graph.Above(id) {
			if _, holds := k.attached[above]; holds {
				own = append(own, above)
			}
		}
	}
	if _, holds := k.attached[id]; holds {
		own = append(own, id)
	}
	return own
}

// pushAll interns the stack s with what a node adds below it. A node that is in it already counts where it is: once, at its least
// specific place.
func (k *stacks) pushAll(s StackID, own own) StackID {
	add := func(key push) {
		id, ok := k.known[key]
		if !ok {
			id = StackID(len(k.list))
			k.list = append(k.list, key)
			k.known[key] = id
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
func (k *stacks) standing(s StackID, n topology.NodeID, own own) bool {
	return (len(own.nodes) > 1 || k.beside) && k.stands(s, n)
}

// leadsTo reports whether the stack under with what a node adds below it is the stack s.
func (k *stacks) leadsTo(under StackID, own own, s StackID) bool {
	found, ok := k.onto(under, own)
	return ok && found == s
}

// onto is the stack s with what a node adds below it, false if there is none.
func (k *stacks) onto(s StackID, own own) (StackID, bool) {
	step := func(key push) bool {
		next, ok := k.known[key]
		s = next
		return ok
	}
	for _, f := range own.facts {
		if !step(push{s, topology.None, f}) {
			return 0, false
		}
	}
	for _, n := range own.nodes {
		if !k.standing(s, n, own) && !step(push{under: s, node: n}) {
			return 0, false
		}
	}
	return s, true
}

// nodes lists the nodes of a stack, least specific first.
func (k *stacks) nodes(s StackID) []topology.NodeID {
	var out []topology.NodeID
	for ; s != 0; s = k.list[s].under {
		if k.list[s].node != topology.None {
			out = append(out, k.list[s].node)
		}
	}
	slices.Reverse(out)
	return out
}

// Empty reports whether no policy is in the stack.
func (k *Kind) Empty(s StackID) bool { return k.bare[s] }

// fact is what the paths of the stack have to say about one of the facts that plans ask for, the last word of several.
func (k *stacks) fact(s StackID, name string) string {
	for ; s != 0; s = k.list[s].under {
		if k.list[s].fact.name == name {
			return k.list[s].fact.value
		}
	}
	return ""
}
