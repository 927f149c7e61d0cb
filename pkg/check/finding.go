package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// Finding is one thing that is wrong, and where.
type Finding struct {
	ID string `json:"id"` // of a rule: the code of a problem, or "requirement/NAME"
	// how much it matters; a config may say another one than the rule
	Severity   model.Severity `json:"severity"`
	Ref        *model.Ref     `json:"ref,omitempty"`        // the object at fault: the policy, where a policy is
	Origin     *model.Origin  `json:"origin,omitempty"`     // where it is
	Message    string         `json:"message"`              // one sentence: what is wrong
	Hint       string         `json:"hint,omitempty"`       // what to do about it
	Suppressed *Suppression   `json:"suppressed,omitempty"` // it was asked not to count
	// everything that the finding is about, where that is more than one; Ref and Origin are the first
	// of them
	Objects []Place `json:"objects,omitempty"`

	isKnown bool // whatever its severity, the answer is complete
	cause   cause
	listing listing // of what Message consists, if there are Objects
}

// Place is an object with where it is.
type Place struct {
	Ref    *model.Ref    `json:"ref,omitempty"`    // the object, or the rule of it
	Origin *model.Origin `json:"origin,omitempty"` // where it is
}

// Suppression says who asked for a finding not to count, and why.
type Suppression struct {
	By     string `json:"by"`               // flag, config, annotation
	Reason string `json:"reason,omitempty"` // as the config gives it
}

// NewFinding is a problem as a finding.
func NewFinding(p model.Problem) Finding {
	return Finding{ID: string(p.Code), Severity: p.Severity, Ref: p.Ref, Origin: p.Origin,
		Message: p.Message, Hint: p.Hint,
		cause: cause{missing: p.MissingRef, rule: p.RuleName, ofSeveral: p.OfSeveral}}
}

// RenameFiles calls files otherwise in all that a finding says.
func (f *Finding) RenameFiles(rename func(string) string) {
	f.Message, f.Hint, f.cause.ofSeveral = rename(f.Message), rename(f.Hint), rename(f.cause.ofSeveral)
	if f.Origin != nil {
		at := *f.Origin
		at.File = rename(at.File)
		f.Origin = &at
	}
}
