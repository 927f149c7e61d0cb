package expression

import (
	"fmt"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Guards of condition evaluation (engine E6). Steps and size decide; the deadline is a backstop
// only, because it depends on the machine.
const (
	maxExpression  = 16 << 10 // bytes of one expression
	maxDepth       = 64       // nesting of one expression
	maxEntries     = 10_000   // entries of one list or map of the document
	fewEntries     = 250      // the same for expressions with functions that compare everything with everything
	maxText        = 1 << 20  // bytes of one text of the document
	shortText      = 1_000    // the same for expressions with replace, which multiplies texts
	maxSteps       = 500_000  // of one evaluation
	maxTotalSteps  = 10_000_000
	evaluationTime = 2 * time.Second
)

// Guard is the sizes up to which a document is evaluated. The library charges nothing for what
// happens inside one call, so where a call may take much longer than its arguments are long, the
// arguments have to be short.
type Guard struct{ entries, text int }

// GuardFor returns the guard for the functions that an expression calls.
func GuardFor(expression string) Guard {
	l := Guard{maxEntries, maxText}
	for _, call := range []string{"distinct", "sets.", " in ", "sort", "flatten"} {
		if strings.Contains(expression, call) {
			l.entries = fewEntries
		}
	}
	if strings.Contains(expression, "replace") {
		l.text = shortText
	}
	return l
}

// Sizes are the longest list or map of a value, in entries, and its longest text, in bytes.
type Sizes struct{ entries, text int }

// SizesOf measures a JSON value, or the body of an object.
func SizesOf(v any) (s Sizes) {
	s.addValue(v)
	return s
}

// Max returns the larger of two in each respect.
func (s Sizes) Max(o Sizes) Sizes { return Sizes{max(s.entries, o.entries), max(s.text, o.text)} }

func (s *Sizes) addValue(v any) {
	switch t := v.(type) {
	case string:
		s.text = max(s.text, len(t))
	case model.Body:
		e := t.Extent()
		*s = s.Max(Sizes{e.Entries, e.Text})
	case map[string]any:
		s.entries = max(s.entries, len(t))
		for _, kid := range t {
			s.addValue(kid)
		}
	case []any:
		s.entries = max(s.entries, len(t))
		for _, kid := range t {
			s.addValue(kid)
		}
	}
}

// Check refuses a document with a list, map or text over the limits.
func (l Guard) Check(s Sizes) error {
	switch {
	case s.text > l.text:
		return fmt.Errorf("is not evaluated: the policy has a text of %d bytes, more than %d", s.text, l.text)
	case s.entries > l.entries:
		return fmt.Errorf("is not evaluated: the policy has a list or map of %d entries, more than %d",
			s.entries, l.entries)
	}
	return nil
}
