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
}

// Suppression says who asked for a finding not to count, and why.
type Suppression struct {
	By     string `json:"by"`               // flag, config, annotation
	Reason string `json:"reason,omitempty"` // as the config gives it
}

// NewFinding is a problem as a finding.
func NewFinding(p model.Problem) Finding {
	return Finding{ID: string(p.Code), Severity: p.Severity, Ref: p.Ref, Origin: p.Origin,
		Message: p.Message, Hint: p.Hint}
}
