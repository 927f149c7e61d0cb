package failure

import (
	"errors"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// UsageError is a mistake on the command line.
type UsageError struct{ What, Hint string }

func (e *UsageError) Error() string { return e.What }

// Usage makes the error of a wrong command line, with a hint how to write it.
func Usage(hint, format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...), hint}
}

// ErrFindings is what a command returns that found what it looks for. The answer is written and
// says all: nothing is printed for it.
var ErrFindings = errors.New("found what was looked for")

// ErrAnswered ends a command that has written what it was asked for in place of its usual answer. It
// is no failure.
var ErrAnswered = errors.New("the answer is written")

// ErrIncomplete is what --strict makes of an answer that was written and is incomplete.
var ErrIncomplete = NoAnswer("the answer is incomplete", "the problems above say what is missing")

// ErrNothingCompared is what an audit comes to that neither found a difference nor agreement: that
// is no proof of agreement.
var ErrNothingCompared = NoAnswer("nothing was compared, so nothing is known to agree",
	"see the notes with -o wide; name the objects, namespaces and proxies that belong together")

// NoAnswerError is an error after which nothing can be said.
type NoAnswerError struct{ What, Hint string }

func (e *NoAnswerError) Error() string { return e.What }

// NoAnswer makes an error after which nothing can be said, with a hint what to do; "" for none.
func NoAnswer(what, hint string) error { return &NoAnswerError{what, hint} }

// Details say what is printed of an error.
type Details struct {
	What, Hint string
	Usage      bool // the command line is wrong
}

// Describe is the one place that decides what an error means: wrong usage, or no answer. Addresses
// in it have no credentials.
func Describe(err error) Details {
	d := classifyError(err)
	d.What, d.Hint = document.HideCredentials(d.What), document.HideCredentials(d.Hint)
	return d
}

func classifyError(err error) Details {
	var (
		use        *UsageError
		none       *NoAnswerError
		loading    *load.Error
		setting    *descriptor.SettingError
		written    *requirement.FileError
		descriptor *form.Error
	)
	switch {
	case errors.As(err, &use):
		return Details{use.What, use.Hint, true}
	case errors.As(err, &written):
		return Details{written.Lines, written.Hint, true}
	case errors.As(err, &setting):
		return Details{setting.Message, setting.Hint, true}
	case errors.As(err, &descriptor):
		return Details{descriptor.Error(), "the format is described in docs/policy-kinds.md", true}
	case errors.As(err, &none):
		return Details{none.What, none.Hint, false}
	case errors.As(err, &loading):
		return Details{loading.Error(), loading.Hint, false}
	}
	return Details{err.Error(), "", false}
}
