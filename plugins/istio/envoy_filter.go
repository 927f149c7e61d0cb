package istio

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// patchSituation is what EnvoyFilters make of a proxy, or of all proxies of a Namespace: a list of
// patches, each of which sees what those before it made.
func patchSituation(at foldTarget) *policy.Situation {
	if at.service != nil {
		return nil
	}
	root, version := at.world.root, at.settings.Text("istio.proxyVersion")
	home, _ := at.policyNamespaces()
	return &policy.Situation{Key: joinKey(home), Compare: func(a, b *policy.Policy) int {
		return cmp.Or(cmp.Compare(readPriority(a.Object), readPriority(b.Object)),
			cmp.Compare(compareHome(a, root), compareHome(b, root)))
	}, Fold: func(layers []*policy.Policy) merge.PlanFunc {
		return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return foldPatches(layers, version) }
	}}
}

// readPriority is that of an EnvoyFilter or an extension; 0 if it has none.
func readPriority(o *model.Object) float64 {
	switch v := o.Get("spec", "priority").(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}

// compareHome is 0 for policies of a namespace, 1 for others.
func compareHome(p *policy.Policy, namespace string) int {
	if p.Ref().Namespace == namespace {
		return 0
	}
	return 1
}

// maxVersionPattern is how long a regular expression for versions may be; a longer one matches
// nothing.
const maxVersionPattern = 1024

// foldPatches lists the patches of all filters; those for other versions of the proxy are left out,
// if it is known which version it has.
func foldPatches(layers []*policy.Policy, version string) ([]merge.Unit, []merge.Effect) {
	var m foldRecorder
	for i, p := range layers {
		n := 0
		for _, patch := range p.Object.Body.At("spec", "configPatches").Items {
			path := merge.Path{{Name: "configPatches"}, {Name: p.Ref().Namespace}, {Name: p.Ref().Name},
				{Name: strconv.Itoa(n), Form: merge.Entry}}
			n++
			want := patch.At("match", "proxy", "proxyVersion").Text()
			if !matchesVersion(want, version) {
				m.Lose(path, patch.Value(), i, merge.Ignored)
				continue
			}
			m.Take(path, patch.Value(), i)
		}
	}
	return m.Units, m.Effects
}

// matchesVersion reports whether a patch for some versions is for this one; "" is a version that is
// not known.
func matchesVersion(want, version string) bool {
	if want == "" {
		return true
	}
	if len(want) > maxVersionPattern {
		return false
	}
	re, err := regexp.Compile(want)
	return err != nil || version == "" || re.MatchString(version) // what is no expression is none
}

// findPatched finds the targets of an EnvoyFilter. References to Services are documented, and not
// implemented.
func findPatched(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
	all, problems := findAttached(w, p)
	var out attachPoints
	for _, t := range all.targets {
		if t.service == nil {
			out.targets = append(out.targets, t)
		}
	}
	if readPolicyTargets(p.Object).isNamespaceWide() {
		out.namespaces = w.namespacesOf(p.Ref().Namespace)
	}
	if len(out.targets) < len(all.targets) && len(out.targets) == 0 {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: "it names what a waypoint serves, which Istio documents and does not do: it holds nowhere"}.At(
			p.Object))
	}
	for _, patch := range p.Object.Body.At("spec", "configPatches").Items {
		if m := patch.At("match", "proxy"); m.Len() > 0 && p.Kind.Settings.Text("istio.proxyVersion") == "" ||
			m.Field("metadata").Len() > 0 {
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: "it has patches for proxies of some versions or metadata only, which are listed for every proxy that it selects",
				Hint:    "--vendor-setting istio.proxyVersion=VERSION leaves out those of other versions"}.At(p.Object))
			break
		}
	}
	return out, problems
}

// compareDottedNames compares the texts name.namespace.
func compareDottedNames(a, b *policy.Attached) int {
	x, y := a.Policy.Ref(), b.Policy.Ref()
	return cmp.Compare(x.Name+"."+x.Namespace, y.Name+"."+y.Namespace)
}
