package resolve

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// TrafficPaths lists every way by which traffic that is the kind's business reaches a node, whatever holds there and even if there are no policies of
// the kind. It is empty for a node that no traffic reaches. A kind with scopes has none: where its policies meet is settled by themselves.
func (k *Kind) TrafficPaths(id topology.NodeID) []Path {
	along, ok := k.engine.(*pathEngine)
	if !ok {
		return nil
	}
	if k.contexts == nil {
		along.computeContexts()
	}
	if int(id) >= len(k.contexts) {
		return nil
	}
	return along.pathsTo(id)
}

// KindWithoutPolicies returns the kind as it is where nobody has a policy of it: for kinds that
// this input does not have.
func (r *Resolution) KindWithoutPolicies(k *policy.Kind) *Kind {
	out := &Kind{Kind: k, res: r}
	out.engine = &pathEngine{Kind: out, stackTable: &stackTable{Kind: out}}
	return out
}

// Lookup lists the nodes of a target, those outside the graph included.
func (r *Resolution) Lookup(ref model.Ref) []topology.NodeID {
	ids := r.Graph.Lookup(ref)
	if id, ok := r.byRef[ref]; ok {
		return append(ids[:len(ids):len(ids)], id)
	}
	return ids
}
