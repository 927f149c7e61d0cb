package requirement

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// paints describes two inherited kinds, and one of another group that shares its name.
const paints = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Paint.x.io
targets: [Gateway, Gateway/listener, HTTPRoute, HTTPRoute/rule, Namespace]
namespaces: any
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Gloss.x.io
extends: Paint.x.io
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Gloss.y.io
extends: Paint.x.io
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Seal.x.io
class: direct
targets: [Service, Service/port]`

// town is gateway/infra/main with listeners web and api, httproute/shop/cart with rules add and
// rule-2 on both, and httproute/bank/pay on web.
const town = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
spec: {controllerName: example.com/controller}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: red}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: main, namespace: infra}
spec:
  gatewayClassName: class
  listeners:
  - {name: web, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
  - {name: api, port: 81, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop, labels: {tier: front}}
spec: {parentRefs: [{name: main, namespace: infra}], rules: [{name: add}, {}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: pay, namespace: bank}
spec: {parentRefs: [{name: main, namespace: infra, sectionName: web}], rules: [{}]}
`

// shops is a Service with a port that httproute/shop/cart sends to.
const shops = `---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: more, namespace: shop}
spec: {parentRefs: [{name: main, namespace: infra, sectionName: web}], rules: [{backendRefs: [{name: cart, port: 80}]}]}
`

// withheld is the header of a snapshot of a cluster that withheld some lists.
func withheld(gaps string) string {
	return "apiVersion: dopolicy.dev/v1alpha1\nkind: Snapshot\ncluster: prod\ngaps: [" + gaps + "]\n---\n"
}

// paintOn is a policy on a target.
func paintOn(kind, name, target, section, spec string) string {
	kindOf, where, _ := strings.Cut(target, "/")
	space, on, _ := strings.Cut(where, "/")
	group, bare := "x.io", kind
	if k, g, found := strings.Cut(kind, "."); found {
		group, bare = g, k
	}
	ref := "group: gateway.networking.k8s.io, kind: " + kindOf + ", namespace: " + space + ", name: " + on
	if section != "" {
		ref += ", sectionName: " + section
	}
	return "---\napiVersion: " + group + "/v1\nkind: " + bare + "\nmetadata: {name: " + name + ", namespace: " +
		space + "}\nspec: {targetRef: {" + ref + "}, " + spec + "}\n"
}

func resolved(t *testing.T, manifests string) *resolve.Resolution {
	t.Helper()
	catalog, err := descriptor.NewCatalog(nil, []form.Source{{Name: "paints.yaml", Text: []byte(paints)}}, nil,
		descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(manifests)})
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, catalog.Settings(), catalog.Links()...), catalog)
}

func requirements(t *testing.T, text string) []*Requirement {
	t.Helper()
	reqs, err := Read([]form.Source{{Name: "r.yaml",
		Text: []byte("apiVersion: dopolicy.dev/v1alpha1\nkind: Requirements\nrequirements:\n" + text)}})
	if err != nil {
		t.Fatal(err)
	}
	return reqs
}

// asText is findings as text, one a line.
func asText(findings []model.Problem) string {
	var lines []string
	for _, f := range findings {
		line := string(f.Severity) + " " + string(f.Code) + ": "
		if f.Ref != nil {
			line += f.Ref.String() + ": "
		}
		lines = append(lines, line+f.Message)
	}
	return strings.Join(lines, "\n")
}

