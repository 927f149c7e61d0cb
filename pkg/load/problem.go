package load

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// documentProblem is why a document, or a part of it, takes no part. Its line counts from the first
// line of the text it was found in.
type documentProblem struct {
	code    model.Code
	line    int
	message string
	hint    string
	notRead bool // something was written that a tool may apply, and is not read
}

func invalidYAML(line int, format string, args ...any) *documentProblem {
	return &documentProblem{code: model.InvalidYAML, line: line, message: fmt.Sprintf(format, args...)}
}

func limitExceeded(line int, format string, args ...any) *documentProblem {
	return &documentProblem{code: model.LimitExceeded, line: line, message: fmt.Sprintf(format, args...)}
}

// severityOf returns the severity: what is not read, and could be applied, is an error.
func (t *documentProblem) severityOf() model.Severity {
	if t.notRead || t.code == model.InvalidYAML || t.code == model.LimitExceeded {
		return model.Error
	}
	return model.Warning
}
