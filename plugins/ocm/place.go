package ocm

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// root is a policy of a hub's namespace, and where it goes.
type root struct {
	object   *model.Object
	disabled bool
	enforced bool // it is enforce by itself: no override changes it
	paths    []path
	clusters map[string]*landing
	names    []string // of the clusters, sorted
}

// landing is a policy on a cluster.
type landing struct {
	via       []path     // that placed it there
	enforcing []*binding // whose override decides: those without sub-filter first, then by name
}

// key is how results name the policy: as its replicas are called.
func (r *root) key() string { return r.object.Ref.Namespace + "." + r.object.Ref.Name }

// addPolicy decides where a policy goes: to every cluster that an unrestricted binding's placement has, if at least one path of that binding
// does not exclude it. A restricted binding never places; its override counts where the policy is placed.
func (w *world) addPolicy(o *model.Object) {
	r := &root{object: o, disabled: o.Get("spec", "disabled") == true, paths: w.paths[o.Ref], clusters: map[string]*landing{},
		enforced: strings.EqualFold(o.Text("spec", "remediationAction"), "enforce")}
	w.policies, w.byPolicy[o.Ref] = append(w.policies, r), r
	if r.disabled {
		return
	}
	for _, p := range r.paths {
		if p.by.restricted {
			continue
		}
		for _, cluster := range p.by.placement.clusters {
			if p.excludes(o.Ref.Name, cluster) {
				continue
			}
			if r.clusters[cluster] == nil {
				r.clusters[cluster] = &landing{}
				r.names = append(r.names, cluster)
			}
			r.clusters[cluster].via = append(r.clusters[cluster].via, p)
		}
	}
	slices.Sort(r.names)
	r.enforce(false)
	r.enforce(true)
	for _, p := range r.paths {
		if p.by.enforces && !slices.Contains(w.overs[p.by], r) {
			w.overs[p.by] = append(w.overs[p.by], r)
		}
	}
}

// enforce adds the overrides of one sort of bindings.
func (r *root) enforce(restricted bool) {
	for _, p := range r.paths {
		if !p.by.enforces || p.by.restricted != restricted {
			continue
		}
		for _, cluster := range p.by.placement.clusters {
			l := r.clusters[cluster]
			if l != nil && !p.excludes(r.object.Ref.Name, cluster) && !slices.Contains(l.enforcing, p.by) {
				l.enforcing = append(l.enforcing, p.by)
			}
		}
	}
}

// open reports whether which clusters a placement chose is not known.
func (p placement) open() bool { return p.unread || p.object != nil && !p.decided }
