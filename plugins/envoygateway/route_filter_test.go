package envoygateway

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestFilterReader tells filters that only change the path, or nothing that counts, from those that are
// left open.
func TestFilterReader(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"an expression", `{urlRewrite: {path: {replaceRegexMatch: {pattern: "/a", substitution: "/b"}}}}`, "/b/b"},
		{"groups", `{urlRewrite: {path: {replaceRegexMatch: {pattern: "^/(a)/(.*)$", substitution: "/$1\\2\\1"}}}}`, "/$1aa"},
		{"a credential", `{credentialInjection: {credential: {valueRef: {name: x}}}}`, "/a/a"},
		{"a wrong expression", `{urlRewrite: {path: {replaceRegexMatch: {pattern: "(", substitution: ""}}}}`, "open"},
		{"a host", `{urlRewrite: {hostname: {type: Backend}}}`, "open"},
		{"an answer", `{directResponse: {}}`, "open"},
		{"cookies", `{matches: [{cookies: [{name: x, value: "1"}]}]}`, "restricts"},
	} {
		text := "{apiVersion: gateway.envoyproxy.io/v1alpha1, kind: HTTPRouteFilter, metadata: {name: f, namespace: a}, spec: " + c.spec + "}"
		in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		got := "open"
		effect, known := newFilterReader(in)(model.Ref{Group: policyGroup, Kind: "HTTPRouteFilter", Namespace: "a", Name: "f"})
		if effect.Restricts {
			got = "restricts"
		}
		if known {
			got = "/a/a"
			if effect.Path != nil {
				got = effect.Path(got)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
