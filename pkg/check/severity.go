package check

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// A check says error where the API server or a controller refuses something, or traffic is open
// that a policy was to protect; warning where something is certainly wrong or without effect; info
// where something cannot be known from the input, or is a matter of style. Other commands ask what
// a problem means to their answer instead, and may call it otherwise.

// findSeverity is the severity of a problem in a check: its own if its rule has it, else the usual
// one of the rule.
func (c Catalogue) findSeverity(p model.Problem, in *model.Snapshot) model.Severity {
	rule, known := c.Rule(string(p.Code))
	switch {
	case p.Code == model.UnknownKind && p.Severity == model.Warning && !in.Exhaustive && in.Cluster == nil:
		return model.Info // its definition may be elsewhere
	case p.Code == model.RefusedByOperator && p.Ref != nil && in.IsRefused(*p.Ref):
		return model.Error // else it is in force by the profile that was chosen
	case known && !slices.Contains(rule.Severities, p.Severity):
		return rule.Severities[0]
	}
	return p.Severity
}
