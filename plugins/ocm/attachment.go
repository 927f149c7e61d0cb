package ocm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// policyLevel is the level of policies themselves, below that of bindings.
const policyLevel topology.Role = "policy"

// newPlacementFinder attaches policies to the clusters that they go to.
func newPlacementFinder(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	w := buildPlacementIndex(in)
	return policy.Finder{Find: func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
		r := w.byPolicy[p.Ref()]
		if r == nil {
			return nil, nil
		}
		var out []policy.Attached
		for _, name := range r.names {
			for _, id := range g.Lookup(clusterRef(name)) {
				here := &policy.TargetDetails{}
				for _, via := range r.clusters[name].via {
					here.Parents = append(here.Parents, via.findNodes(g)...)
				}
				out = append(out, policy.Attached{Policy: p, Node: id, Ref: -1, Level: policyLevel, Details: here})
			}
		}
		return out, r.findProblems()
	}, FindUnattached: func(p *policy.Policy) []policy.UnattachedTarget {
		return w.explainAbsences(g,
			w.byPolicy[p.Ref()])
	}}
}

// newOverrideFinder attaches bindings with an override to the clusters where it decides about a
// policy. What it sets is one field of each such policy.
func newOverrideFinder(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	w := buildPlacementIndex(in)
	byRef := map[model.Ref]*binding{}
	for _, b := range w.bindings {
		byRef[b.object.Ref] = b
	}
	return policy.Finder{Find: func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
		b := byRef[p.Ref()]
		if b == nil {
			return nil, nil
		}
		var out []policy.Attached
		for _, name := range b.placement.clusters {
			units := w.overrideUnits(b, name)
			if len(units) == 0 {
				continue
			}
			for _, id := range g.Lookup(clusterRef(name)) {
				a := policy.Attached{Policy: p, Node: id, Ref: -1, Level: topology.Binding,
					Details: &policy.TargetDetails{Units: units}}
				if b.restricted {
					a.Index = 1
				}
				out = append(out, a)
			}
		}
		return out, w.bindingProblems(b)
	}, FindUnattached: func(p *policy.Policy) []policy.UnattachedTarget { return w.describeBinding(g, byRef[p.Ref()]) }}
}

// overrideUnits is what a binding sets on a cluster: the remediationAction of the policies there
// that do not enforce by themselves.
func (w *placementIndex) overrideUnits(b *binding, cluster string) []merge.Unit {
	var out []merge.Unit
	for _, r := range w.overridden[b] {
		if l := r.clusters[cluster]; l != nil && !r.enforced && slices.Contains(l.enforcing, b) {
			out = append(out, merge.Unit{Path: merge.KeyPath("policies", r.replicaName(), "remediationAction"),
				Value: b.object.Text("bindingOverrides", "remediationAction")})
		}
	}
	return out
}

// listOverridden are the names of the policies that a binding's override decides about on a
// cluster.
func (w *placementIndex) listOverridden(b *binding, cluster string) []string {
	var out []string
	for _, u := range w.overrideUnits(b, cluster) {
		out = append(out, strings.TrimPrefix(u.Path[1].Name, b.object.Ref.Namespace+"."))
	}
	return out
}

// compareBindingsFirst puts bindings above policies: what they say is an override of these.
func compareBindingsFirst(a, b *policy.Attached) int {
	rank := func(a *policy.Attached) int {
		if a.Policy.Ref().GroupKind() == bindingKind {
			return 0
		}
		return 1
	}
	return cmp.Compare(rank(a), rank(b))
}

// newMemberFinder attaches nothing: a set brings its policies, and sets nothing itself.
func newMemberFinder(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	w := buildPlacementIndex(in)
	return policy.Finder{Find: func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
		return nil, w.setProblems(w.sets[p.Ref()])
	},
		FindUnattached: func(p *policy.Policy) []policy.UnattachedTarget { return w.describeSet(g, w.sets[p.Ref()]) }}
}
