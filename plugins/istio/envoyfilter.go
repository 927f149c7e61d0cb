package istio

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// patching is what EnvoyFilters make of a proxy, or of all proxies of a Namespace: a list of patches, which one after the other see what those
// before them made (spec §10).
func patching(at place) *policy.Situation {
	if at.service != nil {
		return nil
	}
	root, version := at.world.root, at.settings.Text("istio.proxyVersion")
	home, _ := at.spaces()
	return &policy.Situation{Key: key(home), Compare: func(a, b *policy.Policy) int {
		return cmp.Or(cmp.Compare(priority(a.Object), priority(b.Object)), cmp.Compare(away(a, root), away(b, root)))
	}, Fold: func(layers []*policy.Policy) merge.PlanFunc {
		return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return patches(layers, version) }
	}}
}

// priority is that of an EnvoyFilter or an extension; 0 if it has none.
func priority(o *model.Object) float64 {
	switch v := o.Get("spec", "priority").(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// away is 0 for policies of a namespace.
func away(p *policy.Policy, namespace string) int {
	if p.Ref().Namespace == namespace {
		return 0
	}
	return 1
}

// longest is how long a regular expression for versions may be; a longer one matches nothing.
const longest = 1024

// patches lists the patches of all filters; those for other versions of the proxy are left out, if it is known which version it has.
func patches(layers []*policy.Policy, version string) ([]merge.Unit, []merge.Effect) {
	var m merger
	for i, p := range layers {
		n := 0
		for _, patch := range p.Object.Body.At("spec", "configPatches").Items {
			path := merge.Path{{Name: "configPatches"}, {Name: p.Ref().Namespace}, {Name: p.Ref().Name}, {Name: strconv.Itoa(n), Form: merge.Entry}}
			n++
			want := patch.At("match", "proxy", "proxyVersion").Text()
			if !versionFits(want, version) {
				m.Lose(path, patch.Value(), i, merge.Ignored)
				continue
			}
			m.Take(path, patch.Value(), i)
		}
	}
	return m.Units, m.Effects
}

// versionFits reports whether a patch for some versions is for this one; "" is a version that is not known.
func versionFits(want, version string) bool {
	if want == "" {
		return true
	}
	if len(want) > longest {
		return false
	}
	re, err := regexp.Compile(want)
	return err != nil || version == "" || re.MatchString(version) // what is no expression is none
}

// filtered finds the targets of an EnvoyFilter. References to Services are documented, and not implemented (spec §2).
func filtered(w *world, p *policy.Policy) (found, []model.Problem) {
	all, problems := attached(w, p)
	var out found
	for _, t := range all.targets {
		if t.service == nil {
			out.targets = append(out.targets, t)
		}
	}
	if selectionOf(p.Object).plain() {
		out.namespaces = w.within(p.Ref().Namespace)
	}
	if len(out.targets) < len(all.targets) && len(out.targets) == 0 {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: "it names what a waypoint serves, which Istio documents and does not do: it holds nowhere"}.At(p.Object))
	}
	for _, patch := range p.Object.Body.At("spec", "configPatches").Items {
		if m := patch.At("match", "proxy"); m.Len() > 0 && p.Kind.Settings.Text("istio.proxyVersion") == "" || m.Field("metadata").Len() > 0 {
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: "it has patches for proxies of some versions or metadata only, which are listed for every proxy that it selects",
				Hint:    "--vendor-setting istio.proxyVersion=VERSION leaves out those of other versions"}.At(p.Object))
			break
		}
	}
	return out, problems
}

// byDottedName compares the texts name.namespace.
func byDottedName(a, b *policy.Attached) int {
	x, y := a.Policy.Ref(), b.Policy.Ref()
	return cmp.Compare(x.Name+"."+x.Namespace, y.Name+"."+y.Namespace)
}
