package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// manifestOf is an object of the Gateway API in namespace demo with the given spec, a flow map of
// YAML.
func manifestOf(kind, name, spec string) string {
	return "apiVersion: gateway.networking.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name +
		", namespace: demo}\nspec: " + spec + "\n---\n"
}

func TestProblems(t *testing.T) {
	n := func(count int, entry string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(entry+", ", count), ", ") + "]"
	}
	sets := ""
	for i := range 7 {
		sets += manifestOf("ListenerSet", fmt.Sprintf("s%d", i), "{parentRef: {name: gw}}")
	}
	tests := []struct {
		name, in string
		want     []string
	}{
		{"none", class + demo + gateway + service +
			routeWith(`{parentRefs: [{name: gw}], rules: [{backendRefs: [{name: b, port: 80}]}]}`), nil},

		// G3
		{"one rule name twice", routeWith(`{rules: [{name: a}, {name: b}, {name: a}, {name: a}]}`), []string{
			"warning DuplicateRuleName httproute/demo/r: spec.rules[2] is called \"a\" like an earlier rule; the name means that one",
			"warning DuplicateRuleName httproute/demo/r: spec.rules[3] is called \"a\" like an earlier rule; the name means that one"}},
		{"the place of another rule",
			routeWith(`{rules: [{name: rule-2}, {name: rule-9}, {name: rule-3}, {name: rule-03}, {name: rule-}]}`),
			[]string{
				"warning RuleNameCollision httproute/demo/r: spec.rules[0] is called \"rule-2\" but is rule-1; the name wins",
				"warning RuleNameCollision httproute/demo/r: spec.rules[1] is called \"rule-9\" but is rule-2; the name wins"}},
		{"one parent twice",
			gateway +
				routeWith(
					`{parentRefs: [{name: gw, sectionName: web}, {name: gw}, {name: gw, sectionName: web, kind: Gateway}]}`), []string{
				"info DuplicateParentRef httproute/demo/r: spec.parentRefs[2] names gateway/demo/gw/web once more"}},

		//
		{"listeners", gatewayWith("[" + strings.TrimSuffix(fmt.Sprintf(strings.Repeat("{name: a%d}, ", 65),
			numbers(65)...), ", ") + "]"), []string{
			"warning InvalidObject gateway/demo/gw: spec.listeners has 65 entries; the API server takes at most 64"}},
		{"rules, hostnames", routeWith(`{rules: ` + n(17, "{}") + `, hostnames: ` + n(17, "a.x") + `}`), []string{
			"warning InvalidObject httproute/demo/r: spec.hostnames has 17 entries; the API server takes at most 16",
			"warning InvalidObject httproute/demo/r: spec.rules has 17 entries; the API server takes at most 16"}},
		{"matches of a rule", routeWith(`{rules: [{matches: ` + n(65, "{}") + `}]}`), []string{
			"warning InvalidObject httproute/demo/r: spec.rules[0].matches has 65 entries; the API server takes at most 64"}},
		{"matches of a route", routeWith(`{rules: [{matches: ` + n(64, "{}") + `}, {matches: ` + n(64, "{}") +
			`}, {matches: [{}]}]}`), []string{
			"warning InvalidObject httproute/demo/r: the rules have 129 matches together; the API server takes at most 128"}},
		{"parentRefs",
			gateway + routeWith(`{parentRefs: [`+
				strings.TrimSuffix(fmt.Sprintf(strings.Repeat("{name: gw, port: %d}, ", 33), numbers(33)...), ", ")+
				`]}`), []string{
				"warning InvalidObject httproute/demo/r: spec.parentRefs has 33 entries; the API server takes at most 32"}},

		// What the API server refuses too.
		{"two listeners of one name", gatewayWith(`[{name: a}, {name: a}]`), []string{
			"warning InvalidObject gateway/demo/gw: more than one listener is called \"a\""}},
		{"names that are missing", gatewayWith(`[{port: 1}]`) + routeWith(`{parentRefs: [{}]}`), []string{
			"warning InvalidObject gateway/demo/gw: spec.listeners[0] has no name and is ignored",
			"warning InvalidObject httproute/demo/r: spec.parentRefs[0] has no name and is ignored"}},
		{"namespaces from nowhere", gatewayWith(`[{name: a, allowedRoutes: {namespaces: {from: None}}}]`), []string{
			"warning InvalidObject gateway/demo/gw: spec.listeners[0].allowedRoutes.namespaces.from is None, which is none of All, Same and Selector; the listener takes no route"}},
		{"an unknown operator",
			gatewayWith(
				`[{name: a, allowedRoutes: {namespaces: {from: Selector, selector: {matchExpressions: [{key: k, operator: Is}]}}}}]`), []string{
				"warning InvalidObject gateway/demo/gw: spec.listeners[0].allowedRoutes.namespaces.selector.matchExpressions[0] has the operator Is, which does not exist; nothing is selected"}},

		// Wrong types.
		{"route", routeWith(`{hostnames: 5, rules: x, parentRefs: {}}`), []string{
			"warning WrongType httproute/demo/r: spec.hostnames is the number 5, not a list",
			"warning WrongType httproute/demo/r: spec.parentRefs is an object, not a list",
			"warning WrongType httproute/demo/r: spec.rules is a text, not a list"}},
		{"spec", routeWith(`[]`) + gatewayWith(`[]`) + manifestOf("Gateway", "g2", "true"), []string{
			"warning WrongType gateway/demo/g2: spec is a boolean, not an object",
			"warning WrongType httproute/demo/r: spec is a list, not an object"}},
		{"rules and parentRefs",
			routeWith(
				`{rules: [5, {name: [], backendRefs: {}}], parentRefs: [x, {name: 1.5}, {name: gw, port: 1.5}]}`),
			[]string{
				"warning WrongType httproute/demo/r: spec.parentRefs[0] is a text, not an object",
				"warning WrongType httproute/demo/r: spec.parentRefs[1].name is the number 1.5, not a text",
				"warning WrongType httproute/demo/r: spec.parentRefs[2].port is the number 1.5, not a port number",
				"warning WrongType httproute/demo/r: spec.rules[0] is the number 5, not an object",
				"warning WrongType httproute/demo/r: spec.rules[1].backendRefs is an object, not a list",
				"warning WrongType httproute/demo/r: spec.rules[1].name is a list, not a text"}},
		{"listeners of the wrong type",
			gatewayWith(
				`[5, {name: 5}, {name: a, port: http}, {name: b, allowedRoutes: {kinds: [5], namespaces: []}}]`),
			[]string{
				"warning WrongType gateway/demo/gw: spec.listeners[0] is the number 5, not an object",
				"warning WrongType gateway/demo/gw: spec.listeners[1].name is the number 5, not a text",
				"warning WrongType gateway/demo/gw: spec.listeners[2].port is a text, not a port number",
				"warning WrongType gateway/demo/gw: spec.listeners[3].allowedRoutes.kinds[0] is the number 5, not an object",
				"warning WrongType gateway/demo/gw: spec.listeners[3].allowedRoutes.namespaces is a list, not an object"}},
		{"ports", strings.Replace(service, "{port: 8080}", "{name: x, port: x}", 1), []string{
			"warning WrongType service/demo/b: spec.ports[1].port is a text, not a port number"}},
		{"grants", grantWith("5", "{kind: []}"), []string{
			"warning WrongType referencegrant/far/g: spec.from[0] is the number 5, not an object",
			"warning WrongType referencegrant/far/g: spec.to[0].kind is a list, not a text"}},

		// What is not evaluated, once for all it concerns.
		{"parents", routeWith(`{parentRefs: [{kind: ListenerSet, name: l}, {kind: ListenerSet, name: l2}]}`) +
			manifestOf("HTTPRoute", "q",
				`{parentRefs: [{kind: ListenerSet, name: l}, {group: "", kind: Service, name: l}]}`), []string{
			"info NotEvaluated service/demo/l: service/demo/l is not in the input; no path through it for 1 route: httproute/demo/q",
			"info NotEvaluated listenerset/demo/l: listenerset/demo/l is not in the input; no path through it for 2 routes: httproute/demo/q, httproute/demo/r",
			"info NotEvaluated listenerset/demo/l2: listenerset/demo/l2 is not in the input; no path through it for 1 route: httproute/demo/r"}},
		{"listener sets of a Gateway outside the input", sets, []string{
			"info NotEvaluated gateway/demo/gw: gateway/demo/gw is not in the input; no path through it for 7 listener sets: " +
				"listenerset/demo/s0, listenerset/demo/s1, listenerset/demo/s2, listenerset/demo/s3, listenerset/demo/s4 and 2 more"}},
		{"labels for the listener sets of a Gateway", manifestOf("Gateway", "gw",
			`{allowedListeners: {namespaces: {from: Selector, selector: {matchLabels: {a: b}}}}}`) +
			manifestOf("ListenerSet", "a", "{parentRef: {name: gw}}"), []string{
			"warning NotEvaluated namespace/demo: gateway/demo/gw selects namespaces by label, and the labels of namespace/demo are not known; " +
				"not evaluated for 1 listener set: listenerset/demo/a"}},
		{"what listener sets cannot name", manifestOf("ListenerSet", "a", "{}") + manifestOf("ListenerSet", "b",
			"{parentRef: {kind: HTTPRoute, name: r}}"), []string{
			"warning InvalidObject listenerset/demo/a: spec.parentRef has no name and is ignored",
			"warning InvalidObject listenerset/demo/b: spec.parentRef names httproute/demo/r, which is no Gateway; the listener set is ignored"}},
		{"words that do not exist", manifestOf("Gateway", "gw",
			`{defaultScope: Some, allowedListeners: {namespaces: {from: Every}}}`) +
			manifestOf("HTTPRoute", "r", "{useDefaultGateways: Every}"), []string{
			"warning InvalidObject gateway/demo/gw: spec.allowedListeners.namespaces.from is Every, which is none of All, Same, Selector and None; the Gateway takes no listener set",
			"warning InvalidObject gateway/demo/gw: spec.defaultScope is Some, which is none of All and None; it counts as None",
			"warning InvalidObject httproute/demo/r: spec.useDefaultGateways is Every, which is none of All and None; it counts as None"}},
		{"protocols", gatewayWith(`[{name: a, protocol: x.example.com/p}, {name: b, protocol: x.example.com/p}]`),
			[]string{
				"warning NotEvaluated: protocol x.example.com/p belongs to an implementation and is not evaluated: gateway/demo/gw/a, gateway/demo/gw/b"}},
		{"Gateways outside the input", routeWith(`{parentRefs: [{name: gw}, {name: gw, port: 1}]}`) +
			manifestOf("GRPCRoute", "r", `{parentRefs: [{name: gw}]}`), []string{
			"info NotEvaluated gateway/demo/gw: gateway/demo/gw is not in the input; no path through it for 2 routes: grpcroute/demo/r, httproute/demo/r"}},
		{"Services outside the input",
			routeWith(
				`{rules: [{backendRefs: [{name: x, port: 1}, {name: y, port: 1}]}, {backendRefs: [{name: x, port: 2}]}]}`), []string{
				"info NotEvaluated: 2 rules name 2 backends that are not in the input: not judged, assumed to exist: service/demo/x, service/demo/y"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { equal(t, "problems", build(t, tt.in).codes(), tt.want) })
	}
}

