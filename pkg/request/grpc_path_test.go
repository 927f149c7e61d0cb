package request

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// TestMethodAsHeader: where an exact method alone is compared with the end of path and query, as
// one more header, and an expression is one of the path.
func TestMethodAsHeader(t *testing.T) {
	calls := routing.GRPCPath{Prefix: "/SERVICE", AnyService: "[a-z]+", AnyCall: "[A-Z][a-z]*", CallAsHeader: true}
	const rules = `rules:
  - matches: [{method: {method: Put}}]
  - matches: [{method: {type: RegularExpression, method: G.*}}]
  - matches: [{method: {type: RegularExpression, service: "[ab]"}}]
  - matches: [{method: {service: a}}]
`
	for _, e := range []struct {
		url  string
		rule int // -1: none takes it
	}{
		{"http://h/b/Put", 2}, // an expression comes before a prefix /
		{"http://h/x/y/Put", 0},
		{"http://h/x/y/Put?q=1", -1},
		{"http://h/a/Get", 2}, // its expression is the longer one: /[ab]/[A-Z][a-z]* and /[a-z]+/G.*
		{"http://h/x/Get", 1},
		{"http://h/a/get", 3},
	} {
		w := newWorld(t, plainGateway+routeOf("GRPCRoute", "r", rules), nil).routeLike(func(p *routing.Profile) {
			p.Kinds, p.GRPCPath = routing.KindsTogether, calls
			p.Regex.Rank, p.Regex.Longer, p.Regex.Tied = routing.RankBeforePrefix, true, routing.TiedBoth
		})
		got := -1
		if a := w.get(t, e.url); a.Outcome == Matched || a.Outcome == BackendError {
			got = w.matcher.graph.Node(a.Rule).Index
		}
		if got != e.rule {
			t.Errorf("%s: rule %d, want %d", e.url, got, e.rule)
		}
	}
}
