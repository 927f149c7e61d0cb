package requirement

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// Requirement is an assertion over effective policies: what has to hold wherever it selects.
type Requirement struct {
	Name     string
	Severity model.Severity
	Origin   model.Origin // where it stands

	message     string    // "" if an expression makes it
	messageFrom *compiled // gives a text
	selects     selection
	where       *compiled     // gives a boolean; nil: everywhere
	holds       *compiled     // gives a boolean; nil: something else has to hold
	demands     *alternatives // over targets, instead of an expression

	requests *requestScope // that it is about; nil: it is about targets
}

// CodePrefix opens the codes of problems with requirements that are not met.
const CodePrefix = "requirement/"

// Code is that of the problems where the requirement is not met.
func (r *Requirement) Code() model.Code { return model.Code(CodePrefix + r.Name) }

// namedKinds returns the policy kinds that have to be in force, or that the expression names.
func (r *Requirement) namedKinds() []string {
	if r.holds != nil {
		return r.holds.kinds
	}
	var out []string
	if r.demands != nil {
		for _, gk := range r.demands.kinds {
			out = append(out, gk.String())
		}
	}
	return out
}

// Message is what is said where it is not met; "" if an expression makes it.
func (r *Requirement) Message() string { return r.message }

// FileError is everything wrong with a file that the user wrote, each line as file:line: what.
type FileError struct{ Lines, Hint string }

// Error lists the mistakes, one a line.
func (e *FileError) Error() string { return e.Lines }