func numbers(n int) []any {
	var out []any
	for i := range n {
		out = append(out, i+1)
	}
	return out
}

// depth places every part of an object on the line that its path has segments.
func depth(path ...string) int { return len(path) }

func TestProblemsKnowTheirLine(t *testing.T) {
	all := objects(t, routeWith(`{rules: [{backendRefs: [{port: x}]}]}`))
	all[0].Body = model.Pack(all[0].Body.Value(), depth)
	ps := testGraph{Graph(model.NewSnapshot(all, nil), model.Settings{})}.Problems()
	if len(ps) != 1 || ps[0].Origin.String() != "in.yaml:6" { // spec rules 0 backendRefs 0 port
		t.Errorf("%v", ps[0].Origin)
	}
}

func TestHintsSayWhatToAdd(t *testing.T) {
	g := build(t,
		gateway+demo+
			routeWith(`{parentRefs: [{name: lost}], rules: [{backendRefs: [{name: b, namespace: far, port: 1}]}]}`))
	var got []string
	for _, p := range g.Problems() {
		got = append(got, p.Hint)
	}
	equal(t, "hints", got, []string{
		"add to namespace far a ReferenceGrant from kind HTTPRoute.gateway.networking.k8s.io, namespace demo, to kind Service, name b",
		"add the manifest of gateway/demo/lost",
	})
}