func TestRequirements(t *testing.T) {
	painted := town + paintOn("Paint", "gw", "Gateway/infra/main", "web", "defaults: {colour: {shade: 3}}") +
		paintOn("Paint", "add", "HTTPRoute/shop/cart", "add", "colour: {shade: 7}")
	for name, c := range map[string]struct{ in, req, want string }{
		"a rule without any policy": {town, `{name: painted, expression: "'Paint' in effective", message: Paint it.}`,
			"error requirement/painted: httproute/bank/pay/rule-1: Paint it: no Paint is in force via gateway/infra/main (web)\n" +
				"error requirement/painted: httproute/shop/cart/add: Paint it: no Paint is in force via gateway/infra/main (api, web)\n" +
				"error requirement/painted: httproute/shop/cart/rule-2: Paint it: no Paint is in force via gateway/infra/main (api, web)"},
		"only on some paths": {painted,
			`{name: painted, expression: "'Paint' in effective", message: Paint it, severity: warning}`,
			"warning requirement/painted: httproute/shop/cart/rule-2: Paint it: no Paint is in force via gateway/infra/main (api)"},
		"values": {painted,
			`{name: light, expression: "effective.?Paint.spec.colour.shade.orValue(0) < 5", message: too dark}`,
			"error requirement/light: httproute/shop/cart/add: too dark: Paint of shop/add is in force via gateway/infra/main (api, web)"},
		"sources": {painted,
			`{name: own, expression: "effective.all(k, effective[k].sources.all(s, s.policy.namespace == target.namespace))", message: foreign}`,
			"error requirement/own: httproute/bank/pay/rule-1: foreign: Paint of infra/gw is in force via gateway/infra/main (web)\n" +
				"error requirement/own: httproute/shop/cart/rule-2: foreign: Paint of infra/gw is in force via gateway/infra/main (web)"},
		"messages that are made": {painted,
			`{name: light, select: {rules: [add]}, expression: "effective.Paint.spec.colour.shade < 5", messageExpression: "'shade %d on %s'.format([effective.Paint.spec.colour.shade, path.listener])"}`,
			"error requirement/light: httproute/shop/cart/add: shade 7 on api: Paint of shop/add is in force via gateway/infra/main (api)\n" +
				"error requirement/light: httproute/shop/cart/add: shade 7 on web: Paint of shop/add is in force via gateway/infra/main (web)"},
		"where": {painted, `{name: never, select: {where: "target.name == 'pay'"}, expression: "false", message: no}`,
			"error requirement/never: httproute/bank/pay/rule-1: no: via gateway/infra/main (web)"},
		"listeners as targets": {painted,
			`{name: painted, select: {kinds: [Gateway]}, expression: "effective.size() > 0", message: bare}`,
			"error requirement/painted: gateway/infra/main/api: bare: no policy is in force via gatewayclass/class\n" +
				"error requirement/painted: gateway/infra/main/web: bare: no policy is in force via gatewayclass/class"},
		"an expression that fails": {town,
			`{name: light, expression: "effective.Paint.spec.colour.shade < 5", message: too dark}`,
			`error RequirementError: requirement "light" cannot be evaluated on 3 targets, such as httproute/bank/pay/rule-1 via gateway/infra/main (web): no such key: Paint`},
		"an expression that costs": {town,
			`{name: dear, expression: "lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))", message: no}`,
			`error RequirementError: requirement "dear" cannot be evaluated on 3 targets, such as httproute/bank/pay/rule-1 via gateway/infra/main (web): takes more than 500000 steps`},
		"nothing is selected": {town, `{name: a, select: {gateways: [infra/mian]}, expression: "true", message: no}`,
			`warning RequirementSelectsNothing: requirement "a" selects nothing: of what traffic reaches, none is reached through infra/mian`},
		"no such namespace": {town, `{name: a, select: {namespaces: [shopp]}, expression: "true", message: no}`,
			`warning RequirementSelectsNothing: requirement "a" selects nothing: of 3 route rules none is in namespaces shopp`},
		"labels of a namespace that is not there": {town,
			`{name: a, select: {namespaceSelector: {matchLabels: {team: red}}}, expression: "false", message: no}`,
			"error requirement/a: httproute/shop/cart/add: no: via gateway/infra/main (api, web)\nerror requirement/a: httproute/shop/cart/rule-2: no: via gateway/infra/main (api, web)\n" +
				`warning RequirementUnknown: httproute/bank/pay/rule-1: cannot tell whether requirement "a" is met on httproute/bank/pay/rule-1 via gateway/infra/main (web): the labels of namespace bank are not in the input`},
		"a policy kind that nobody knows": {town,
			`{name: a, select: {names: [pay]}, expression: "!('Pant' in effective)", message: no}`,
			`warning RequirementUnknown: httproute/bank/pay/rule-1: cannot tell whether requirement "a" is met on httproute/bank/pay/rule-1 via gateway/infra/main (web): no policy kind called Pant is known`},
		"a Gateway that is not there": {strings.Replace(town, "name: main, namespace: infra}\n",
			"name: other, namespace: infra}\n", 1),
			`{name: a, select: {gateways: [infra/main], names: [pay]}, expression: "true", message: no}`,
			`warning RequirementUnknown: httproute/bank/pay: cannot tell whether requirement "a" is met on httproute/bank/pay: gateway/infra/main is not in the input`},
		"policies that may not be read": {withheld("{group: x.io, kind: Paint, namespace: shop}") + town,
			`{name: a, expression: "'Paint' in effective", message: no}`,
			"warning RequirementUnknown: cannot tell whether requirement \"a\" is met on 2 targets, such as httproute/shop/cart/add via gateway/infra/main (api, web): forbidden: paints.x.io, paints.x.io in shop\n" +
				"warning RequirementUnknown: httproute/bank/pay/rule-1: cannot tell whether requirement \"a\" is met on httproute/bank/pay/rule-1 via gateway/infra/main (web): forbidden: paints.x.io"},
		"other policies that may not be read": {withheld("{group: x.io, kind: Paint}") + town,
			`{name: a, select: {names: [pay]}, expression: "'Gloss.x.io' in effective", message: no}`,
			"error requirement/a: httproute/bank/pay/rule-1: no: no Gloss.x.io is in force via gateway/infra/main (web)"},
		"targets that may not be read": {withheld(
			"{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: secret}") +
			town, `{name: a, expression: "true", message: no}`,
			`warning RequirementUnknown: requirement "a" is not judged on what is forbidden: httproutes.gateway.networking.k8s.io in secret`},
		"targets that may not be read, elsewhere": {withheld(
			"{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: secret}") + town,
			`{name: a, select: {namespaces: [bank]}, expression: "true", message: no}`, ""},
		"ports of Services": {town + shops,
			`{name: sealed, select: {kinds: [Service]}, expression: "'Seal' in effective", message: no}`,
			"error requirement/sealed: service/shop/cart/http: no: no Seal is in force via gateway/infra/main (web)"},
		"Services without anything that has results there": {town + shops,
			`{name: painted, select: {kinds: [Service]}, expression: "'Paint' in effective", message: no}`,
			`warning RequirementSelectsNothing: requirement "painted" selects nothing: there are no targets of its kinds at which Paint has results`},
		"two groups": {town + paintOn("Gloss", "one", "HTTPRoute/bank/pay", "", "a: 1") + paintOn("Gloss.y.io", "two",
			"HTTPRoute/bank/pay", "", "a: 2"),
			`{name: a, select: {names: [pay]}, expression: "effective.Gloss.spec.a == 1", message: no}`,
			`error RequirementError: httproute/bank/pay/rule-1: requirement "a" cannot be evaluated on httproute/bank/pay/rule-1 via gateway/infra/main (web): Gloss is a policy kind of several groups, which are in force together: write effective['Gloss.x.io'] or effective['Gloss.y.io']`},
		"two groups by their names": {town + paintOn("Gloss", "one", "HTTPRoute/bank/pay", "", "a: 1") +
			paintOn("Gloss.y.io", "two", "HTTPRoute/bank/pay", "", "a: 2"),
			`{name: a, select: {names: [pay]}, expression: "effective['Gloss.y.io'].spec.a == 1 || effective.size() != 2", message: no}`,
			`error requirement/a: httproute/bank/pay/rule-1: no: Gloss.x.io of bank/one, Gloss.y.io of bank/two are in force via gateway/infra/main (web)`},
	} {
		t.Run(name, func(t *testing.T) {
			got := FindProblems(resolved(t, c.in), requirements(t, "- "+c.req), Deciders{})
			if asText(got) != c.want {
				t.Errorf("found\n%s\nwant\n%s", asText(got), c.want)
			}
			for _, f := range got {
				if f.Origin == nil {
					t.Errorf("%s has no place", f.Message)
				}
			}
		})
	}
}

