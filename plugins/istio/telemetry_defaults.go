package istio

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// defaultProviderProblems says where a Telemetry inherits the mesh's default providers and nobody
// says which these are.
func (w *proxyIndex) defaultProviderProblems(p *policy.Policy, targets []target) []model.Problem {
	var open []string
	for _, section := range sections {
		if _, known := w.defaultProviders(section); known || !slices.ContainsFunc(listEntries(p.Object, section),
			hasNoProvider) {
			continue
		}
		if slices.ContainsFunc(targets, func(t target) bool {
			return inheritsDefaults(w.listTelemetries(t),
				p.Object, section)
		}) {
			open = append(open, section)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf(
			"of %s it has entries without providers, which are for the default providers of the mesh, and these are not known", strings.Join(open, " and ")),
		Hint: "add the ConfigMap istio of the root namespace, or --vendor-setting istio.defaultProviders." +
			open[0] + "='[…]'"}.At(p.Object)}
}

func hasNoProvider(e sectionEntry) bool { return len(e.providerNames()) == 0 }

// listEntries are the entries of one section of a Telemetry.
func listEntries(o *model.Object, section string) []sectionEntry {
	var out []sectionEntry
	for _, e := range o.Body.At("spec", section).Items {
		out = append(out, sectionEntry{Body: e})
	}
	return out
}

// inheritsDefaults reports whether an entry of one Telemetry of several depends on the default
// providers. Tracing does so as long as no entry at all names a provider for one of the ends;
// elsewhere an entry has the providers of the entry before it.
func inheritsDefaults(all []*model.Object, own *model.Object, section string) bool {
	for _, mode := range modes {
		named, asked := false, false
		for _, o := range all {
			for _, e := range listEntries(o, section) {
				switch {
				case section == "tracing" && !e.isForMode(mode):
				case !hasNoProvider(e):
					named = true
				case o.Ref == own.Ref && (section == "tracing" || !named):
					asked = true
				}
			}
		}
		if asked && (section != "tracing" || !named) {
			return true
		}
	}
	return false
}

// listTelemetries are the Telemetry objects that count at a target, in their order: the oldest of
// the mesh and of each namespace, then those that select it or name it.
func (w *proxyIndex) listTelemetries(t target) []*model.Object {
	home := t.representativeObject().Ref.Namespace
	var wide, own []*model.Object
	for _, o := range w.in.OfKind(model.GroupKind{Group: telemetryGroup, Kind: "Telemetry"}) {
		s := readPolicyTargets(o)
		if s.isNamespaceWide() {
			wide = append(wide, o)
		} else if holds, _ := w.isAttached(o.Ref.Namespace, s, t); holds && o.Ref.Namespace == home {
			own = append(own, o)
		}
	}
	older := func(a, b *model.Object) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Ref.Name, b.Ref.Name),
			strings.Compare(a.Ref.Namespace, b.Ref.Namespace))
	}
	slices.SortFunc(wide, older)
	slices.SortFunc(own, older)
	var out []*model.Object
	for i, namespace := range []string{w.root, t.namespace(), home} {
		at := slices.IndexFunc(wide, func(o *model.Object) bool { return o.Ref.Namespace == namespace })
		if at >= 0 && !slices.Contains([]string{w.root, t.namespace(), home}[:i], namespace) {
			out = append(out, wide[at])
		}
	}
	return append(out, own...)
}
