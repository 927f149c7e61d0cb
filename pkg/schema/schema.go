package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Problems judges the custom resources of an input as the API server would when they are created:
// by the schemas and validation rules of the CustomResourceDefinitions in the input, and of further
// ones that take the place of those in the input that define the same kind. What was read from a
// cluster is not judged: its server has done so, and parts of it may have been left out. Without
// the values nothing is. Judging takes so many steps at most; 0: DefaultSteps.
func Problems(in *model.Snapshot, further []*model.Object, steps int) []model.Problem {
	defined := definitionsByKind(in.Definitions(), further)
	if len(defined) == 0 {
		return nil
	}
	if in.Redacted {
		return []model.Problem{{Severity: model.Info, Code: model.NoSchema,
			Message: "no object is judged by a schema: the values were taken out (--redact)",
			Hint:    "run check without --redact"}}
	}
	var problems []model.Problem
	var judged []*model.Object
	left := 0
	for _, gk := range in.Kinds() {
		all := in.OfKind(gk)
		mine := slices.DeleteFunc(slices.Clone(all), isFromCluster)
		if defined[gk] != nil {
			left += len(all) - len(mine)
		}
		switch {
		case len(mine) == 0 || isBuiltIn(gk.Group):
		case defined[gk] == nil:
			problems = append(problems, noSchemaProblem(gk, mine))
		default:
			judged = append(judged, mine...)
		}
	}
	if left > 0 && len(further) > 0 {
		problems = append(problems, model.Problem{Severity: model.Info, Code: model.NoSchema,
			Message: "what a cluster has is not judged by schemas, its server has done so: " + formatObjectCount(left),
			Hint:    "name the manifests of the objects with -f"})
	}
	versions := findUsedVersions(judged, defined)
	m, dear := costMeter{maxSteps: cmp.Or(steps, DefaultSteps)}, []*model.Object{}
	for _, v := range versions {
		v.tooCostly = !m.canCompile(v)
	}
	model.Parallel(len(versions), 1, func(i int) {
		if !versions[i].tooCostly {
			versions[i].compileSchema()
		}
	})
	judged = slices.DeleteFunc(judged, func(o *model.Object) bool {
		if m.canAfford(defined[o.Ref.GroupKind()].versions[o.Version], o) {
			return false
		}
		dear = append(dear, o)
		return true
	})
	problems = append(problems, notJudgedProblems(dear, m.maxSteps)...)
	found := make([][]model.Problem, len(judged))
	model.Parallel(len(judged), model.SmallBatch,
		func(i int) { found[i] = defined[judged[i].Ref.GroupKind()].judgeObject(judged[i]) })
	for _, v := range versions {
		problems = append(problems, v.problems...)
	}
	return model.SortProblems(slices.Concat(problems, slices.Concat(found...)))
}

// isFromCluster reports whether an object was read from a cluster.
func isFromCluster(o *model.Object) bool { return o.Origin.Cluster != "" }

// findUsedVersions returns the versions of definitions that objects are written in, in a stable
// order.
func findUsedVersions(objects []*model.Object, defined map[model.GroupKind]*definition) []*version {
	var used []*version
	seen := map[*version]bool{}
	for _, o := range objects {
		if v := defined[o.Ref.GroupKind()].versions[o.Version]; v != nil && !seen[v] {
			seen[v], used = true, append(used, v)
		}
	}
	return used
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
		Message: fmt.Sprintf("no CustomResourceDefinition of %s is at hand, to judge %s by", gk,
			formatObjectCount(len(all))), Hint: "name the file or folder with the definition: --crds PATH"}
}

func formatObjectCount(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}
