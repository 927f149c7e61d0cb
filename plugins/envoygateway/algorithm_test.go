package envoygateway

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// object is an object of the vendor's, from the YAML of its spec.
func object(t *testing.T, kind, name, spec string) *model.Object {
	t.Helper()
	body := map[string]any{"spec": value(t, spec)}
	return &model.Object{Ref: model.Ref{Group: policyGroup, Kind: kind, Namespace: "app", Name: name},
		Body: model.Pack(body, nil)}
}

// value reads YAML; numbers are as objects hold them.
func value(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return numbers(v)
}

func numbers(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// What the types add and leave out, of a policy that is merged only.
func TestTyped(t *testing.T) {
	defaults := model.NewSettings(map[string]any{"envoygateway.applyCRDDefaults": true})
	plain := model.NewSettings(map[string]any{})
	for _, c := range []struct {
		name, kind, spec, want string
		settings               model.Settings
	}{
		{"not merged", "SecurityPolicy", "{authorization: {}, cors: {allowOrigins: []}}",
			"{authorization: {}, cors: {allowOrigins: []}}", plain},
		{"empty lists go at any depth", "SecurityPolicy",
			"{mergeType: JSONMerge, cors: {allowOrigins: []}, jwt: {providers: [{audiences: []}]}}",
			"{mergeType: JSONMerge, cors: {}, jwt: {providers: [{}]}}", plain},
		{"a null that deletes", "SecurityPolicy", "{mergeType: JSONMerge, authorization: {rules: [a]}}",
			"{mergeType: JSONMerge, authorization: {rules: [a], defaultAction: null}}", plain},
		{"what is there stays", "SecurityPolicy", "{mergeType: JSONMerge, authorization: {defaultAction: Deny}}",
			"{mergeType: JSONMerge, authorization: {defaultAction: Deny}}", plain},
		{"no object, no field", "SecurityPolicy", "{mergeType: JSONMerge, oidc: {clientSecret: {name: s}}}",
			"{mergeType: JSONMerge, oidc: {clientSecret: {name: s}}}", plain},
		{"a blank", "SecurityPolicy", "{mergeType: JSONMerge, oidc: {provider: {}, clientSecret: {name: s}}}",
			"{mergeType: JSONMerge, oidc: {provider: {issuer: ''}, clientSecret: {name: s}}}", plain},
		{"another kind", "BackendTrafficPolicy", "{mergeType: JSONMerge, authorization: {}}",
			"{mergeType: JSONMerge, authorization: {}}", plain},
		{"without defaults", "BackendTrafficPolicy", "{mergeType: JSONMerge, healthCheck: {active: {type: TCP}}}",
			"{mergeType: JSONMerge, healthCheck: {active: {type: TCP, timeout: null, interval: null, unhealthyThreshold: null, healthyThreshold: null}}}", plain},
		{"defaults stand there instead", "BackendTrafficPolicy",
			"{mergeType: JSONMerge, healthCheck: {active: {type: TCP}}}",
			"{mergeType: JSONMerge, healthCheck: {active: {type: TCP}}}", defaults},
		{"names of rules", "BackendTrafficPolicy", "{rateLimit: {global: {rules: [{name: x, limit: 1}, {limit: 2}]}}}",
			"{rateLimit: {global: {rules: [{name: app/p/rule/0, limit: 1}, {name: app/p/rule/1, limit: 2}]}}}", plain},
		{"group of selectors", "BackendTrafficPolicy", "{targetSelectors: [{kind: Gateway}, {kind: X, group: y}]}",
			"{targetSelectors: [{kind: Gateway, group: gateway.networking.k8s.io}, {kind: X, group: y}]}", plain},
	} {
		o := object(t, c.kind, "p", c.spec)
		before := o.Body.Value()
		got := toTyped(o, before, c.settings).(map[string]any)["spec"]
		if want := value(t, c.want); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, want)
		}
		if !reflect.DeepEqual(before, o.Body.Value()) {
			t.Errorf("%s: what was handed in is changed", c.name)
		}
	}
	object := toTyped(object(t, "BackendTrafficPolicy", "p", "{rateLimit: {local: {rules: [{name: x}]}}}"),
		map[string]any{"spec": value(t, "{rateLimit: {local: {rules: [{name: x}]}}}")},
		model.NewSettings(map[string]any{"envoygateway.stage": "object-merge"}))
	if got := fmt.Sprint(object); strings.Contains(got, "x") || strings.Contains(got, "app/p") {
		t.Errorf("the bare merge of objects has names: %s", got)
	}
}

