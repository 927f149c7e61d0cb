package load

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ErrNothingReadable is wrapped by the error of Files when there was not one Kubernetes object in all of the input.
// The snapshot that comes with it holds the problems that say why.
var ErrNothingReadable = errors.New("no document could be read as a Kubernetes object")

// Error says that no answer is possible: what was being read, why that failed, and what to do about it.
type Error struct {
	What string // the path, as the user typed it
	Hint string // may be empty
	Err  error
}

// Error is "what: why".
func (e *Error) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// pathError is the error for a path that the system would not let us read. The system's own words repeat the path.
func pathError(name string, err error) error {
	err = causeOf(err)
	e := &Error{What: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "check the path; files, folders and - (standard input) can be read"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "check who may read it"
	}
	return e
}

// causeOf returns what the system says about a path, without the path.
func causeOf(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

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