// TestAnyValueAnywhere puts values of every type at every place of objects that use every field.
func TestAnyValueAnywhere(t *testing.T) {
	in := demo + class + service + grantWith(`{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: demo}`,
		`{group: "", kind: Service, name: b}`) +
		gatewayWith(`[{name: a, port: 80, protocol: HTTP, hostname: "*.x", allowedRoutes: {kinds: [{group: gateway.networking.k8s.io, kind: HTTPRoute}],
			namespaces: {from: Selector, selector: {matchLabels: {a: b}, matchExpressions: [{key: k, operator: In, values: [v]}]}}}}]`) +
		manifestOf("Gateway", "open",
			`{defaultScope: All, allowedListeners: {namespaces: {from: Selector, selector: {matchLabels: {a: b}}}}, listeners: [{name: a, port: 80, protocol: HTTP}]}`) +
		manifestOf("ListenerSet", "s",
			`{parentRef: {group: gateway.networking.k8s.io, kind: Gateway, namespace: demo, name: open}, listeners: [{name: a, port: 80, protocol: HTTP}]}`) +
		routeWith(`{useDefaultGateways: All, hostnames: [a.x], parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: demo, name: gw, sectionName: a, port: 80}],
			rules: [{name: n, matches: [{}], backendRefs: [{group: "", kind: Service, namespace: demo, name: b, port: 80}]}]}`)
	values := []any{nil, "x", "", int64(5), int64(-1), int64(1) << 40, 1.5, 80.0, true, []any{}, []any{int64(7)},
		[]any{nil}, m{}, m{"x": nil}}
	all := objects(t, in)
	for _, o := range all {
		body, _ := o.Body.Value().(map[string]any)
		spec, ok := body["spec"]
		if !ok {
			continue
		}
		check := func() {
			o.Body = model.Pack(body, nil)
			g := testGraph{Graph(model.NewSnapshot(all, nil), model.Settings{})}
			for id := range topology.NodeID(g.Len()) {
				g.Attachments(id)
				g.Sections(g.Node(id).Ref)
				if n := g.Node(id); n.Ref.Section != "" && len(g.Lookup(n.Ref)) == 0 {
					t.Fatalf("%s is not found", n.Ref)
				}
			}
		}
		everywhere(spec, values, check)
		for _, v := range values {
			body["spec"] = v
			check()
		}
		body["spec"] = spec
		o.Body = model.Pack(body, nil)
	}
}

// everywhere calls check with each value in each place below v.
func everywhere(v any, values []any, check func()) {
	try := func(old any, set func(any)) {
		for _, value := range values {
			set(value)
			check()
		}
		set(old)
		everywhere(old, values, check)
	}
	switch v := v.(type) {
	case map[string]any:
		for key, old := range v {
			try(old, func(value any) { v[key] = value })
		}
	case []any:
		for i, old := range v {
			try(old, func(value any) { v[i] = value })
		}
	}
}
