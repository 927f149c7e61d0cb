package cli

import (
	"errors"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// usageError is a mistake on the command line.
type usageError struct{ what, hint string }

func (e *usageError) Error() string { return e.what }

// newUsageError makes the error of a wrong command line, with a hint how to write it.
func newUsageError(hint, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), hint}
}

// errFindings is what a command returns that found what it looks for. The answer is written and says all: nothing is printed for it.
var errFindings = errors.New("found what was looked for")

// errIncomplete is what --strict makes of an answer that was written and is incomplete.
var errIncomplete = newNoAnswerError("the answer is incomplete", "the problems above say what is missing")

// errNothingCompared is what an audit comes to that neither found a difference nor agreement: that is no proof of agreement.
var errNothingCompared = newNoAnswerError("nothing was compared, so nothing is known to agree",
	"see the notes with -o wide; name the objects, namespaces and proxies that belong together")

// noAnswerError is an error after which nothing can be said.
type noAnswerError struct{ what, hint string }

func (e *noAnswerError) Error() string { return e.what }

// newNoAnswerError makes an error after which nothing can be said, with a hint what to do; "" for none.
func newNoAnswerError(what, hint string) error { return &noAnswerError{what, hint} }

// errorDetails say what is printed of an error.
type errorDetails struct {
	what, hint string
	usage      bool // the command line is wrong
}

// describeError is the one place that decides what an error means: wrong usage, or no answer.
func describeError(err error) errorDetails {
	var (
		use        *usageError
		none       *noAnswerError
		loading    *load.Error
		setting    *descriptor.SettingError
		written    *requirement.FileError
		descriptor *form.Error
	)
	switch {
	case errors.As(err, &use):
		return errorDetails{use.what, use.hint, true}
	case errors.As(err, &written):
		return errorDetails{written.Lines, written.Hint, true}
	case errors.As(err, &setting):
		return errorDetails{setting.Message, setting.Hint, true}
	case errors.As(err, &descriptor):
		return errorDetails{descriptor.Error(), "the format is described in docs/policy-kinds.md", true}
	case errors.As(err, &none):
		return errorDetails{none.what, none.hint, false}
	case errors.As(err, &loading):
		return errorDetails{loading.Error(), loading.Hint, false}
	}
	return errorDetails{err.Error(), "", false}
}
