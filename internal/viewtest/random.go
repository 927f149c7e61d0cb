package viewtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Doc is a manifest.
type Doc = map[string]any

// Generator draws inputs in which much competes: two Gateways, routes of two namespaces with all
// sorts of matches, policies at every level.
type Generator struct{ *rand.Rand }

// Pick returns one of several values.
func Pick[T any](d Generator, of ...T) T { return of[d.IntN(len(of))] }

// Chance is true so often out of a hundred times.
func (d Generator) Chance(percent int) bool { return d.IntN(100) < percent }

// Timestamp is a time of creation that nothing else has.
func Timestamp(n int) string { return fmt.Sprintf("2024-01-01T%02d:%02d:00Z", n/60, n%60) }

// Input draws the manifests of an input.
func (d Generator) Input() []Doc {
	var out []Doc
	for g := range 2 {
		var listeners []any
		for i := range 1 + d.IntN(2) {
			l := Doc{"name": fmt.Sprintf("l%d", i), "port": 80, "protocol": "HTTP",
				"allowedRoutes": Doc{"namespaces": Doc{"from": "All"}}}
			if i > 0 {
				l["hostname"] = Pick(d, "*.b.com", "a.b.com")
			}
			listeners = append(listeners, l)
		}
		out = append(out, Doc{"apiVersion": GatewayGroup + "/v1", "kind": "Gateway",
			"metadata": Doc{"namespace": "infra", "name": fmt.Sprintf("gw%d", g)},
			"spec":     Doc{"gatewayClassName": "c", "listeners": listeners}})
	}
	for i := range 2 + d.IntN(4) {
		out = append(out, d.route(i))
	}
	for i, name := range []string{"old", "young"} { // of which the older one takes the requests
		out = append(out, Doc{"apiVersion": GatewayGroup + "/v1", "kind": "HTTPRoute",
			"metadata": Doc{"namespace": "team", "name": name, "creationTimestamp": Timestamp(300 + i)},
			"spec": Doc{"parentRefs": []any{Doc{"name": "gw0", "namespace": "infra"}}, "hostnames": []any{"tie.com"},
				"rules": []any{Doc{"name": "n0",
					"matches": []any{Doc{"path": Doc{"type": "PathPrefix", "value": "/"}}}, "backendRefs": []any{
						Doc{"name": name, "port": 80, "weight": 1}}}}}})
	}
	out = append(out, Doc{"apiVersion": GatewayGroup + "/v1beta1", "kind": "ReferenceGrant",
		"metadata": Doc{"namespace": "data", "name": "all"},
		"spec": Doc{"from": []any{Doc{"group": GatewayGroup, "kind": "HTTPRoute", "namespace": "team"},
			Doc{"group": GatewayGroup, "kind": "HTTPRoute", "namespace": "other"}}, "to": []any{Doc{"group": "",
			"kind": "Service"}}}})
	for i := range 2 + d.IntN(4) {
		out = append(out, d.policy(i, out))
	}
	return out
}

