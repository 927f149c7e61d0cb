package graph

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// GraphNode is a target, a policy, an Ingress, or a point on the way of the request that is asked
// about. Kind is the role of a target, "policy", "ingress", or "point". A node that stands
// for several objects, which a collapsed picture draws as one, lists them in Members; its Ref then
// has no object's name.
type GraphNode struct {
	ID      string            `json:"id"`                // by which edges name it
	Ref     model.Ref         `json:"ref"`               // the object
	Kind    string            `json:"kind"`              // the role of a target, policy, ingress, or point
	Labels  map[string]string `json:"labels"`            // facts worth showing: policyKind, hostnames, protection, state, count, verdict, …
	Members []model.Ref       `json:"members,omitempty"` // the objects that it stands for, if there are several
}

// GraphEdge joins two nodes. Kind: parent (traffic flows from → to), targets (policy → its target),
// effective (policy → an effective target where it is in force), overridden (policy → one where it
// is not, and lost), conditionFalse (policy → one where it does not apply, because its condition is
// false), bypassed (policy → a point where it is in force, and which the request does not pass).
//
// State is, on an effective edge, "partial" where only part of the policy is in force; on a targets
// edge what became of the policy at all that it reaches through that target: "effective", "partial"
// (in part, or not everywhere), "overridden" (nowhere), "conditionFalse" (nowhere, because its
// condition is false), "dangling" (the target is not in the input) or nothing (it reaches nothing,
// or nothing is known); on a parent edge "taken" if the request asked about goes that way, "stopped"
// if it would and something before denies it, "bypassed" if it leads to a point that the request does
// not pass, "dangling" if what it points to is not in the input.
type GraphEdge struct {
	From string `json:"from"` // the id of a node
	To   string `json:"to"`   // the id of a node
	Kind string `json:"kind"` // what the edge says
	// partial, effective, overridden, conditionFalse, dangling, taken, stopped or bypassed; see the edge
	State string   `json:"state,omitempty"`
	Count int      `json:"count,omitempty"` // how many edges a collapsed picture draws as this one, if more than one
	By    []string `json:"by,omitempty"`    // the ids of the policies that won, on overridden and partial edges
	Paths []string `json:"paths,omitempty"` // host and path of an Ingress, of those that lead to a Service
	// "different" where a proxy does not do what the edge says; only looked for where dumps were
	// given
	Proxy string `json:"proxy,omitempty"`
}

// Topology answers `graph`.
type Topology struct {
	view.Envelope
	Focus []string `json:"focus,omitempty"` // the ids of the nodes that it is about
	// "rules", "route" or "namespace": nodes stand for what looks alike
	Collapsed string      `json:"collapsed,omitempty"`
	Nodes     []GraphNode `json:"nodes"` // sorted by id
	Edges     []GraphEdge `json:"edges"` // sorted by their ends

	// whose ways are marked, where a class of requests is asked about
	Requests *GraphRequests `json:"requests,omitempty"`
}

// Empty reports whether nothing is drawn.
func (t *Topology) Empty() bool { return len(t.Nodes) == 0 }

// MeshSuffix tells a Service as a parent of routes from the same one as a backend, where nodes are
// called by their references.
func (n *GraphNode) MeshSuffix() string {
	if n.Kind == string(topology.Frontend) {
		return " (mesh)"
	}
	return ""
}

// FilterNames are the objects and policies of the graph, each once; of a node that stands for
// several, these.
func (t *Topology) FilterNames() []string {
	var refs []model.Ref
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.CollectiveName() == "" {
			refs = append(refs, n.Ref)
		} else {
			refs = append(refs, n.Members...)
		}
	}
	return view.UniqueObjectNames(refs, func(r *model.Ref) *model.Ref { return r })
}