// Rules of child and parent make one list, or by a JSON merge patch the child's take their place;
// the bucket for everything else is the child's.
func TestJoinRules(t *testing.T) {
	from := func(i int) []merge.Source { return []merge.Source{{Layer: i, Block: merge.Bare}} }
	for _, c := range []struct {
		scope, parent, child, want, sources string
		json                                bool
	}{
		{"global", "[{name: p}]", "[{name: c}]", "[{name: c}, {name: p}]", "[0 1]", false},
		{"local", "[{name: bucket}, {name: p, clientSelectors: [x]}]", "[{name: c}]",
			"[{name: c}, {name: p, clientSelectors: [x]}]", "[0 1]", false},
		{"local", "[{name: bucket}]", "[{name: c, clientSelectors: [x]}]", "[{name: c, clientSelectors: [x]}]",
			"[1]", false},
		{"global", "[{name: bucket}]", "[]", "[{name: bucket}]", "[0 1]", false},
		{"global", "[{name: p}]", "[{name: c}]", "[{name: c}]", "[1]", true},
		{"local", "[{name: p, clientSelectors: [x]}]", "[{name: c, clientSelectors: [y]}]",
			"[{name: c, clientSelectors: [y]}]", "[1]", true},
		{"local", "[{name: bucket}, {name: p, clientSelectors: [x]}]", "[{name: c}]",
			"[{name: c}, {name: p, clientSelectors: [x]}]", "[0 1]", true},
	} {
		path := merge.KeyPath("rateLimit", c.scope, "rules")
		got, effects := mergeRules(merge.Unit{Path: path, Value: value(t, c.parent), From: from(0)},
			merge.Unit{Path: path, Value: value(t, c.child), From: from(1)}, c.json)
		var sources []int
		for _, f := range got.From {
			sources = append(sources, f.Layer)
		}
		if !reflect.DeepEqual(got.Value, value(t, c.want)) || fmt.Sprint(sources) != c.sources || len(effects) != 2 {
			t.Errorf("%s under %s: %v from %v, %d effects", c.child, c.parent, got.Value, sources, len(effects))
		}
	}
}

// The search for the routing type. A layer is LEVEL=VALUE, with + for a mergeType; a value of -
// says nothing.
func TestRoutingType(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"gateway=G", "G"},
		{"gateway=G listener=L", "L"},
		{"gateway=G listener=-", "G"}, // the rest of the listener's policy replaces the Gateway's
		{"gateway=G listenerSet=S listener=-", "S"},
		{"gateway=G route=-", ""},
		{"gateway=G route=-+", "G"},
		{"gateway=G route=R+", "R"},
		{"gateway=G route=R rule=-+", "G"}, // the rule's policy hides the route's
		{"gateway=G route=R rule=-", ""},
		{"gateway=G route=R rule=U", "U"},
		{"route=-+", ""},
		{"route=R rule=-+", ""},
	} {
		var s merge.Stack
		for i, text := range strings.Fields(c.stack) {
			level, v, _ := strings.Cut(text, "=")
			l := merge.Layer{Level: level}
			if strings.HasSuffix(v, "+") {
				l.DemandedStrategy = &merge.Strategy{}
			}
			if v = strings.TrimSuffix(v, "+"); v != "-" {
				l.Blocks = []merge.Block{{Kind: merge.Bare, Units: []merge.Unit{{Path: merge.KeyPath("routingType"),
					Value: v, From: []merge.Source{{Layer: i, Block: merge.Bare}}}}}}
			}
			s.Layers = append(s.Layers, l)
		}
		units, effects := newRoutingTypePlan(model.Settings{})(s)
		got := ""
		for _, u := range units {
			got += fmt.Sprint(u.Value)
		}
		said := strings.Count(c.stack, "=") - strings.Count(c.stack, "=-")
		if got != c.want || len(effects) != said {
			t.Errorf("%s: %q, want %q; %d effects of %d", c.stack, got, c.want, len(effects), said)
		}
	}
}

