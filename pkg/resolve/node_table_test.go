package resolve

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func TestNodeTable(t *testing.T) {
	var table nodeTable
	if table.hasEntry(3) || table.entryAt(3).void != "" || table.countEntries() != 0 {
		t.Error("an empty table has an entry")
	}
	for _, id := range []topology.NodeID{7, 2, 9} {
		table.setEntry(id, nodePolicies{void: "first"})
	}
	table.setEntry(2, nodePolicies{void: "second"})
	var order []topology.NodeID
	for id, e := range table.eachEntry {
		order = append(order, id)
		table.setEntry(id, nodePolicies{void: e.void + " again"})
	}
	if !slices.Equal(order, []topology.NodeID{7, 2, 9}) || table.countEntries() != 3 {
		t.Errorf("entries of %v, %d of them", order, table.countEntries())
	}
	for id, want := range map[topology.NodeID]string{0: "", 2: "second again", 7: "first again", 8: "", 9: "first again", 10: ""} {
		if got := table.entryAt(id).void; got != want || table.hasEntry(id) != (want != "") {
			t.Errorf("at %d: %q, want %q", id, got, want)
		}
	}
}
