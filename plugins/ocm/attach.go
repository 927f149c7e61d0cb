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

// placed attaches policies to the clusters that they go to.
func placed(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	w := readWorld(in)
	return policy.Finder{Find: func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
		r := w.byPolicy[p.Ref()]
		if r == nil {
			return nil, nil
		}
		var out []policy.Attached
		for _, name := range r.names {
			for _, id := range g.Lookup(clusterRef(name)) {
				here := &policy.Here{}
				for _, via := range r.clusters[name].via {
					here.Via = append(here.Via, via.node(g)...)
				}
				out = append(out, policy.Attached{Policy: p, Node: id, Ref: -1, Level: policyLevel, Here: here})
			}
		}
		return out, r.policyProblems()
	}, Apart: func(p *policy.Policy) []policy.Apart { return w.elsewhere(g, w.byPolicy[p.Ref()]) }}
}

// overrides attaches bindings with an override to the clusters where it decides about a policy. What it sets is one field of each such policy.
func overrides(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	w := readWorld(in)
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
			units := w.enforcedBy(b, name)
			if len(units) == 0 {
				continue
			}
			for _, id := range g.Lookup(clusterRef(name)) {
				a := policy.Attached{Policy: p, Node: id, Ref: -1, Level: topology.Binding, Here: &policy.Here{Units: units}}
				if b.restricted {
					a.Index = 1
				}
				out = append(out, a)
			}
		}
		return out, w.bindingProblems(b)
	}, Apart: func(p *policy.Policy) []policy.Apart { return w.bound(g, byRef[p.Ref()]) }}
}

// enforcedBy is what a binding sets on a cluster: the remediationAction of the policies there that do not enforce by themselves.
func (w *world) enforcedBy(b *binding, cluster string) []merge.Unit {
	var out []merge.Unit
	for _, r := range w.overs[b] {
		if l := r.clusters[cluster]; l != nil && !r.enforced && slices.Contains(l.enforcing, b) {
			out = append(out, merge.Unit{Path: merge.Keys("policies", r.key(), "remediationAction"), Value: b.object.Text("bindingOverrides", "remediationAction")})
		}
	}
	return out
}

// enforcing are the names of the policies that a binding's override decides about on a cluster.
func (w *world) enforcing(b *binding, cluster string) []string {
	var out []string
	for _, u := range w.enforcedBy(b, cluster) {
		out = append(out, strings.TrimPrefix(u.Path[1].Name, b.object.Ref.Namespace+"."))
	}
	return out
}

// bindingsFirst puts bindings above policies: what they say is an override of these.
func bindingsFirst(a, b *policy.Attached) int {
	rank := func(a *policy.Attached) int {
		if a.Policy.Ref().GroupKind() == bindingKind {
			return 0
		}
		return 1
	}
	return cmp.Compare(rank(a), rank(b))
}

// members attaches nothing: a set brings its policies, and sets nothing itself.
func members(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	w := readWorld(in)
	return policy.Finder{Find: func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
		return nil, w.setProblems(w.sets[p.Ref()])
	},
		Apart: func(p *policy.Policy) []policy.Apart { return w.brought(g, w.sets[p.Ref()]) }}
}
