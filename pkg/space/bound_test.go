package space

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// TestMoreExpressionsThanCanBeFollowed: classes beyond the bound are unknown, and have all rules
// that may take them, but not those whose expression says plainly that it takes none of them.
func TestMoreExpressionsThanCanBeFollowed(t *testing.T) {
	rule := func(kind, path string) doc {
		return doc{"matches": []any{doc{"path": doc{"type": kind, "value": path}}},
			"backendRefs": []any{doc{"name": "svc", "port": int64(80)}}}
	}
	rules := []any{rule("PathPrefix", "/static"), rule("RegularExpression", "^/only/.*")}
	for i := range 300 {
		rules = append(rules, rule("RegularExpression", fmt.Sprintf(".*part%d.*", i)))
	}
	input := []doc{
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": doc{"name": "gw"},
			"spec": doc{"gatewayClassName": "c",
				"listeners": []any{doc{"name": "l", "port": int64(80), "protocol": "HTTP"}}}},
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": doc{"name": "r"},
			"spec": doc{"hostnames": []any{"b.com"},
				"parentRefs": []any{doc{"name": "gw", "namespace": "infra"}}, "rules": rules}},
	}
	settings := model.NewSettings(map[string]any{gatewayapi.RegexRank: "afterPrefix"})
	m := request.NewMatcher(build.Graph(snapshot(input), settings), settings)
	found := map[string]int{} // by class: how many rules may take it
	scope := Scope{Destination: AnyDestination(), Hosts: []string{"b.com"}}
	if err := Walk(m, scope, func(c *Class) bool {
		if c.Unknown == "" && c.Answer.Rule == topology.None {
			t.Errorf("%s is decided: %s", c.Text(), c.Request.Text)
		}
		n := len(c.Possible)
		if slices.ContainsFunc(c.Possible, func(a *request.Answer) bool { return a.Rule == topology.None }) {
			n--
		}
		found[c.Text()] = n
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"host b.com, other paths": 301, "host b.com, paths below /static": 0}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("%v, not %v", found, want)
	}
	if got := literalPrefix("^/a/b.*|/a/c"); got != "" && got != "/a/" {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		p    textSet
		lead string
		may  bool
	}{{textSet{textKey{prefix: "/a"}, "/a"}, "/a", true}, {textSet{textKey{prefix: "/a"}, "/a"}, "/a/b",
		true}, {textSet{textKey{prefix: "/a"}, "/a"}, "/ab", false},
		{textSet{textKey{exact: true, prefix: "/a"}, "/a"}, "/a/", false}, {textSet{textKey{}, "/"}, "/x", true}} {
		if c.p.canBeginWith(c.lead) != c.may {
			t.Errorf("%v, %s", c.p, c.lead)
		}
	}
}
