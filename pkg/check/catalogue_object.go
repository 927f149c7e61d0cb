package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// schemaRules are the findings about objects that their API refuses.
var schemaRules = []model.Rule{
	{ID: model.SchemaViolation, Severities: faults,
		Summary: "the API server refuses the object, by the schema or a validation rule of its kind, or because its version is not served: it is not in force in any answer",
		Fix:     fixRefused},
	{ID: model.UnknownField, Severities: []model.Severity{model.Error, model.Warning},
		Summary: "the schema of its kind does not have a field: the API server refuses the object, and it is not in force in any answer (a warning with `--validate warn`: the field is dropped, and the rest is in force)",
		Fix:     fixRefused},
	{ID: model.InvalidSchema, Severities: warnings,
		Summary: "a CustomResourceDefinition cannot be used, and what it cannot say about objects of its kind is not judged",
		Fix:     "fix the CustomResourceDefinition"},
	{ID: model.NoSchema, Severities: notes,
		Summary: "objects are not judged by a schema: none is known for their kind, a server has stored them already, or their values were taken out",
		Fix:     "name the file or folder with their CustomResourceDefinition: `--crds`"},
}

// fixRefused is what to do about an object that its API refuses. The hint of the problem says which
// schema that is: one of the input or of --crds, else one that comes with the program.
const fixRefused = "fix the field; if the cluster has another release than the hint says, name it with `--vendor-version`, or its definitions with `--crds` (`--schemas off` reads objects as they are written)"

// requirementRules are the findings about requirements as such.
var requirementRules = []model.Rule{
	{ID: model.RequirementError, Severities: faults,
		Summary: "a requirement cannot be evaluated: its expression fails, or costs too much",
		Fix:     "test for fields that may be missing with has() or read them with .?field and orValue()"},
	{ID: model.RequirementSelectsNothing, Severities: warnings,
		Summary: "a requirement selects nothing of the input, so that it holds nothing against anything",
		Fix:     "correct the names in select, or leave the requirement out where there is nothing for it"},
	{ID: model.RequirementUnknown, Severities: warnings,
		Summary: "whether a requirement is met cannot be told from the input",
		Fix:     "give the missing manifests, or ask for the permission to read them"},
}
