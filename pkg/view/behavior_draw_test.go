package view

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// doc is a manifest.
type doc = map[string]any

// drawn draws inputs in which much competes: two Gateways, routes of two namespaces with all sorts of matches, policies at every level.
type drawn struct{ *rand.Rand }

// one returns one of several values.
func one[T any](d drawn, of ...T) T { return of[d.IntN(len(of))] }

// chance is true so often out of a hundred times.
func (d drawn) chance(percent int) bool { return d.IntN(100) < percent }

// stamp is a time of creation that nothing else has.
func stamp(n int) string { return fmt.Sprintf("2024-01-01T%02d:%02d:00Z", n/60, n%60) }

// input draws the manifests of an input.
func (d drawn) input() []doc {
	var out []doc
	for g := range 2 {
		var listeners []any
		for i := range 1 + d.IntN(2) {
			l := doc{"name": fmt.Sprintf("l%d", i), "port": 80, "protocol": "HTTP", "allowedRoutes": doc{"namespaces": doc{"from": "All"}}}
			if i > 0 {
				l["hostname"] = one(d, "*.b.com", "a.b.com")
			}
			listeners = append(listeners, l)
		}
		out = append(out, doc{"apiVersion": gateways + "/v1", "kind": "Gateway", "metadata": doc{"namespace": "infra", "name": fmt.Sprintf("gw%d", g)},
			"spec": doc{"gatewayClassName": "c", "listeners": listeners}})
	}
	for i := range 2 + d.IntN(4) {
		out = append(out, d.route(i))
	}
	for i, name := range []string{"old", "young"} { // of which the older one takes the requests
		out = append(out, doc{"apiVersion": gateways + "/v1", "kind": "HTTPRoute", "metadata": doc{"namespace": "team", "name": name, "creationTimestamp": stamp(300 + i)},
			"spec": doc{"parentRefs": []any{doc{"name": "gw0", "namespace": "infra"}}, "hostnames": []any{"tie.com"},
				"rules": []any{doc{"name": "n0", "matches": []any{doc{"path": doc{"type": "PathPrefix", "value": "/"}}}, "backendRefs": []any{doc{"name": name, "port": 80, "weight": 1}}}}}})
	}
	out = append(out, doc{"apiVersion": gateways + "/v1beta1", "kind": "ReferenceGrant", "metadata": doc{"namespace": "data", "name": "all"},
		"spec": doc{"from": []any{doc{"group": gateways, "kind": "HTTPRoute", "namespace": "team"}, doc{"group": gateways, "kind": "HTTPRoute", "namespace": "other"}}, "to": []any{doc{"group": "", "kind": "Service"}}}})
	for i := range 2 + d.IntN(4) {
		out = append(out, d.policy(i, out))
	}
	return out
}

