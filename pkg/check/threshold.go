package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// Threshold is the severity from which on a finding fails a check: a severity, or None.
type Threshold string

// None lets no finding fail a check.
const None Threshold = "none"

// Thresholds lists the words of --fail-on.
func Thresholds() []string {
	return []string{string(model.Error), string(model.Warning), string(model.Info), string(None)}
}

func (t Threshold) isReached(s model.Severity) bool {
	return t != None && s.Compare(model.Severity(t)) <= 0
}
