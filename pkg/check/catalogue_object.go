package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// schemaRules are the findings about objects that their API refuses.
var schemaRules = []Rule{
	{ID: string(model.SchemaViolation), Severities: []model.Severity{model.Error}, Summary: "the API server refuses the object, by the schema or a validation rule of its kind's CustomResourceDefinition",
		Fix: "fix the reported field"},
	{ID: string(model.UnknownField), Severities: []model.Severity{model.Warning}, Summary: "the API server drops a field, because the schema of its kind does not have it",
		Fix: "fix its name or its indentation, or remove it"},
	{ID: string(model.InvalidSchema), Severities: []model.Severity{model.Warning}, Summary: "a CustomResourceDefinition cannot be used, and what it cannot say about objects of its kind is not judged",
		Fix: "fix the CustomResourceDefinition"},
	{ID: string(model.NoSchema), Severities: []model.Severity{model.Info}, Summary: "objects are not judged by a schema, because there is no CustomResourceDefinition for them, while there are others",
		Fix: "name it with `--crds`"},
}

// requirementRules are the findings about requirements as such.
var requirementRules = []Rule{
	{ID: string(model.RequirementError), Severities: []model.Severity{model.Error},
		Summary: "a requirement cannot be evaluated: its expression fails, or costs too much",
		Fix:     "test for fields that may be missing with has() or read them with .?field and orValue()"},
	{ID: string(model.RequirementSelectsNothing), Severities: []model.Severity{model.Warning},
		Summary: "a requirement selects nothing of the input, so that it holds nothing against anything",
		Fix:     "correct the names in select, or leave the requirement out where there is nothing for it"},
	{ID: string(model.RequirementUnknown), Severities: []model.Severity{model.Warning},
		Summary: "whether a requirement is met cannot be told from the input",
		Fix:     "give the missing manifests, or ask for the permission to read them"},
}