func (d drawn) route(i int) doc {
	parents := []any{doc{"name": "gw0", "namespace": "infra"}}
	if d.chance(30) {
		parents = append(parents, doc{"name": "gw1", "namespace": "infra"})
	}
	spec := doc{"parentRefs": parents}
	if d.chance(60) {
		spec["hostnames"] = []any{one(d, "a.b.com", "*.b.com", "z.com")}
	}
	var rules []any
	seen := map[string]bool{}
	for n := range 1 + d.IntN(3) {
		rule := doc{"name": fmt.Sprintf("n%d", n), "backendRefs": d.backends()}
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
		if d.chance(30) {
			rule["filters"] = []any{doc{"type": "RequestHeaderModifier", "requestHeaderModifier": doc{"set": []any{doc{"name": "x-a", "value": "1"}}}}}
		}
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	return doc{"apiVersion": gateways + "/v1", "kind": "HTTPRoute", "spec": spec,
		"metadata": doc{"namespace": one(d, "team", "other"), "name": fmt.Sprintf("r%d", i), "creationTimestamp": stamp(i)}}
}

func (d drawn) backends() []any {
	out := []any{doc{"name": one(d, "s", "t"), "port": 80, "weight": 1 + d.IntN(3)}}
	if d.chance(40) {
		out = append(out, doc{"name": "u", "namespace": "data", "port": 80, "weight": 1 + d.IntN(3)})
	}
	return out
}

func (d drawn) match() doc {
	m := doc{"path": doc{"type": one(d, "Exact", "PathPrefix", "PathPrefix"), "value": one(d, "/", "/a", "/a/b", "/c")}}
	if d.chance(25) {
		m["method"] = one(d, "GET", "POST")
	}
	if d.chance(25) {
		m["headers"] = []any{doc{"name": "x", "value": one(d, "1", "2")}}
	}
	if d.chance(15) {
		m["queryParams"] = []any{doc{"name": "q", "value": "1"}}
	}
	return m
}

func (d drawn) policy(i int, docs []doc) doc {
	target := one(d, find(docs, "Gateway", "HTTPRoute")...)
	ref := doc{"group": gateways, "kind": target["kind"], "name": meta(target, "name")}
	switch {
	case target["kind"] == "Gateway" && d.chance(40):
		ref["sectionName"] = "l0"
	case target["kind"] == "HTTPRoute" && d.chance(40) && len(listOf(target, "rules")) > 0:
		ref["sectionName"] = one(d, listOf(target, "rules")...).(doc)["name"]
	}
	spec := doc{"targetRefs": []any{ref}}
	fields := doc{one(d, "auth", "ttl"): fmt.Sprint(i)}
	if block := one(d, "", "defaults", "overrides"); block == "" {
		for k, v := range fields {
			spec[k] = v
		}
	} else {
		spec[block] = fields
	}
	return doc{"apiVersion": "x.io/v1", "kind": "Cache", "spec": spec,
		"metadata": doc{"namespace": meta(target, "namespace"), "name": fmt.Sprintf("p%d", i), "creationTimestamp": stamp(100 + i)}}
}

// meta returns a field of the metadata of a manifest.
func meta(d doc, name string) string { text, _ := d["metadata"].(doc)[name].(string); return text }

// listOf returns a list of the spec of a manifest.
func listOf(d doc, field string) []any { out, _ := d["spec"].(doc)[field].([]any); return out }

// find returns the manifests of some kinds.
func find(docs []doc, kinds ...string) []doc {
	return slices.DeleteFunc(slices.Clone(docs), func(d doc) bool { return !slices.Contains(kinds, d["kind"].(string)) })
}

// copied returns a copy of manifests that shares nothing with them.
func copied(docs []doc) []doc {
	raw, _ := json.Marshal(docs)
	var out []doc
	_ = json.Unmarshal(raw, &out)
	return out
}

// guardingCaches is the kind of the policies that are drawn: auth is a login, which asks nobody where it says so.
const guardingCaches = caches + `protects:
  authentication: [{at: auth, method: basic, unless: {auth: {changed: MissingAllowed}}}]
  rateLimit: [{at: ttl}]
`

// sideOf resolves documents.
func sideOf(t *testing.T, docs []doc) DiffInput {
	t.Helper()
	var texts []string
	for _, d := range docs {
		raw, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(raw))
	}
	r := resolvedAs(t, guardingCaches, descriptor.Functions{}, texts...)
	return DiffInput{Resolution: r, Matcher: request.NewMatcher(r.Graph, model.Settings{})}
}

// facts are what a request gets, by the answer to it alone, without the names that do not count.
func facts(r *resolve.Resolution, a *request.Answer) string {
	out := Request(r, ExpectedAnswer{Answer: a}, nil, Judges{})
	total := 0
	for _, b := range r.Graph.BackendRefs(max(a.Rule, 0)) {
		total += b.Weight
	}
	var shares, settings []string
	if a.Rule >= 0 && out.Location == "" {
		for _, b := range r.Graph.BackendRefs(a.Rule) {
			shares = append(shares, fmt.Sprintf("%s %s %.4f", b.Ref, b.Reason, float64(b.Weight)/float64(total)))
		}
	}
	for _, e := range out.Effective {
		for _, rule := range e.Rules {
			settings = append(settings, fmt.Sprint(e.PolicyKind, e.Target.Kind, e.Target.Section != "", rule.Name, rule.Value))
		}
	}
	filters := ""
	if a.Rule >= 0 {
		rule := ruleOf(r, a)
		raw, _ := json.Marshal([]any{rule["filters"], rule["timeouts"]})
		filters = string(raw)
	}
	slices.Sort(shares)
	slices.Sort(settings)
	return fmt.Sprint(out.Outcome, out.Status, out.Location, shares, filters, settings)
}

func ruleOf(r *resolve.Resolution, a *request.Answer) doc {
	n := r.Node(a.Rule)
	rules, _ := n.Object.Body.Get("spec", "rules").([]any)
	rule, _ := rules[n.Index].(doc)
	return rule
}
