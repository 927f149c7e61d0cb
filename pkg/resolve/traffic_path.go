package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// TrafficPaths lists every way by which traffic that is the kind's business reaches a node,
// whatever holds there and even if there are no policies of the kind. It is empty for a node that
// no traffic reaches. A kind with scopes has none: where its policies meet is settled by
// themselves.
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

// PathsVia returns the ways by which a policy itself comes to a node, of those on which a stack
// holds there.
func (k *Kind) PathsVia(p *policy.Policy, id topology.NodeID, ways []Path) []Path {
	at := k.Table[id].Policies
	i := slices.IndexFunc(at, func(a policy.Attached) bool { return a.Policy == p })
	if i < 0 || at[i].Details == nil || at[i].Details.Parents == nil {
		return ways
	}
	return slices.DeleteFunc(slices.Clone(ways), func(w Path) bool {
		return len(w) < 2 ||
			!slices.Contains(at[i].Details.Parents, w[len(w)-2])
	})
}