func TestPerSecond(t *testing.T) {
	for expression, want := range map[string]bool{
		"perSecond(100, '10s') == 10.0": true, "perSecond(60, '1m') == 1.0": true,
		"perSecond(3600, 'Hour') == 1.0": true, "perSecond(86400, '1d') == 1.0": true,
		"perSecond(5, duration('500ms')) == 10.0": true, "perSecond(1.5, '1s') == 1.5": true,
		"perSecond(100, '1s') > 1000": false, "perSecond(2000, 'second') > 1000": true,
	} {
		findings := FindProblems(resolved(t, town),
			requirements(t, `- {name: a, select: {names: [pay]}, expression: "`+expression+
				`", message: no}`), Deciders{})
		if met := len(findings) == 0; met != want {
			t.Errorf("%s: %s", expression, asText(findings))
		}
	}
	for _, expression := range []string{"perSecond(1, 'x') > 0", "perSecond(1, '0s') > 0", "perSecond('a', '1s') > 0",
		"perSecond(1, 5) > 0", "perSecond(1, '') > 0", "perSecond(true, '1s') > 0"} {
		findings := FindProblems(resolved(t, town),
			requirements(t, `- {name: a, select: {names: [pay]}, expression: "`+expression+
				`", message: no}`), Deciders{})
		if len(findings) != 1 || findings[0].Code != model.RequirementError ||
			!strings.Contains(findings[0].Message, "perSecond: ") {
			t.Errorf("%s: %s", expression, asText(findings))
		}
	}
}
