package model

import (
	"fmt"
	"strings"
)

// Rule documents the problems of one code.
type Rule struct {
	ID         Code       `json:"id"`               // the code of its problems
	Severities []Severity `json:"severities"`       // that its problems have, the usual one first
	Summary    string     `json:"summary"`          // when there is one: a clause without a full stop
	Fix        string     `json:"fix"`              // what to do about it: a clause without a full stop
	Clause     string     `json:"clause,omitempty"` // of the specification, "" where none speaks of it

	// SameTarget: its problems say why a policy gives way to another one on its target, so that
	// nothing else need say so.
	SameTarget bool `json:"-"`
}

// SeverityText lists the severities, the usual one first.
func (r Rule) SeverityText() string {
	var words []string
	for _, s := range r.Severities {
		words = append(words, string(s))
	}
	return strings.Join(words, ", ")
}

// NewProblem returns a problem of the usual severity.
func (r Rule) NewProblem(format string, args ...any) Problem {
	return Problem{Severity: r.Severities[0], Code: r.ID, Message: fmt.Sprintf(format, args...)}
}
