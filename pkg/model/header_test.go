package model

import "testing"

// TestUnreportedProblems: an unread kind is reported once, also where the answer does not depend on it.
func TestUnreportedProblems(t *testing.T) {
	problem := func(code Code, name string) []Problem {
		return []Problem{{Severity: Info, Code: code, Ref: &Ref{Group: "example.com", Kind: "Thing", Name: name}}}
	}
	for _, c := range []struct {
		name     string
		problems []Problem
		want     int
	}{
		{"no problem", nil, 1},
		{"a forbidden list", problem(Forbidden, "*"), 0},
		{"a list on which nothing depends", problem(NotEvaluated, "*"), 0},
		{"an object that is not evaluated", problem(NotEvaluated, "one"), 1},
	} {
		h := &Header{Unread: []HeaderUnread{{Group: "example.com", Kind: "Thing"}}, Problems: c.problems}
		if got := h.UnreportedProblems(); len(got) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
