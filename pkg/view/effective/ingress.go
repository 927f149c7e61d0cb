package effective

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// ingressKind is the kind under which the settings of Ingress paths are listed.
var ingressKind = model.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}

// listIngressPolicies returns what is in force on the paths of Ingresses: for each path that an
// Ingress has, and for the one that the proxy adds to a host.
func listIngressPolicies(q *view.Query) []view.EffectivePolicy {
	if !asksIngresses(q) {
		return nil
	}
	var out []view.EffectivePolicy
	for _, p := range q.Proxies {
		for i := range p.Locations {
			l := &p.Locations[i]
			if l.Ingress == (model.Ref{}) {
				continue // a host that no Ingress names
			}
			if q.Ingresses == nil || slices.Contains(q.Ingresses, l.Ingress) {
				out = append(out, NewIngressPolicy(l.Ingress, l.Origin, l.Host, l.Path, l.Settings))
			}
		}
	}
	return out
}

// NewIngressPolicy returns the settings in force on a path of a host. The Ingress whose annotations
// hold there is the target.
func NewIngressPolicy(ref model.Ref, origin model.Origin, host, path string,
	settings []ingress.Setting) view.EffectivePolicy {
	out := view.EffectivePolicy{PolicyKind: ingressKind.String(), Target: ref,
		Paths: []view.Path{{Hostname: host, IngressPath: path}}, Rules: []view.Rule{}, Policies: []view.PolicyUse{},
		Lost: []view.RuleLoss{}}
	spec := map[string]any{}
	for i := range settings {
		s := &settings[i]
		source := view.Source{Target: &out.Target, Level: "path"}
		why := "default of the proxy"
		if s.Source == (model.Ref{}) {
			source.Builtin = "default"
		} else {
			from := s.Source
			source.Policy, why = &from, s.Field
			if from == ref {
				source.Origin = &origin
			}
			if !slices.ContainsFunc(out.Policies, func(u view.PolicyUse) bool { return *u.Policy == from }) {
				out.Policies = append(out.Policies, view.PolicyUse{Policy: &from, Target: &out.Target, Level: "path",
					Origin: source.Origin, Role: "contributing"})
			}
		}
		out.Rules = append(out.Rules, view.Rule{Name: s.Name, Value: s.Value, Sources: []view.Source{source}, Why: why,
			Lost: []view.Loss{}})
		setSpecField(spec, strings.Split(s.Name, "."), s.Value)
	}
	out.Spec = spec
	out.ID = collect.HashContent(&out)
	return out
}

// withoutDefaults returns the settings of a path that an object sets.
func withoutDefaults(item *view.EffectivePolicy) *view.EffectivePolicy {
	out := *item
	out.Rules = slices.DeleteFunc(slices.Clone(item.Rules),
		func(r view.Rule) bool { return r.Sources[0].Builtin != "" })
	return &out
}

// defaultsNote says that the table leaves out defaults of proxies.
func (l *EffectivePolicyList) defaultsNote(o view.TableOptions) []string {
	isDefault := func(r view.Rule) bool { return r.Sources[0].Builtin != "" }
	if o.Wide || !slices.ContainsFunc(l.Items, func(e view.EffectivePolicy) bool {
		return e.PolicyKind == ingressKind.String() && slices.ContainsFunc(e.Rules, isDefault)
	}) {
		return nil
	}
	return []string{"defaults of the proxy are listed by -o wide"}
}

// setSpecField sets a field below a map.
func setSpecField(spec map[string]any, path []string, value string) {
	for _, name := range path[:len(path)-1] {
		below, ok := spec[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			spec[name] = below
		}
		spec = below
	}
	spec[path[len(path)-1]] = value
}

// asksIngresses reports whether a question is about Ingresses as well.
func asksIngresses(q *view.Query) bool {
	return (q.Targets == nil || q.Ingresses != nil) && (q.Kinds == nil || slices.Contains(q.Kinds, ingressKind))
}

// collectProxyProblems returns what the proxies of Ingress objects cannot do, if the question is about them.
func collectProxyProblems(q *view.Query) []model.Problem {
	if !asksIngresses(q) {
		return nil
	}
	var out []model.Problem
	for _, p := range q.Proxies {
		out = append(out, p.Problems...)
	}
	return out
}