func (d Generator) route(i int) Doc {
	parents := []any{Doc{"name": "gw0", "namespace": "infra"}}
	if d.Chance(30) {
		parents = append(parents, Doc{"name": "gw1", "namespace": "infra"})
	}
	spec := Doc{"parentRefs": parents}
	if d.Chance(60) {
		spec["hostnames"] = []any{Pick(d, "a.b.com", "*.b.com", "z.com")}
	}
	var rules []any
	seen := map[string]bool{}
	for n := range 1 + d.IntN(3) {
		rule := Doc{"name": fmt.Sprintf("n%d", n), "backendRefs": d.backends()}
		var matches []any
		for range 1 + d.IntN(2) {
			m := d.match()
			if text, _ := json.Marshal(m); !seen[string(text)] {
				seen[string(text)] = true
				matches = append(matches, m)
			}
		}
		if matches == nil {
			continue
		}
		rule["matches"] = matches
		if d.Chance(30) {
			rule["filters"] = []any{Doc{"type": "RequestHeaderModifier",
				"requestHeaderModifier": Doc{"set": []any{Doc{"name": "x-a", "value": "1"}}}}}
		}
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	return Doc{"apiVersion": GatewayGroup + "/v1", "kind": "HTTPRoute", "spec": spec,
		"metadata": Doc{"namespace": Pick(d, "team", "other"), "name": fmt.Sprintf("r%d", i),
			"creationTimestamp": Timestamp(i)}}
}

func (d Generator) backends() []any {
	out := []any{Doc{"name": Pick(d, "s", "t"), "port": 80, "weight": 1 + d.IntN(3)}}
	if d.Chance(40) {
		out = append(out, Doc{"name": "u", "namespace": "data", "port": 80, "weight": 1 + d.IntN(3)})
	}
	return out
}

func (d Generator) match() Doc {
	m := Doc{"path": Doc{"type": Pick(d, "Exact", "PathPrefix", "PathPrefix"), "value": Pick(d, "/", "/a",
		"/a/b", "/c")}}
	if d.Chance(25) {
		m["method"] = Pick(d, "GET", "POST")
	}
	if d.Chance(25) {
		m["headers"] = []any{Doc{"name": "x", "value": Pick(d, "1", "2")}}
	}
	if d.Chance(15) {
		m["queryParams"] = []any{Doc{"name": "q", "value": "1"}}
	}
	return m
}

func (d Generator) policy(i int, docs []Doc) Doc {
	target := Pick(d, OfKinds(docs, "Gateway", "HTTPRoute")...)
	ref := Doc{"group": GatewayGroup, "kind": target["kind"], "name": Metadata(target, "name")}
	switch {
	case target["kind"] == "Gateway" && d.Chance(40):
		ref["sectionName"] = "l0"
	case target["kind"] == "HTTPRoute" && d.Chance(40) && len(SpecList(target, "rules")) > 0:
		ref["sectionName"] = Pick(d, SpecList(target, "rules")...).(Doc)["name"]
	}
	spec := Doc{"targetRefs": []any{ref}}
	fields := Doc{Pick(d, "auth", "ttl"): fmt.Sprint(i)}
	if block := Pick(d, "", "defaults", "overrides"); block == "" {
		for k, v := range fields {
			spec[k] = v
		}
	} else {
		spec[block] = fields
	}
	return Doc{"apiVersion": "x.io/v1", "kind": "Cache", "spec": spec,
		"metadata": Doc{"namespace": Metadata(target, "namespace"), "name": fmt.Sprintf("p%d", i),
			"creationTimestamp": Timestamp(100 + i)}}
}

// Metadata returns a field of the metadata of a manifest.
func Metadata(d Doc, name string) string { text, _ := d["metadata"].(Doc)[name].(string); return text }

// SpecList returns a list of the spec of a manifest.
func SpecList(d Doc, field string) []any { out, _ := d["spec"].(Doc)[field].([]any); return out }

// OfKinds returns the manifests of some kinds.
func OfKinds(docs []Doc, kinds ...string) []Doc {
	return slices.DeleteFunc(slices.Clone(docs),
		func(d Doc) bool { return !slices.Contains(kinds, d["kind"].(string)) })
}

// Copy returns a copy of manifests that shares nothing with them.
func Copy(docs []Doc) []Doc {
	raw, _ := json.Marshal(docs)
	var out []Doc
	_ = json.Unmarshal(raw, &out)
	return out
}

// GuardingCacheKind is the kind of the policies that are drawn: auth is a login, which asks nobody
// where it says so.
const GuardingCacheKind = CacheKind + `protects:
  authentication: [{at: auth, method: basic, unless: {auth: {changed: MissingAllowed}}}]
  rateLimit: [{at: ttl}]
`

// Resolve resolves manifests.
func Resolve(t *testing.T, docs []Doc) view.Input {
	t.Helper()
	var texts []string
	for _, d := range docs {
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(raw))
	}
	r := ResolvedAs(t, GuardingCacheKind, descriptor.Functions{}, texts...)
	return view.Input{Resolution: r, Matcher: request.NewMatcher(r.Graph, model.Settings{})}
}
