package resolve

import "github.com/dopolicy/kubectl-dopolicy/pkg/topology"

// nodeTable says what is attached where. It finds the entry of a node by the node's number: paths ask at every step.
type nodeTable struct {
	places  []int32 // by node: the position of its entry, counted from 1; 0: it has none
	nodes   []topology.NodeID
	entries []nodePolicies
}

// at is the entry of a node, the zero entry if it has none.
func (t *nodeTable) at(id topology.NodeID) nodePolicies {
	if !t.has(id) {
		return nodePolicies{}
	}
	return t.entries[t.places[id]-1]
}

// has reports whether the node has an entry.
func (t *nodeTable) has(id topology.NodeID) bool { return int(id) < len(t.places) && t.places[id] > 0 }

// put gives the node an entry, in place of the one that it has.
func (t *nodeTable) put(id topology.NodeID, e nodePolicies) {
	if t.has(id) {
		t.entries[t.places[id]-1] = e
		return
	}
	if more := int(id) + 1 - len(t.places); more > 0 {
		t.places = append(t.places, make([]int32, more)...)
	}
	t.nodes, t.entries = append(t.nodes, id), append(t.entries, e)
	t.places[id] = int32(len(t.entries))
}

// len is the number of nodes with an entry.
func (t *nodeTable) len() int { return len(t.entries) }

// all goes over the entries in the order in which the nodes got theirs. The entry at hand may be replaced meanwhile.
func (t *nodeTable) all(yield func(topology.NodeID, nodePolicies) bool) {
	for i, id := range t.nodes {
		if !yield(id, t.entries[i]) {
			return
		}
	}
}
