package ocm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// listClusters are all clusters that the input knows, those that are only named in decisions
// included; sorted.
func (w *placementIndex) listClusters() []string {
	var out []string
	for _, o := range w.in.OfKind(clusterKind) {
		out = append(out, o.Ref.Name)
	}
	for _, b := range w.bindings {
		out = append(out, b.placement.clusters...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// newClusterNotes is what there is to say about a cluster.
func newClusterNotes(g *topology.Graph, cluster string, inForce bool, why string) []policy.UnattachedTarget {
	var out []policy.UnattachedTarget
	for _, id := range g.Lookup(clusterRef(cluster)) {
		out = append(out, policy.UnattachedTarget{Node: id, InForce: inForce, Why: why})
	}
	return out
}

// explainAbsences says of every cluster that a policy is not on, why.
func (w *placementIndex) explainAbsences(g *topology.Graph, r *placedPolicy) []policy.UnattachedTarget {
	if r == nil {
		return nil
	}
	var out []policy.UnattachedTarget
	for _, name := range w.listClusters() {
		if r.clusters[name] == nil {
			out = append(out, newClusterNotes(g, name, false, r.explainAbsence(name))...)
		}
	}
	return out
}

// explainAbsence says why a policy is not on a cluster. The path that comes closest to bringing it
// there is named.
func (r *placedPolicy) explainAbsence(cluster string) string {
	switch {
	case r.disabled:
		return "the policy is disabled"
	case len(r.paths) == 0:
		return "no PlacementBinding binds the policy"
	}
	var excluded, restricted, open, undecided []string
	note := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, p := range r.paths {
		decided := p.binding.placement.has[cluster]
		switch {
		case decided && p.excludesCluster(r.object.Ref.Name, cluster):
			note(&excluded, "PolicySet "+p.set.object.Ref.Name+" excludes it"+p.set.exclusionReason(r.object.Ref.Name,
				cluster))
		case decided && p.binding.restricted:
			note(&restricted, "PlacementBinding "+p.binding.object.Ref.Name)
		case p.binding.restricted:
		case p.binding.placement.isUndecided():
			note(&open, p.binding.placement.displayName())
		default:
			note(&undecided, p.binding.placement.displayName())
		}
	}
	switch {
	case excluded != nil:
		return "excluded: " + strings.Join(excluded, ", ")
	case open != nil:
		return "not known: the decisions of " + limitNames(open) + " are not in the input"
	case restricted != nil:
		return "binding restricted: " + limitNames(restricted) +
			" overrides where others place the policy, and places nothing"
	case undecided != nil:
		return "not decided: " + limitNames(undecided) + " did not choose it"
	}
	return "not decided: only restricted bindings bind the policy"
}

// displayName is a placement as people call it.
func (p placement) displayName() string {
	if p.invalid {
		return "a placementRef that cannot be"
	}
	name := p.ref.String()
	if p.object == nil {
		name += ", which does not exist,"
	}
	return name
}

// exclusionReason is why a set says that it leaves a cluster out, in brackets; "" if it does not
// say.
func (s *policySet) exclusionReason(policy, cluster string) string {
	for _, e := range s.object.Body.At("spec", "exclusions").Items {
		if e.Text("policyName") == policy && slices.Contains(listTexts(e.Field("clusterNames")), cluster) &&
			e.Text("reason") != "" {
			return " (" + e.Text("reason") + ")"
		}
	}
	return ""
}

// describeBinding says of the clusters that a binding's placement decided for what the binding does
// there, where that is no override.
func (w *placementIndex) describeBinding(g *topology.Graph, b *binding) []policy.UnattachedTarget {
	if b == nil {
		return nil
	}
	var out []policy.UnattachedTarget
	for _, name := range b.placement.clusters {
		if b.enforces && len(w.overrideUnits(b, name)) > 0 {
			continue
		}
		brings := w.listPoliciesBrought(name, func(p policyPath) bool { return p.binding == b })
		switch {
		case len(brings) > 0:
			out = append(out, newClusterNotes(g, name, true, "brings "+limitNames(brings))...)
		case b.restricted:
			out = append(out, newClusterNotes(g, name, false,
				"binding restricted: no policy of it is placed there, or none that does not enforce already")...)
		default:
			out = append(out, newClusterNotes(g, name, false, "it brings no policy there")...)
		}
	}
	return out
}

// describeSet says which policies a set brings to which clusters.
func (w *placementIndex) describeSet(g *topology.Graph, s *policySet) []policy.UnattachedTarget {
	if s == nil {
		return nil
	}
	var out []policy.UnattachedTarget
	for _, name := range w.listClusters() {
		brings := w.listPoliciesBrought(name, func(p policyPath) bool { return p.set == s })
		var kept []string
		for _, policy := range s.policies {
			if s.excludes[policy][name] {
				kept = append(kept, policy+s.exclusionReason(policy, name))
			}
		}
		words := ""
		if len(brings) > 0 {
			words = "brings " + limitNames(brings)
		}
		if len(kept) > 0 {
			words = strings.TrimPrefix(words+"; excludes "+limitNames(kept), "; ")
		}
		if words == "" {
			words = "no binding of it brings a policy there"
		}
		out = append(out, newClusterNotes(g, name, len(brings) > 0, words)...)
	}
	return out
}

// listPoliciesBrought are the policies that come to a cluster by one of some paths, sorted.
func (w *placementIndex) listPoliciesBrought(cluster string, by func(policyPath) bool) []string {
	var out []string
	for _, r := range w.policies {
		if l := r.clusters[cluster]; l != nil && slices.ContainsFunc(l.via, by) {
			out = append(out, r.object.Ref.Name)
		}
	}
	return out
}

// newProblem is something about an object, at a path of it.
func newProblem(o *model.Object, severity model.Severity, code model.Code, hint string, path []string, format string,
	args ...any) model.Problem {
	return model.Problem{Severity: severity, Code: code, Message: fmt.Sprintf(format, args...),
		Hint: hint}.At(o, path...)
}
