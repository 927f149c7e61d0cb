package ocm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// clusterNames are all clusters that the input knows, those that are only named in decisions included; sorted.
func (w *world) clusterNames() []string {
	var out []string
	for _, o := range w.in.Of(clusterKind) {
		out = append(out, o.Ref.Name)
	}
	for _, b := range w.bindings {
		out = append(out, b.placement.clusters...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// at is what there is to say about a cluster.
func at(g *topology.Graph, cluster string, inForce bool, why string) []policy.Apart {
	var out []policy.Apart
	for _, id := range g.Lookup(clusterRef(cluster)) {
		out = append(out, policy.Apart{Node: id, InForce: inForce, Why: why})
	}
	return out
}

// elsewhere says of every cluster that a policy is not on, why.
func (w *world) elsewhere(g *topology.Graph, r *root) []policy.Apart {
	if r == nil {
		return nil
	}
	var out []policy.Apart
	for _, name := range w.clusterNames() {
		if r.clusters[name] == nil {
			out = append(out, at(g, name, false, r.absence(name))...)
		}
	}
	return out
}

// absence says why a policy is not on a cluster. What comes closest to bringing it there has the word.
func (r *root) absence(cluster string) string {
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
		decided := p.by.placement.has[cluster]
		switch {
		case decided && p.excludes(r.object.Ref.Name, cluster):
			note(&excluded, "PolicySet "+p.set.object.Ref.Name+" excludes it"+p.set.reason(r.object.Ref.Name, cluster))
		case decided && p.by.restricted:
			note(&restricted, "PlacementBinding "+p.by.object.Ref.Name)
		case p.by.restricted:
		case p.by.placement.open():
			note(&open, p.by.placement.name())
		default:
			note(&undecided, p.by.placement.name())
		}
	}
	switch {
	case excluded != nil:
		return "excluded: " + strings.Join(excluded, ", ")
	case open != nil:
		return "not known: the decisions of " + few(open) + " are not in the input"
	case restricted != nil:
		return "binding restricted: " + few(restricted) + " overrides where others place the policy, and places nothing"
	case undecided != nil:
		return "not decided: " + few(undecided) + " did not choose it"
	}
	return "not decided: only restricted bindings bind the policy"
}

// name is a placement as people call it.
func (p placement) name() string {
	if p.invalid {
		return "a placementRef that cannot be"
	}
	name := p.ref.Kind + " " + p.ref.Name
	if p.object == nil {
		name += ", which does not exist,"
	}
	return name
}

// reason is why a set says that it leaves a cluster out, in brackets; "" if it does not say.
func (s *set) reason(policy, cluster string) string {
	for _, e := range s.object.Body.At("spec", "exclusions").Items {
		if e.Text("policyName") == policy && slices.Contains(texts(e.Field("clusterNames")), cluster) && e.Text("reason") != "" {
			return " (" + e.Text("reason") + ")"
		}
	}
	return ""
}

// bound says of the clusters that a binding's placement decided for what the binding does there, where that is no override.
func (w *world) bound(g *topology.Graph, b *binding) []policy.Apart {
	if b == nil {
		return nil
	}
	var out []policy.Apart
	for _, name := range b.placement.clusters {
		if b.enforces && len(w.enforcedBy(b, name)) > 0 {
			continue
		}
		brings := w.bringing(name, func(p path) bool { return p.by == b })
		switch {
		case len(brings) > 0:
			out = append(out, at(g, name, true, "brings "+few(brings))...)
		case b.restricted:
			out = append(out, at(g, name, false, "binding restricted: no policy of it is placed there, or none that does not enforce already")...)
		default:
			out = append(out, at(g, name, false, "it brings no policy there")...)
		}
	}
	return out
}

// brought says which policies a set brings to which clusters.
func (w *world) brought(g *topology.Graph, s *set) []policy.Apart {
	if s == nil {
		return nil
	}
	var out []policy.Apart
	for _, name := range w.clusterNames() {
		brings := w.bringing(name, func(p path) bool { return p.set == s })
		var kept []string
		for _, policy := range s.policies {
			if s.excludes[policy][name] {
				kept = append(kept, policy+s.reason(policy, name))
			}
		}
		words := ""
		if len(brings) > 0 {
			words = "brings " + few(brings)
		}
		if len(kept) > 0 {
			words = strings.TrimPrefix(words+"; excludes "+few(kept), "; ")
		}
		if words == "" {
			words = "no binding of it brings a policy there"
		}
		out = append(out, at(g, name, len(brings) > 0, words)...)
	}
	return out
}

// bringing are the policies that come to a cluster by one of some paths, sorted.
func (w *world) bringing(cluster string, by func(path) bool) []string {
	var out []string
	for _, r := range w.policies {
		if l := r.clusters[cluster]; l != nil && slices.ContainsFunc(l.via, by) {
			out = append(out, r.object.Ref.Name)
		}
	}
	return out
}

// problem is something about an object, at a path of it.
func problem(o *model.Object, severity model.Severity, code model.Code, hint string, path []string, format string, args ...any) model.Problem {
	return model.Problem{Severity: severity, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint}.At(o, path...)
}
