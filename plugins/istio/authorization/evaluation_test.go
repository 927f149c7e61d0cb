package authorization

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

func TestFits(t *testing.T) {
	for _, c := range []struct {
		want, have string
		fits       bool
	}{
		{"/a", "/a", true}, {"/a", "/ab", false}, {"/a*", "/ab", true}, {"*/b", "/a/b", true}, {"*/b", "/a/bc",
			false}, {"*", "", false}, {"*", "x", true}, {"*b*", "/ab*", true}, {"*b*", "/abc", false},
	} {
		if got := matchesValue(c.want, c.have); got != c.fits {
			t.Errorf("%q takes %q: %v", c.want, c.have, got)
		}
	}
}

func values(v ...any) []any { return v }

func TestMatches(t *testing.T) {
	asked := request.Request{Protocol: request.HTTP, Method: "GET", Host: "Dome.Example", Port: 80, Path: "/sky/map",
		Headers: []request.Field{{Name: "X-Key", Value: "k1"}}}
	to := func(fields map[string]any) map[string]any {
		return map[string]any{"to": values(map[string]any{"operation": fields})}
	}
	when := func(key string, fields map[string]any) map[string]any {
		fields["key"] = key
		return map[string]any{"when": values(fields)}
	}
	for name, c := range map[string]struct {
		rule any
		want selector.Truth
	}{
		"everything":    {map[string]any{}, selector.Yes},
		"without rules": {"matches no request", selector.No},
		"path and method": {to(map[string]any{"paths": values("/sky*"), "methods": values("POST", "GET")}),
			selector.Yes},
		"not the path":       {to(map[string]any{"notPaths": values("/sky/*")}), selector.No},
		"host in other case": {to(map[string]any{"hosts": values("dome.example")}), selector.Yes},
		"host, usual port":   {to(map[string]any{"hosts": values("*:80")}), selector.No},
		"template":           {to(map[string]any{"paths": values("/{*}/map")}), selector.Maybe},
		"template beside":    {to(map[string]any{"paths": values("/{*}/map", "/sky/map")}), selector.Yes},
		"port of a Gateway":  {to(map[string]any{"ports": values("80")}), selector.Maybe},
		"somebody": {map[string]any{
			"from": values(map[string]any{"source": map[string]any{"principals": values("*")}})}, selector.Maybe},
		"somebody elsewhere": {map[string]any{
			"from": values(map[string]any{"source": map[string]any{"principals": values("*")}}),
			"to":   to(map[string]any{"paths": values("/x")})["to"]}, selector.No},
		"header":         {when("request.headers[x-key]", map[string]any{"values": values("k*")}), selector.Yes},
		"no such header": {when("request.headers[x-other]", map[string]any{"values": values("*")}), selector.No},
		"header not there": {when("request.headers[x-other]", map[string]any{"notValues": values("a")}),
			selector.Yes},
		"claim":       {when("request.auth.claims[iss]", map[string]any{"values": values("a")}), selector.Maybe},
		"wrong types": {map[string]any{"from": "x", "to": values("y", nil), "when": values(7)}, selector.Maybe},
	} {
		j := ruleEvaluator{Question: &Question{Answer: &request.Answer{Request: asked}}}
		if got := j.matchRule(c.rule); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestHost(t *testing.T) {
	for _, c := range []struct {
		want   string
		port   int32
		secure bool
		fits   selector.Truth
	}{
		{"sky.example", 80, false, selector.Yes}, {"sky.example", 443, true, selector.Yes}, {"sky.example", 8080,
			false, selector.Maybe}, {"sky.example", 443, false, selector.Maybe},
		{"sky.example*", 8080, false, selector.Yes}, {"sky.example:8080", 8080, false,
			selector.Maybe}, {"moon.example", 8080, false, selector.No}, {"*", 8080, false, selector.Yes},
	} {
		j := ruleEvaluator{Question: &Question{}}
		if got := j.matchHost(c.want, request.Request{Host: "Sky.Example", Port: c.port,
			Secure: c.secure}); got != c.fits {
			t.Errorf("%s at port %d: %v, want %v", c.want, c.port, got, c.fits)
		}
	}
}