// Of 18 entries 16 are kept: not accepted ones first, then overridden ones, then by name.
func TestTruncation(t *testing.T) {
	book := &statusWriter{}
	ref := func(i int) model.Ref {
		return model.Ref{Kind: "Gateway", Namespace: "ns", Name: fmt.Sprintf("g%02d", i)}
	}
	for i := range 18 {
		book.setAccepted(listOne(ref(i)))
	}
	book.setRefused(listOne(ref(17)), "Conflicted", "c")
	book.setTrue(listOne(ref(16)), "Overridden", "o")
	out := book.buildAncestors()
	var names, marked []string
	for _, a := range out {
		names = append(names, a.Ref.Name)
		if slices.ContainsFunc(a.Conditions, func(c status.Condition) bool { return c.Type == "Aggregated" }) {
			marked = append(marked, a.Ref.Name)
		}
	}
	if len(out) != 16 || slices.Contains(names, "g14") || slices.Contains(names, "g15") ||
		!slices.Contains(names, "g17") || !slices.Equal(marked, []string{"g13"}) {
		t.Errorf("%v, marked %v", names, marked)
	}
}

// A policy that names what an earlier one names is out, and what it names behind the clash is free.
func TestClashes(t *testing.T) {
	tls := func(name string, sections ...string) *model.Object {
		var refs []string
		for _, s := range sections {
			refs = append(refs, "{kind: Service, name: s, sectionName: "+s+"}")
		}
		return object(t, "BackendTLSPolicy", name, "{targetRefs: ["+strings.Join(refs, ", ")+"]}")
	}
	got := findConflicts([]*model.Object{tls("a", "x"), tls("b", "w", "x", "y"), tls("c", "y"), tls("d", "w")})
	var lost []string
	for loser, winner := range got {
		lost = append(lost, loser.Name+"<"+winner.Name)
	}
	slices.Sort(lost)
	if want := []string{"b<a", "d<b"}; !slices.Equal(lost, want) {
		t.Errorf("%v, want %v", lost, want)
	}
}

// What the controller holds against SecurityPolicies of routes.
func TestInvalidSecurity(t *testing.T) {
	for _, c := range []struct{ kind, child, parent, want string }{
		{"TCPRoute", "{authorization: {rules: [{principal: {clientCIDRs: [10.0.0.0/8]}}]}}", "", ""},
		{"TCPRoute", "{cors: {}}", "", "only authorization"},
		{"TCPRoute", "{}", "{jwt: {}}", "only authorization"},
		{"TCPRoute", "{authorization: {rules: [{}, {principal: {headers: [a]}}]}}", "", "rule 1: headers"},
		{"TCPRoute", "{authorization: {rules: [{principal: {clientCIDRs: [10.0.0.0]}}]}}", "", "invalid ClientCIDR"},
		{"HTTPRoute", "{cors: {}}", "", ""},
		{"HTTPRoute", "{oidc: {passThroughAuthHeader: true}}", "", "in conjunction with JWT settings"},
		{"HTTPRoute", "{oidc: {passThroughAuthHeader: true}}", "{jwt: {providers: [{}]}}", ""},
		{"HTTPRoute", "{oidc: {passThroughAuthHeader: true}, jwt: {providers: [{extractFrom: {cookies: [c]}}]}}", "",
			"read from a header"},
		{"HTTPRoute", "{apiKeyAuth: {extractFrom: [{headers: [a], params: [b]}]}}", "", "only one of headers"},
		{"HTTPRoute", "{apiKeyAuth: {}}", "{apiKeyAuth: {extractFrom: [{headers: [a], params: [b]}]}}", ""},
	} {
		s := mergedSpec{child: &policy.Policy{Object: object(t, "SecurityPolicy", "c", c.child)}}
		if c.parent != "" {
			s.parent = &policy.Policy{Object: object(t, "SecurityPolicy", "p", c.parent)}
		}
		if got := explainInvalidSecurity(s, c.kind); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s %s over %s: %q, want %q", c.kind, c.child, c.parent, got, c.want)
		}
	}
}
