package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The codes of what is found about objects and the schemas of their kinds.
const (
	SchemaViolation model.Code = "SchemaViolation"
	UnknownField    model.Code = "UnknownField"
	InvalidSchema   model.Code = "InvalidSchema"
	NoSchema        model.Code = "NoSchema"
)

// schemaRules are the findings about objects that their API refuses.
var schemaRules = []Rule{
	{ID: string(SchemaViolation), Severities: []model.Severity{model.Error}, Summary: "the API server refuses the object, by the schema or a validation rule of its kind's CustomResourceDefinition",
		Fix: "mend the field that is named"},
	{ID: string(UnknownField), Severities: []model.Severity{model.Warning}, Summary: "the API server drops a field, because the schema of its kind does not have it",
		Fix: "mend its name or its indentation, or remove it"},
	{ID: string(InvalidSchema), Severities: []model.Severity{model.Warning}, Summary: "a CustomResourceDefinition cannot be used, and what it cannot say about objects of its kind is not judged",
		Fix: "mend the CustomResourceDefinition"},
	{ID: string(NoSchema), Severities: []model.Severity{model.Info}, Summary: "objects are not judged by a schema, because there is no CustomResourceDefinition for them, while there are others",
		Fix: "name it with `--crds`"},
}

var definitionKind = model.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// Schemas judges the custom resources of an input as the API server would when they are created: by the schemas and validation rules of the
// CustomResourceDefinitions in the input, and of further ones that take the place of those in the input that define the same kind. What was
// read from a cluster is not judged: its server has done so, and parts of it may have been left out.
func Schemas(in *model.Snapshot, further []*model.Object) []model.Problem {
	defined := definitions(in.Of(definitionKind), further)
	if len(defined) == 0 {
		return nil
	}
	var problems []model.Problem
	var objects []*model.Object
	fromFiles := ofFiles(in)
	for _, gk := range in.Kinds() {
		mine := slices.DeleteFunc(slices.Clone(in.Of(gk)), func(o *model.Object) bool { return !fromFiles(o) })
		switch {
		case len(mine) == 0 || builtIn(gk.Group):
		case defined[gk] == nil:
			problems = append(problems, noSchema(gk, mine))
		default:
			objects = append(objects, mine...)
		}
	}
	versions := usedVersions(objects, defined)
	model.SideBySide(len(versions), 1, func(i int) { versions[i].compile() })
	judged := make([][]model.Problem, len(objects))
	model.SideBySide(len(objects), model.Few, func(i int) {
		d := defined[objects[i].Ref.GroupKind()]
		if v := d.versions[objects[i].Version]; v != nil {
			judged[i] = v.judge(objects[i])
		} else {
			judged[i] = d.withoutVersion(objects[i])
		}
	})
	for _, v := range versions {
		problems = append(problems, v.problems...)
	}
	return model.SortProblems(slices.Concat(problems, slices.Concat(judged...)))
}

// ofFiles tells which objects of an input are to be judged.
func ofFiles(in *model.Snapshot) func(*model.Object) bool {
	live := slices.ContainsFunc(in.Objects, func(o *model.Object) bool { return o.Origin.Cluster != "" })
	return func(o *model.Object) bool {
		return in.Cluster == nil || live && o.Origin.Cluster == ""
	}
}

// usedVersions are the versions of definitions that objects are written in, in a stable order.
func usedVersions(objects []*model.Object, defined map[model.GroupKind]*definition) []*version {
	var used []*version
	seen := map[*version]bool{}
	for _, o := range objects {
		if v := defined[o.Ref.GroupKind()].versions[o.Version]; v != nil && !seen[v] {
			seen[v], used = true, append(used, v)
		}
	}
	return used
}

// builtIn reports whether the kinds of a group are the API server's own, or none that a server has.
func builtIn(group string) bool {
	if !strings.Contains(group, ".") { // what a CustomResourceDefinition must not name
		return true
	}
	own, kubernetes := strings.CutSuffix(group, ".k8s.io")
	switch own {
	case "admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization", "certificates", "coordination", "discovery", "events",
		"flowcontrol.apiserver", "internal.apiserver", "kustomize.config", "metrics", "networking", "node", "rbac.authorization", "resource", "scheduling", "storage", "storagemigration":
		return kubernetes
	}
	return strings.HasPrefix(model.SnapshotVersion, group+"/")
}

func noSchema(gk model.GroupKind, objects []*model.Object) model.Problem {
	count := "1 object is"
	if len(objects) > 1 {
		count = fmt.Sprintf("%d objects are", len(objects))
	}
	first := objects[0].Origin
	for _, o := range objects[1:] {
		if o.Origin.Compare(first) < 0 {
			first = o.Origin
		}
	}
	return model.Problem{Severity: model.Info, Code: NoSchema, Origin: &first,
		Message: fmt.Sprintf("no CustomResourceDefinition of %s is at hand: %s not judged by a schema", gk, count), Hint: "name the file or folder with the definition: --crds PATH"}
}
