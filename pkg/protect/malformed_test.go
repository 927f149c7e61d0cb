package protect

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// TestMalformed judges values of the wrong type, which no schema keeps out of free-form settings.
func TestMalformed(t *testing.T) {
	for _, v := range []any{map[string]any{"a": 1}, []any{1}} {
		if got := numberOf(v); got != nil {
			t.Errorf("numberOf(%v) = %v, want nil", v, got)
		}
		r := newResultBuilder(gate.Holds)
		r.addCounter(Counter{Limit: numberOf(v)})
		r.addCounter(Counter{Limit: numberOf(v)})
		if len(r.Counters) != 1 {
			t.Errorf("%d counters, want 1", len(r.Counters))
		}
	}
	if got := numberOf(1e300); got != 1e300 {
		t.Errorf("numberOf(1e300) = %v", got)
	}
	if got := valueAt([]any{"x"}, []string{"-1"}); got != nil {
		t.Errorf("valueAt with a negative position = %v, want nil", got)
	}
	if got := statusValue("99999999999999999999"); got != "99999999999999999999" {
		t.Errorf("statusValue of a huge number = %v", got)
	}
}

// TestHasCookie compares whole names of cookies.
func TestHasCookie(t *testing.T) {
	const header = "xsession=1; lang=en"
	if hasCookie(header, "session") || !hasCookie(header, "lang") || !hasCookie(header, "xsession") {
		t.Error("cookies are told by whole names")
	}
}
