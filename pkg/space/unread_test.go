package space

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// TestValuesThatAreNotKnown: a match whose value was taken out may take every request with the
// header, and none without it.
func TestValuesThatAreNotKnown(t *testing.T) {
	input := []doc{
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": doc{"name": "gw"},
			"spec": doc{"gatewayClassName": "c",
				"listeners": []any{doc{"name": "l", "port": int64(80), "protocol": "HTTP"}}}},
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": doc{"name": "r"}, "spec": doc{
			"parentRefs": []any{doc{"name": "gw", "namespace": "infra"}}, "rules": []any{doc{"matches": []any{
				doc{"headers": []any{doc{"name": "x-key", "value": model.Redacted + "-1"}}}}, "backendRefs": []any{
				doc{"name": "svc", "port": int64(80)}}}}}},
	}
	settings := model.NewSettings(nil)
	m := request.NewMatcher(build.Graph(snapshot(input), settings), settings)
	var found []string
	if err := Walk(m, Scope{Destination: AnyDestination()}, func(c *Class) bool {
		may := slices.ContainsFunc(c.Possible, func(a *request.Answer) bool { return a.Rule != topology.None })
		switch {
		case may && c.Answer.RuleUncertain:
			found = append(found, c.Text()+": perhaps")
		case !may && c.Answer.Rule == topology.None:
			found = append(found, c.Text()+": nothing")
		default:
			found = append(found, c.Text()+": taken")
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"every host, every path, no header x-key: nothing",
		"every host, every path, any header x-key: perhaps"}
	if !slices.Equal(found, want) {
		t.Errorf("%q", found)
	}
}

// TestStepsOfAWalk: what is beyond the steps that a walk has for all is unknown, as what is beyond
// the bound of one part.
func TestStepsOfAWalk(t *testing.T) {
	var rules []any
	for _, path := range []string{"/a[0-9]+", "/[a-f]{4}"} {
		rules = append(rules, doc{"matches": []any{doc{"path": doc{"type": "RegularExpression", "value": path}}},
			"backendRefs": []any{doc{"name": "svc", "port": int64(80)}}})
	}
	input := []doc{
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": doc{"name": "gw"},
			"spec": doc{"gatewayClassName": "c",
				"listeners": []any{doc{"name": "l", "port": int64(80), "protocol": "HTTP"}}}},
		{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": doc{"name": "r"},
			"spec": doc{"hostnames": []any{"a.com", "b.com", "c.com"},
				"parentRefs": []any{doc{"name": "gw", "namespace": "infra"}}, "rules": rules}},
	}
	settings := model.NewSettings(map[string]any{gatewayapi.RegexRank: "afterPrefix"})
	m := request.NewMatcher(build.Graph(snapshot(input), settings), settings)
	unknown := func(steps int) (n int, hosts []string) {
		if err := Walk(m, Scope{Destination: AnyDestination(), Steps: steps}, func(c *Class) bool {
			if c.Unknown != "" {
				n++
				hosts = append(hosts, c.HostText())
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return n, slices.Compact(hosts)
	}
	if n, _ := unknown(0); n > 0 {
		t.Errorf("%d classes are unknown", n)
	}
	one := 0
	for steps := 1; one == 0 && steps < mostSteps; steps *= 2 { // enough for some hosts
		if _, hosts := unknown(steps); len(hosts) < 3 {
			one = steps
		}
	}
	if _, hosts := unknown(one); one == 0 || len(hosts) == 0 || slices.Contains(hosts, "host a.com") {
		t.Errorf("with %d steps, unknown are %q", one, hosts)
	}
	if _, hosts := unknown(1); len(hosts) != 3 {
		t.Errorf("%q", hosts)
	}
}
