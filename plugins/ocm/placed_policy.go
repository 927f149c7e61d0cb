package ocm

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// placedPolicy is a policy of a hub's namespace, and where it goes.
type placedPolicy struct {
	object   *model.Object
	disabled bool
	enforced bool // it is enforce by itself: no override changes it
	paths    []policyPath
	clusters map[string]*clusterPlacement
	names    []string // of the clusters, sorted
}

// clusterPlacement is a policy on a cluster.
type clusterPlacement struct {
	via       []policyPath // that placed it there
	enforcing []*binding   // whose override decides: those without sub-filter first, then by name
}

// replicaName is how results name the policy: as its replicas are called.
func (r *placedPolicy) replicaName() string { return r.object.Ref.Namespace + "." + r.object.Ref.Name }

// addPolicy decides where a policy goes: to every cluster that an unrestricted binding's placement
// has, if at least one path of that binding does not exclude it. A restricted binding never places;
// its override counts where the policy is placed.
func (w *placementIndex) addPolicy(o *model.Object) {
	r := &placedPolicy{object: o, disabled: o.Get("spec", "disabled") == true, paths: w.paths[o.Ref],
		clusters: map[string]*clusterPlacement{},
		enforced: strings.EqualFold(o.Text("spec", "remediationAction"), "enforce")}
	w.policies, w.byPolicy[o.Ref] = append(w.policies, r), r
	if r.disabled {
		return
	}
	for _, p := range r.paths {
		if p.binding.restricted {
			continue
		}
		for _, cluster := range p.binding.placement.clusters {
			if p.excludesCluster(o.Ref.Name, cluster) {
				continue
			}
			if r.clusters[cluster] == nil {
				r.clusters[cluster] = &clusterPlacement{}
				r.names = append(r.names, cluster)
			}
			r.clusters[cluster].via = append(r.clusters[cluster].via, p)
		}
	}
	slices.Sort(r.names)
	r.addOverrides(false)
	r.addOverrides(true)
	for _, p := range r.paths {
		if p.binding.enforces && !slices.Contains(w.overridden[p.binding], r) {
			w.overridden[p.binding] = append(w.overridden[p.binding], r)
		}
	}
}

// addOverrides adds the overrides of one sort of bindings.
func (r *placedPolicy) addOverrides(restricted bool) {
	for _, p := range r.paths {
		if !p.binding.enforces || p.binding.restricted != restricted {
			continue
		}
		for _, cluster := range p.binding.placement.clusters {
			l := r.clusters[cluster]
			if l != nil && !p.excludesCluster(r.object.Ref.Name, cluster) && !slices.Contains(l.enforcing, p.binding) {
				l.enforcing = append(l.enforcing, p.binding)
			}
		}
	}
}

// isUndecided reports whether which clusters a placement chose is not known.
func (p placement) isUndecided() bool { return p.unread || p.object != nil && !p.decided }
