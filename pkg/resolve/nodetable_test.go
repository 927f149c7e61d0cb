package resolve

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func TestNodeTable(t *testing.T) {
	var table nodeTable
	if table.has(3) || table.at(3).void != "" || table.len() != 0 {
		t.Error("an empty table has an entry")
	}
	for _, id := range []topology.NodeID{7, 2, 9} {
		table.put(id, nodePolicies{void: "first"})
	}
	table.put(2, nodePolicies{void: "second"})
	var order []topology.NodeID
	for id, e := range table.all {
		order = append(order, id)
		table.put(id, nodePolicies{void: e.void + " again"})
	}
	if !slices.Equal(order, []topology.NodeID{7, 2, 9}) || table.len() != 3 {
		t.Errorf("entries of %v, %d of them", order, table.len())
	}
	for id, want := range map[topology.NodeID]string{0: "", 2: "second again", 7: "first again", 8: "", 9: "first again", 10: ""} {
		if got := table.at(id).void; got != want || table.has(id) != (want != "") {
			t.Errorf("at %d: %q, want %q", id, got, want)
		}
	}
}
