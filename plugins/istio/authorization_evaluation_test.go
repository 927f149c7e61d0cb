package istio

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func TestFits(t *testing.T) {
	for _, c := range []struct {
		want, have string
		fits       bool
	}{
		{"/a", "/a", true}, {"/a", "/ab", false}, {"/a*", "/ab", true}, {"*/b", "/a/b", true}, {"*/b", "/a/bc", false}, {"*", "", false}, {"*", "x", true}, {"*b*", "/ab*", true}, {"*b*", "/abc", false},
	} {
		if got := matchesValue(c.want, c.have); got != c.fits {
			t.Errorf("%q takes %q: %v", c.want, c.have, got)
		}
	}
}

func values(v ...any) []any { return v }

func TestMatches(t *testing.T) {
	asked := request.Request{Protocol: request.HTTP, Method: "GET", Host: "Dome.Example", Port: 80, Path: "/sky/map", Headers: []request.Field{{Name: "X-Key", Value: "k1"}}}
	to := func(fields map[string]any) map[string]any {
		return map[string]any{"to": values(map[string]any{"operation": fields})}
	}
	when := func(key string, fields map[string]any) map[string]any {
		fields["key"] = key
		return map[string]any{"when": values(fields)}
	}
	for name, c := range map[string]struct {
		rule any
		want topology.Truth
	}{
		"everything":         {map[string]any{}, topology.Yes},
		"without rules":      {"matches no request", topology.No},
		"path and method":    {to(map[string]any{"paths": values("/sky*"), "methods": values("POST", "GET")}), topology.Yes},
		"not the path":       {to(map[string]any{"notPaths": values("/sky/*")}), topology.No},
		"host in other case": {to(map[string]any{"hosts": values("dome.example")}), topology.Yes},
		"host, usual port":   {to(map[string]any{"hosts": values("*:80")}), topology.No},
		"template":           {to(map[string]any{"paths": values("/{*}/map")}), topology.Maybe},
		"template beside":    {to(map[string]any{"paths": values("/{*}/map", "/sky/map")}), topology.Yes},
		"port of a Gateway":  {to(map[string]any{"ports": values("80")}), topology.Maybe},
		"somebody":           {map[string]any{"from": values(map[string]any{"source": map[string]any{"principals": values("*")}})}, topology.Maybe},
		"somebody elsewhere": {map[string]any{"from": values(map[string]any{"source": map[string]any{"principals": values("*")}}), "to": to(map[string]any{"paths": values("/x")})["to"]}, topology.No},
		"header":             {when("request.headers[x-key]", map[string]any{"values": values("k*")}), topology.Yes},
		"no such header":     {when("request.headers[x-other]", map[string]any{"values": values("*")}), topology.No},
		"header not there":   {when("request.headers[x-other]", map[string]any{"notValues": values("a")}), topology.Yes},
		"claim":              {when("request.auth.claims[iss]", map[string]any{"values": values("a")}), topology.Maybe},
		"wrong types":        {map[string]any{"from": "x", "to": values("y", nil), "when": values(7)}, topology.Maybe},
	} {
		j := ruleEvaluator{query: request.Query{Answer: &request.Answer{Request: asked}}}
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
		fits   topology.Truth
	}{
		{"sky.example", 80, false, topology.Yes}, {"sky.example", 443, true, topology.Yes}, {"sky.example", 8080, false, topology.Maybe}, {"sky.example", 443, false, topology.Maybe},
		{"sky.example*", 8080, false, topology.Yes}, {"sky.example:8080", 8080, false, topology.Maybe}, {"moon.example", 8080, false, topology.No}, {"*", 8080, false, topology.Yes},
	} {
		j := ruleEvaluator{}
		if got := j.matchHost(c.want, request.Request{Host: "Sky.Example", Port: c.port, Secure: c.secure}); got != c.fits {
			t.Errorf("%s at port %d: %v, want %v", c.want, c.port, got, c.fits)
		}
	}
}
