package protect

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// TestRepeatedHeader: proxies compare each value of a header that is repeated.
func TestRepeatedHeader(t *testing.T) {
	l := &RequestReader{Request: &request.Request{Headers: []request.Field{{Name: "X-A", Value: "2"},
		{Name: "x-a", Value: "1"}}}}
	for value, want := range map[string]bool{"1": true, "2": true, "3": false} {
		if got := l.HeaderIs("x-a", value); got != want {
			t.Errorf("x-a is %s: %v", value, got)
		}
	}
	if matches, known := l.HeaderMatches("x-a", "[0-1]"); !matches || !known {
		t.Errorf("an expression for the second value: %v, %v", matches, known)
	}
}
