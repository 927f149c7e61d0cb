package document

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Problem is why a document, or a part of it, takes no part. Its line counts from the first line of
// the text it was found in.
type Problem struct {
	Code    model.Code
	Line    int
	Message string
	Hint    string
	NotRead bool // something was written that a tool may apply, and is not read
}

func invalidYAML(line int, format string, args ...any) *Problem {
	return &Problem{Code: model.InvalidYAML, Line: line, Message: fmt.Sprintf(format, args...)}
}

func limitExceeded(line int, format string, args ...any) *Problem {
	return &Problem{Code: model.LimitExceeded, Line: line, Message: fmt.Sprintf(format, args...)}
}

// severityOf returns the severity: what is not read, and could be applied, is an error.
func (t *Problem) severityOf() model.Severity {
	if t.NotRead || t.Code == model.InvalidYAML || t.Code == model.LimitExceeded {
		return model.Error
	}
	return model.Warning
}
