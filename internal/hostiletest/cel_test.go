//go:build linux

package hostiletest

import (
	"fmt"
	"strings"
)

// celAttacks are expressions that make much of little: each step doubles what the step before made.
var celAttacks = []attack{
	{name: "rules that double lists", args: "check -f @file",
		file: ruled(doubled("[1]", "a + a", "b == b", 28), 1), want: "evaluating them takes more than 5000000 steps"},
	{name: "rules that double lists in lists", args: "check -f @file",
		file: ruled(doubled("[1]", "[a, a]", "b == b", 24), 1), want: "evaluating them takes more than 5000000 steps"},
	{name: "rules that join what they doubled", args: "check -f @file",
		file: ruled(doubled("self.list", "a + a", "b.join('').size() > 0", 26), 1), want: "steps"},
	{name: "rules that double texts", args: "check -f @file",
		file: ruled(doubled("'xx'", "a.replace('x', a)", "b.size() > 0", 9), 1), want: "steps"},
	{name: "rules that compare huge quantities", args: "check -f @file",
		file: ruled("quantity('1e999999999') == quantity('1')", 1), want: "evaluating them takes more than 5000000 steps"},
	{name: "messages that double texts", args: "check -f @file", exit: 1, want: "out of cost budget",
		file: definition("", "x-kubernetes-validations: [{rule: 'false', messageExpression: \""+
			doubledText(40)+"\"}]", "v", 1)},
	{name: "doubling rules of many objects", args: "check -f @file",
		file: ruled(doubled("[1]", "a + a", "b == b", 19), 2_000), want: "more than 200000000 steps"},
	{name: "loops of rules in many objects", args: "check -f @file",
		file: ruledLists("self.list.all(x, self.list.all(y, self.list.all(z, true)))", 1_000, 30),
		want: "more than 200000000 steps"},
	{name: "a condition that doubles lists", args: "effective -A -f @file --vendor-setting kuadrant.profile=rfc",
		file: conditions(doubled("[1]", "a + a", "b == b", 26), 1), want: "takes more than 500000 steps"},
	{name: "many conditions that double lists", args: "effective -A -f @file --vendor-setting kuadrant.profile=rfc",
		file: conditions(doubled("[1]", "a + a", "b == b", 26), 1_000), want: "cost too much already"},
	{name: "a requirement that doubles lists", args: "check -f @served --requirements @file",
		file: requirements(doubled("[1]", "a + a", "b.sort().size() > 0", 26), 1), exit: 1,
		want: "takes more than 500000 steps"},
	{name: "loops within loops of requirements", args: "check -f @served --requirements @file",
		file: requirements(loops(8, "target != null"), 10), exit: 1,
		want: "costs too much together with the others"},
	{name: "many requirements that double lists", args: "check -f @served --requirements @file",
		file: requirements(doubled("[1]", "a + a", "2 in b || true", 26), 100), exit: 1,
		want: "costs too much together with the others"},
	{name: "a demand on requests that doubles lists", args: "prove -f @served --expression " +
		strings.ReplaceAll(doubled("[1]", "a+a", "b==b", 26), " ", ""), exit: 3, want: "takes more than 500000 steps"},
}

// doubled is an expression that binds a to first, then to what double makes of it, so many times, and
// asks of the last, which is b.
func doubled(first, double, ask string, times int) string {
	bind := func(name, value, in string) string { return "[" + value + "].all(" + name + ", " + in + ")" }
	out := bind("b", "a", ask)
	for range times {
		out = bind("a", double, out)
	}
	return bind("a", first, out)
}

// loops is an expression that is evaluated ten times for each power of ten.
func loops(deep int, body string) string {
	for i := range deep {
		body = fmt.Sprintf("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(v%d, %s)", i, body)
	}
	return body
}

// doubledText is an expression that gives a text, which is doubled so many times.
func doubledText(times int) string {
	out := "a"
	for range times {
		out = "[[a, a].join('')].map(a, " + out + ")[0]"
	}
	return "['xx'].map(a, " + out + ")[0]"
}

// ruled is a kind with a rule for its list, and so many objects of it, all different.
func ruled(rule string, objects int) func() []byte {
	rule = strings.ReplaceAll(rule, "self.list", "self")
	return manyThings("x-kubernetes-validations: [{rule: \""+rule+"\"}]", objects,
		func(i int) string { return fmt.Sprintf("[a%d]", i) })
}

// ruledLists is ruled for lists of so many entries.
func ruledLists(rule string, entries, objects int) func() []byte {
	rule = strings.ReplaceAll(rule, "self.list", "self")
	return manyThings("x-kubernetes-validations: [{rule: \""+rule+"\"}]", objects, func(i int) string {
		return "[" + strings.Repeat(fmt.Sprintf("a%d, ", i), entries-1) + "a]"
	})
}

// manyThings is a kind, with what its schema says of its list, and so many objects of it.
func manyThings(ofList string, objects int, list func(int) string) func() []byte {
	return func() []byte {
		var out strings.Builder
		head, _, _ := strings.Cut(string(definition("", ofList, "x", 0)()), "\n---\napiVersion: example.com")
		out.WriteString(head + "\n")
		for i := range objects {
			fmt.Fprintf(&out, "---\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t%d, namespace: a}\n"+
				"spec: {list: %s}\n", i, list(i))
		}
		return []byte(out.String())
	}
}

// served is a Gateway with a route to a Service.
const served = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: x}
spec: {controllerName: example.com/c}
---
apiVersion: v1
kind: Namespace
metadata: {name: a}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: a}
spec: {gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: v1
kind: Service
metadata: {name: b, namespace: a}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: a}
spec: {parentRefs: [{name: g}], rules: [{name: x, backendRefs: [{name: b, port: 80}]}]}
`

// conditions are so many policies of a Gateway with a condition each.
func conditions(when string, policies int) func() []byte {
	return func() []byte {
		var out strings.Builder
		out.WriteString(served)
		for i := range policies {
			fmt.Fprintf(&out, "---\napiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: p%d, namespace: a}\n"+
				"spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}\n  overrides:\n"+
				"    strategy: merge\n    when: \"%s && %d > 0\"\n"+
				"    rules: {authentication: {k: {apiKey: {selector: {matchLabels: {app: x}}}}}}\n", i, when, i+1)
		}
		return []byte(out.String())
	}
}

// requirements are so many requirements with an expression.
func requirements(expression string, n int) func() []byte {
	return func() []byte {
		var out strings.Builder
		out.WriteString("apiVersion: dopolicy.dev/v1alpha1\nkind: Requirements\nrequirements:\n")
		for i := range n {
			fmt.Fprintf(&out, "- {name: r%d, message: m, expression: \"%s\"}\n", i, expression)
		}
		return []byte(out.String())
	}
}
