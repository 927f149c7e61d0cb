package schema

import (
	"fmt"
	"slices"
	"strings"

	kubeversion "k8s.io/apimachinery/pkg/version"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Unjudged says which kinds of an input no schema is known for: of those that matter, or of all
// where schemas were given.
func (a *Admission) Unjudged(in *model.Snapshot, matters func(model.GroupKind) bool) []model.Problem {
	switch {
	case a.options.Off:
		return nil
	case in.HasNoValues():
		return []model.Problem{{Severity: model.Info, Code: model.NoSchema,
			Message: "no object is judged by a schema: the values were taken out (--redact)",
			Hint:    "run check without --redact"}}
	}
	var problems []model.Problem
	defined := definitionsByKind(in.Definitions(), a.options.Definitions)
	stored := 0
	for _, gk := range in.Kinds() {
		all := in.OfKind(gk)
		mine := slices.DeleteFunc(slices.Clone(all), isStored)
		known := len(all) > 0 && a.findDefinition(defined, gk, all[0].Version) != nil
		if known {
			stored += len(all) - len(mine)
		}
		if len(mine) > 0 && !known && !isBuiltIn(gk.Group) && (len(defined) > 0 || matters(gk)) {
			problems = append(problems, noSchemaProblem(gk, mine))
		}
	}
	if stored > 0 && len(a.options.Definitions) > 0 {
		problems = append(problems, model.Problem{Severity: model.Info, Code: model.NoSchema,
			Message: "what a server has stored is not judged by schemas, it has done so: " + formatObjectCount(stored),
			Hint:    "name the manifests of the objects with -f"})
	}
	return problems
}

// Sources returns what names the definition by which the objects of a kind are read; "" where there
// is none.
func (a *Admission) Sources(in *model.Snapshot) func(model.GroupKind) string {
	defined := definitionsByKind(in.Definitions(), a.options.Definitions)
	return func(gk model.GroupKind) string {
		if a.options.Off {
			return ""
		}
		version := ""
		if all := in.OfKind(gk); len(all) > 0 {
			version = all[0].Version
		}
		if d := a.findDefinition(defined, gk, version); d != nil {
			return d.displayName()
		}
		return ""
	}
}

// NewestVersions returns what names the newest API version of a kind: of its definition, else of its
// objects; "" where there are none.
func (a *Admission) NewestVersions(in *model.Snapshot) func(model.GroupKind) string {
	defined := definitionsByKind(in.Definitions(), a.options.Definitions)
	return func(gk model.GroupKind) string {
		newest := ""
		if all := in.OfKind(gk); len(all) > 0 {
			newest = all[0].Version
		}
		if d := a.findDefinition(defined, gk, newest); d != nil {
			for name := range d.versions {
				if newest == "" || kubeversion.CompareKubeAwareVersionStrings(name, newest) > 0 {
					newest = name
				}
			}
		}
		return newest
	}
}

// isBuiltIn reports whether the kinds of a group are the API server's own, or none that a server
// has.
func isBuiltIn(group string) bool {
	if !strings.Contains(group, ".") { // what a CustomResourceDefinition must not name
		return true
	}
	own, kubernetes := strings.CutSuffix(group, ".k8s.io")
	switch own {
	case "admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization",
		"certificates", "coordination", "discovery", "events",
		"flowcontrol.apiserver", "internal.apiserver", "kustomize.config", "metrics", "networking", "node",
		"rbac.authorization", "resource", "scheduling", "storage", "storagemigration":
		return kubernetes
	}
	return strings.HasPrefix(model.SnapshotVersion, group+"/")
}

func noSchemaProblem(gk model.GroupKind, all []*model.Object) model.Problem {
	first := all[0].Origin
	for _, o := range all[1:] {
		if o.Origin.Compare(first) < 0 {
			first = o.Origin
		}
	}
	return model.Problem{Severity: model.Info, Code: model.NoSchema, Origin: &first,
		Message: fmt.Sprintf("cannot validate %s: no schema for %s", formatObjectCount(len(all)), gk),
		Hint:    "name the file or folder with its CustomResourceDefinition: --crds PATH"}
}

func formatObjectCount(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}
