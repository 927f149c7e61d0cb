package picture

import (
	"fmt"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// shelf is a Gateway with so many routes, of which each line has a count.
func shelf(routes, count int) *graph.Topology {
	ref := func(kind, name string) model.Ref {
		return model.Ref{Group: "gateway.networking.k8s.io", Kind: kind, Namespace: "shop", Name: name}
	}
	t := &graph.Topology{Nodes: []graph.GraphNode{{ID: "gw", Kind: "gateway", Ref: ref("Gateway", "front"),
		Labels: map[string]string{}}}}
	for i := range routes {
		id := fmt.Sprint("route", i)
		t.Nodes = append(t.Nodes, graph.GraphNode{ID: id, Kind: "route", Ref: ref("HTTPRoute", id),
			Labels: map[string]string{}})
		t.Edges = append(t.Edges, graph.GraphEdge{From: "gw", To: id, Kind: graph.EdgeParent, Count: count})
	}
	return t
}

// A picture with one column that is much longer than the others are wide does not fit, nor does one
// with many labels between two columns.
func TestFits(t *testing.T) {
	for routes, want := range map[int]bool{0: true, 1: true, 8: true, 40: false, 1000: false} {
		if got := (DOTOptions{}).Fits(shelf(routes, 1)); got != want {
			t.Errorf("%d routes fit: %v", routes, got)
		}
	}
	bare, labelled := NewPicture(shelf(10, 1)), NewPicture(shelf(10, 7))
	for i := range labelled.Edges { // as between Gateways and namespaces, where lines are many and boxes few
		labelled.Edges = append(labelled.Edges, labelled.Edges[i], labelled.Edges[i], labelled.Edges[i])
	}
	_, low := bare.estimateSize()
	if _, high := labelled.estimateSize(); high <= low {
		t.Errorf("labels take no room: %d, without them %d", high, low)
	}
	if wide, high := NewPicture(&graph.Topology{}).estimateSize(); wide < 1 || high < 1 {
		t.Errorf("nothing is %d by %d", wide, high)
	}
}
