package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// schemaRules are the findings about objects that their API refuses.
var schemaRules = []model.Rule{
	{ID: model.SchemaViolation, Severities: faults,
		Summary: "the API server refuses the object, by the schema or a validation rule of its kind's CustomResourceDefinition",
		Fix:     "fix the reported field"},
	{ID: model.UnknownField, Severities: warnings,
		Summary: "the API server drops a field, because the schema of its kind does not have it",
		Fix:     "fix its name or its indentation, or remove it"},
	{ID: model.InvalidSchema, Severities: warnings,
		Summary: "a CustomResourceDefinition cannot be used, and what it cannot say about objects of its kind is not judged",
		Fix:     "fix the CustomResourceDefinition"},
	{ID: model.NoSchema, Severities: notes,
		Summary: "objects are not judged by a schema, because there is no CustomResourceDefinition for them, while there are others",
		Fix:     "name it with `--crds`"},
}

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
