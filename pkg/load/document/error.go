package document

import (
	"cmp"
	"errors"
	"io/fs"
	"strings"
)

// ErrNothingReadable is wrapped by the error of reading when there was not one Kubernetes object in
// all of the input. The snapshot that comes with it holds the problems that say why.
var ErrNothingReadable = errors.New("no document could be read as a Kubernetes object")

// Error says that no answer is possible: what was being read, why that failed, and what to do about
// it.
type Error struct {
	What string // the path, as the user typed it
	Hint string // may be empty
	Err  error
}

// Error is "what: why".
func (e *Error) Error() string { return e.What + ": " + e.Err.Error() }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// PathError returns the error for a path that the system would not let us read. The system's own
// words repeat the path.
func PathError(name string, err error) error {
	err = CauseOf(err)
	e := &Error{What: name, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Hint = "check the path; files, folders and - (standard input) can be read"
	case errors.Is(err, fs.ErrPermission):
		e.Hint = "check who may read it"
	}
	return e
}

// CauseOf returns what the system says about a path, without the path.
func CauseOf(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// ProgramFailure returns why a program failed, from what it wrote to its standard error: the line
// that it ends with, else its first; without any, how it ended.
func ProgramFailure(stderr string, err error) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	for _, line := range lines {
		if reason, fatal := strings.CutPrefix(line, "fatal: "); fatal {
			return reason
		}
	}
	return cmp.Or(lines[0], err.Error())
}
