package check

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Requirement is an assertion over effective policies: what has to hold wherever it selects.
type Requirement struct {
	Name     string
	Severity model.Severity
	Origin   model.Origin // where it stands

	message     string      // "" if an expression makes it
	messageFrom *expression // gives a text
	selects     selection
	where       *expression // gives a boolean; nil: everywhere
	holds       *expression // gives a boolean
}

// The ids of findings about requirements that could not be held against the input. Those of requirements that are not met are
// "requirement/NAME".
const (
	RequirementUnknown        = "RequirementUnknown"
	RequirementError          = "RequirementError"
	RequirementSelectsNothing = "RequirementSelectsNothing"
)

// requirementPrefix opens the ids of findings about requirements, which the catalogue does not list.
const requirementPrefix = "requirement/"

// ID is the id of the findings where the requirement is not met.
func (r *Requirement) ID() string { return requirementPrefix + r.Name }

// Rule documents the findings of a requirement that is not met.
func (r *Requirement) Rule() Rule {
	summary := r.message
	if summary == "" {
		summary = "the requirement " + r.Name + " is not met"
	}
	return Rule{ID: r.ID(), Severities: []model.Severity{r.Severity}, Summary: summary,
		Fix: "see what is in force with `kubectl dopolicy effective`, and change the policies or the requirement at " + r.Origin.String()}
}

// requirementRules are the findings about requirements as such.
var requirementRules = []Rule{
	{ID: RequirementError, Severities: []model.Severity{model.Error},
		Summary: "a requirement cannot be evaluated: its expression fails, or costs too much",
		Fix:     "test for fields that may be missing with has() or read them with .?field and orValue()"},
	{ID: RequirementSelectsNothing, Severities: []model.Severity{model.Warning},
		Summary: "a requirement selects nothing of the input, so that it holds nothing against anything",
		Fix:     "correct the names in select, or leave the requirement out where there is nothing for it"},
	{ID: RequirementUnknown, Severities: []model.Severity{model.Warning},
		Summary: "whether a requirement is met cannot be told from the input",
		Fix:     "give the missing manifests, or ask for the permission to read them"},
}

// FileError is everything wrong with a file that the user wrote, each line as file:line: what.
type FileError struct{ Lines, Hint string }

// Error lists the mistakes, one a line.
func (e *FileError) Error() string { return e.Lines }
