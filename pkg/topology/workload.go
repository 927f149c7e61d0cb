package topology

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// Namespaced is the family of what runs in namespaces: namespace > workload.
const Namespaced = "namespaced"

// Workload is the role of a Pod, or of an object with a pod template that stands for its pods: none
// of them is in the input.
const Workload Role = "workload"

// Pod reads a workload.
func (g *Graph) Pod(id NodeID) workload.Pod { return workload.ReadPod(g.nodes.list[id].Object) }

// SelectsWorkload reports whether a workload is selected.
func (g *Graph) SelectsWorkload(s selector.PodSelector, id NodeID) selector.Truth {
	o := g.nodes.list[id].Object
	if !s.Pods.SelectsLabels(workload.PodLabels(o)) || workload.IsOnHostNetwork(o) {
		return selector.No
	}
	return g.SelectsPodsIn(s, o.Ref.Namespace)
}
