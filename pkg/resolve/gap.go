package resolve

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Gap is objects that a cluster did not let us read and that may change an answer.
type Gap struct {
	Kind      model.GroupKind
	Namespace string // "": any, or the kind has none
}

// Gaps lists what may change what is in force of the kind at a node, and could not be read; nil for manifests and clusters that were
// read whole. A gap in a namespace from which nothing can get there is not in it.
func (k *Kind) Gaps(id topology.NodeID) []Gap {
	cluster := k.res.Snapshot.Cluster
	if cluster == nil || len(cluster.Gaps) == 0 {
		return nil
	}
	found := map[Gap]bool{}
	for _, g := range cluster.Gaps {
		if g.Kind == k.GroupKind && k.Namespaces != policy.OwnNamespace || slices.Contains(k.Reads, g.Kind) || k.mayTargetAll(g.Kind) {
			found[Gap{Kind: g.Kind}] = true
		}
	}
	k.gapsAbove(id, cluster, found)
	return slices.SortedFunc(maps.Keys(found), func(a, b Gap) int {
		return model.Gap{Kind: a.Kind, Namespace: a.Namespace}.Compare(model.Gap{Kind: b.Kind, Namespace: b.Namespace})
	})
}

// mayTargetAll reports whether a kind of objects that have no namespace is one that policies of k may be attached to.
func (k *Kind) mayTargetAll(gk model.GroupKind) bool {
	return clusterScoped(gk) && slices.ContainsFunc(k.Targets, func(f policy.TargetForm) bool { return f.GroupKind == gk })
}

// gapsAbove adds the gaps in the namespaces of the node and of all above it, from which traffic comes.
func (k *Kind) gapsAbove(id topology.NodeID, cluster *model.Cluster, to map[Gap]bool) {
	seen := map[topology.NodeID]bool{}
	var visit func(id topology.NodeID)
	visit = func(id topology.NodeID) {
		if seen[id] {
			return
		}
		seen[id] = true
		n := k.res.Node(id)
		namespace := n.Ref.Namespace
		if cluster.Misses(k.GroupKind, namespace) && namespace != "" {
			to[Gap{k.GroupKind, namespace}] = true
		}
		if n.Object == nil && cluster.Misses(n.Ref.GroupKind(), namespace) {
			to[Gap{n.Ref.GroupKind(), namespace}] = true
		}
		if int(id) >= k.res.Graph.Len() {
			return
		}
		for _, a := range k.res.Graph.Attachments(id) {
			if a.State == topology.Unknown && !a.Missing { // the labels of the route's namespace
				if labels := (model.GroupKind{Kind: "Namespace"}); cluster.Misses(labels, namespace) {
					to[Gap{labels, ""}] = true
				}
			}
		}
		for _, p := range k.res.Graph.Parents(k.Family, id) {
			visit(p)
		}
	}
	visit(id)
}

// Unread names the lists that are gaps, as an administrator would: httproutes.gateway.networking.k8s.io in shop.
func (r *Resolution) Unread(gaps []Gap) []string {
	var out []string
	for _, g := range gaps {
		name := policy.Plural(g.Kind.Kind)
		if served := r.Snapshot.Cluster.Serves(g.Kind); served != nil {
			name = served.Plural
		}
		if g.Kind.Group != "" {
			name += "." + g.Kind.Group
		}
		if g.Namespace != "" {
			name += " in " + g.Namespace
		}
		out = append(out, name)
	}
	return out
}
