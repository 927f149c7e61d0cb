package resolve

import "github.com/dopolicy/kubectl-dopolicy/pkg/topology"

// nodeTable says what is attached where. It finds the entry of a node by the node's number: paths ask at every step.
type nodeTable struct {
	positions []int32 // by node: the position of its entry, counted from 1; 0: it has none
	nodes     []topology.NodeID
	entries   []nodePolicies
}

// entryAt returns the entry of a node, the zero entry if it has none.
func (t *nodeTable) entryAt(id topology.NodeID) nodePolicies {
	if !t.hasEntry(id) {
		return nodePolicies{}
	}
	return t.entries[t.positions[id]-1]
}

// hasEntry reports whether the node has an entry.
func (t *nodeTable) hasEntry(id topology.NodeID) bool {
	return int(id) < len(t.positions) && t.positions[id] > 0
}

// setEntry gives the node an entry, in place of the one that it has.
func (t *nodeTable) setEntry(id topology.NodeID, e nodePolicies) {
	if t.hasEntry(id) {
		t.entries[t.positions[id]-1] = e
		return
	}
	if more := int(id) + 1 - len(t.positions); more > 0 {
		t.positions = append(t.positions, make([]int32, more)...)
	}
	t.nodes, t.entries = append(t.nodes, id), append(t.entries, e)
	t.positions[id] = int32(len(t.entries))
}

// countEntries returns the number of nodes with an entry.
func (t *nodeTable) countEntries() int { return len(t.entries) }

// eachEntry iterates over the entries in the order in which the nodes got theirs. The entry at hand
// may be replaced meanwhile.
func (t *nodeTable) eachEntry(yield func(topology.NodeID, nodePolicies) bool) {
	for i, id := range t.nodes {
		if !yield(id, t.entries[i]) {
			return
		}
	}
}
