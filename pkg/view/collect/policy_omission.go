package collect

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// FindPolicyOmission returns what was not read and may make a policy that is in force at one of the
// nodes; nil if nothing may. Policies are where the nodes are, or what is above them.
func (a *Collector) FindPolicyOmission(nodes []topology.NodeID) *model.Omission {
	if !a.Resolution.Snapshot.HasOmissions() {
		return nil
	}
	seen, namespaces := map[topology.NodeID]bool{}, map[string]bool{"": true}
	var find func(id topology.NodeID) *model.Omission
	find = func(id topology.NodeID) *model.Omission {
		if seen[id] || int(id) >= a.Resolution.Graph.Len() {
			return nil
		}
		seen[id] = true
		if ns := a.Resolution.Node(id).Ref.Namespace; !namespaces[ns] {
			namespaces[ns] = true
			if o := a.findPolicyOmissionIn(ns); o != nil {
				return o
			}
		}
		for _, above := range a.Resolution.Graph.Parents(topology.All, id) {
			if o := find(above); o != nil {
				return o
			}
		}
		return nil
	}
	for _, id := range nodes {
		if o := find(id); o != nil {
			return o
		}
	}
	return nil
}

// findPolicyOmissionIn returns what was not read and may make a policy of the kinds asked for in a
// namespace, or nil.
func (a *Collector) findPolicyOmissionIn(namespace string) *model.Omission {
	if a.Query.Kinds == nil {
		return a.Resolution.Snapshot.FindPolicyOmission(namespace)
	}
	for _, gk := range a.Query.Kinds {
		if o := a.Resolution.Snapshot.FindOmission(gk, namespace); o != nil {
			return o
		}
	}
	return nil
}
