package lint

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

const described = "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\ncontent: {unset: [unset], condition: when}\nrules: entries\n"

// loaded resolves manifests with Paint.x.io described by the usual lines and the given ones. hide
// leaves out kinds and says that they may not be read.
func loaded(t *testing.T, lines string, hide []model.GroupKind, manifests ...string) *resolve.Resolution {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(strings.Join(manifests, "\n---\n"))})
	if err != nil {
		t.Fatal(err)
	}
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(described + lines)}}, nil,
		descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	if hide != nil {
		var objects []*model.Object
		for _, gk := range in.Kinds() {
			for _, o := range in.OfKind(gk) {
				if !slices.Contains(hide, gk) {
					objects = append(objects, o)
				}
			}
		}
		cluster := &model.Cluster{Context: "test"}
		for _, gk := range hide {
			cluster.Unread = append(cluster.Unread, model.UnreadObjects{Kind: gk})
		}
		in = model.NewSnapshot(objects, nil)
		in.Cluster = cluster
	}
	return resolve.Run(in, build.Graph(in, c.Settings()), c)
}

func gateway(name string) string {
	return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: " + name +
		", namespace: infra}\n" +
		"spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}"
}

// route is a route of namespace app with two rules below gateways of namespace infra; parents may
// have a section: name/section.
func route(name string, parents ...string) string {
	s := "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
		", namespace: app}\nspec:\n  parentRefs:\n"
	for _, p := range parents {
		gw, section, _ := strings.Cut(p, "/")
		s += "  - {name: " + gw + ", namespace: infra"
		if section != "" {
			s += ", sectionName: " + section
		}
		s += "}\n"
	}
	return s + "  rules:\n  - {name: one, matches: [{path: {value: /" + name +
		"/one}}]}\n  - {name: two, matches: [{path: {value: /" + name + "/two}}]}\n"
}

// paint is a policy: namespace/name, KIND/NAME[/SECTION], what stands in its spec, and the hour of
// its creation ("" for none).
func paint(name, target, spec, hour string) string {
	ns, name, _ := strings.Cut(name, "/")
	at := strings.Split(target, "/")
	s := "apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: " + name + ", namespace: " + ns
	if hour != "" {
		s += ", creationTimestamp: \"2026-01-01T" + hour + ":00:00Z\""
	}
	s += "}\nspec:\n  targetRef: {group: gateway.networking.k8s.io, kind: " + at[0] + ", name: " + at[1]
	if len(at) > 2 {
		s += ", sectionName: " + at[2]
	}
	return s + "}\n  " + spec
}

// findings are what Lint finds, as severity, code, and message.
func findings(r *resolve.Resolution) []string {
	var out []string
	for _, p := range FindProblems(r, nil) {
		out = append(out, string(p.Severity)+" "+string(p.Code)+" "+p.Message)
	}
	return out
}

func TestNoEffect(t *testing.T) {
	gw, r := gateway("gw"), route("shop", "gw")
	for _, c := range []struct {
		name      string
		lines     string
		manifests []string
		want      []string
	}{
		{"an atomic override above", "", []string{gw, r, paint("infra/top", "Gateway/gw", "overrides: {a: {x: 1}}",
			""), paint("app/own", "HTTPRoute/shop", "b: {y: 1}", "")},
			[]string{
				"warning PointlessPolicy paint/app/own changes nothing anywhere: overridden as a whole by the atomic override of paint/infra/top (gateway/infra/gw)"}},
		{"an atomic override above one of two Gateways", "", []string{gw, gateway("free"), route("shop", "gw", "free"),
			paint("infra/top", "Gateway/gw", "overrides: {a: {x: 1}}", ""), paint("app/own", "HTTPRoute/shop",
				"b: {y: 1}", "")}, nil},
		{"a default that every route replaces", "", []string{gw, r, paint("infra/top", "Gateway/gw", "a: {x: 1}", ""),
			paint("app/own", "HTTPRoute/shop", "b: {y: 1}", "")},
			[]string{
				"info PointlessPolicy paint/infra/top changes nothing anywhere: replaced as a whole by paint/app/own (httproute/app/shop)"}},
		{"a default that one route leaves standing", "", []string{gw, r, route("bare", "gw"),
			paint("infra/top", "Gateway/gw", "a: {x: 1}", ""), paint("app/own", "HTTPRoute/shop",
				"b: {y: 1}", "")}, nil},
		{"of two rules one", "strategy: merge defaults\n",
			[]string{gw, r, paint("infra/top", "Gateway/gw", "overrides: {a: {x: 1}, strategy: merge}", ""),
				paint("app/own", "HTTPRoute/shop", "{a: {x: 2}, b: {y: 1}}", "")}, nil},
		{"a condition", "",
			[]string{gw, r, paint("infra/top", "Gateway/gw", "overrides: {when: \"has(spec.a)\", b: {x: 1}}", ""),
				paint("app/own", "HTTPRoute/shop", "c: {y: 1}", "")},
			[]string{"info NeverInForce paint/infra/top is in force nowhere: the condition is not met: has(spec.a)"}},
		{"a condition that cannot be judged is said already", "",
			[]string{gw, r, paint("infra/top", "Gateway/gw", "overrides: {when: \"spec.gone.x == 1\", b: {x: 1}}", ""),
				paint("app/own", "HTTPRoute/shop", "c: {y: 1}", "")}, nil},
		{"the same target", "", []string{gw, r, paint("app/old", "HTTPRoute/shop", "a: {x: 1}", "01"),
			paint("app/new", "HTTPRoute/shop", "b: {y: 1}", "02")},
			[]string{
				"warning NeverInForce paint/app/old is in force nowhere: paint/app/new (httproute/app/shop) targets the same object and is newer; among defaults the newest wins"}},
		{"a newer override on the same target", "", []string{gw, r, paint("app/new", "HTTPRoute/shop",
			"overrides: {a: {x: 1}, strategy: merge}", "02"), paint("app/old", "HTTPRoute/shop", "b: {y: 1}", "01")},
			[]string{
				"warning NeverInForce paint/app/old is in force nowhere: paint/app/new (httproute/app/shop) targets the same object and is newer; its overrides beat defaults"}},
		{"the first of a target silently keeps others out", "sameTarget: first\n",
			[]string{gw, r, paint("app/old", "HTTPRoute/shop", "a: {x: 1}", "01"), paint("app/new", "HTTPRoute/shop",
				"b: {y: 1}", "02")},
			[]string{
				"warning NeverInForce paint/app/new is in force nowhere: paint/app/old (httproute/app/shop) targets the same object and is older"}},
		{"the first of a target keeps others out", "sameTarget: conflict\n",
			[]string{gw, r, paint("app/old", "HTTPRoute/shop", "a: {x: 1}", "01"), paint("app/new", "HTTPRoute/shop",
				"b: {y: 1}", "02")},
			[]string{
				"warning PolicyConflict paint/app/new is rejected on httproute/app/shop by paint/app/old, which is older: policies of this kind cannot share a target"}},
		{"the first of a target keeps others out, whatever traffic comes", "sameTarget: conflict\n",
			[]string{route("shop", "elsewhere"), paint("app/old", "HTTPRoute/shop", "a: {x: 1}", "01"),
				paint("app/new", "HTTPRoute/shop", "b: {y: 1}", "02")},
			[]string{
				"warning PolicyConflict paint/app/new is rejected on httproute/app/shop by paint/app/old, which is older: policies of this kind cannot share a target"}},
		{"two of the same second on a target", "sameTarget: conflict\n",
			[]string{gw, r, paint("app/b", "HTTPRoute/shop", "a: {x: 1}", "01"), paint("app/a", "HTTPRoute/shop",
				"b: {y: 1}", "01")},
			[]string{
				"warning PolicyConflict paint/app/b is rejected on httproute/app/shop by paint/app/a, which comes first (by name: created in the same second): policies of this kind cannot share a target"}},
		{"no settings", "", []string{gw, r, paint("app/none", "HTTPRoute/shop", "{}", "")}, nil},
		{"no traffic", "", []string{gw, paint("infra/top", "Gateway/gw", "a: {x: 1}", "")}, nil},
		{"the listener has its own, and no route", "", []string{gw, r, paint("app/whole", "HTTPRoute/shop",
			"a: {x: 1}", ""), paint("app/one", "HTTPRoute/shop/one", "a: {x: 2}", "")}, nil},
		{"every rule has its own", "", []string{gw, r, paint("app/whole", "HTTPRoute/shop", "a: {x: 1}", ""),
			paint("app/one", "HTTPRoute/shop/one", "a: {x: 2}", ""), paint("app/two", "HTTPRoute/shop/two",
				"a: {x: 2}", "")},
			[]string{
				"info PointlessPolicy paint/app/whole changes nothing anywhere: replaced as a whole by paint/app/one (httproute/app/shop/one), paint/app/two (httproute/app/shop/two)"}},
		{"below a Gateway that is not in the input", "", []string{gw, route("shop", "gw", "elsewhere"),
			paint("infra/top", "Gateway/gw", "overrides: {a: {x: 1}}", ""), paint("app/own", "HTTPRoute/shop",
				"b: {y: 1}", "")}, nil},
	} {
		manifests := slices.Clone(c.manifests)
		if got := findings(loaded(t, c.lines, nil, manifests...)); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
		slices.Reverse(manifests)
		if got := findings(loaded(t, c.lines, nil, manifests...)); !slices.Equal(got, c.want) {
			t.Errorf("%s, reversed:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestRulesWithoutEffect(t *testing.T) {
	merging := "strategy: {read: [block.strategy], values: {atomic: atomic, merge: merge}, default: merge}\n"
	got := findings(loaded(t, merging, nil, gateway("gw"), route("shop", "gw"),
		paint("infra/top", "Gateway/gw", "overrides: {walls: {north: 1}}", ""), paint("app/own", "HTTPRoute/shop",
			"walls: {north: 2, south: 2}", "")))
	want := []string{
		"warning RuleNeverInForce walls.north of paint/app/own is in force nowhere: overridden by paint/infra/top (gateway/infra/gw)"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	got = findings(loaded(t, merging, nil, gateway("gw"), gateway("free"), route("shop", "gw", "free"),
		paint("infra/top", "Gateway/gw", "overrides: {walls: {north: 1}}", ""), paint("app/own", "HTTPRoute/shop",
			"walls: {north: 2, south: 2}", "")))
	if got != nil {
		t.Errorf("in force at the other Gateway: %q", got)
	}
}

// What may be in force where we may not look is not reported.
func TestNoEffectWithheld(t *testing.T) {
	manifests := []string{gateway("gw"), route("shop", "gw"), paint("infra/top", "Gateway/gw",
		"overrides: {a: {x: 1}}", ""), paint("app/own", "HTTPRoute/shop", "b: {y: 1}", "")}
	if got := findings(loaded(t, "", []model.GroupKind{{Group: "y.io", Kind: "Other"}}, manifests...)); len(got) != 1 {
		t.Errorf("what does not matter is withheld: %q", got)
	}
	for _, gk := range []model.GroupKind{{Group: "gateway.networking.k8s.io", Kind: "Gateway"},
		{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}, {Group: "x.io", Kind: "Paint"}} {
		if got := findings(loaded(t, "", []model.GroupKind{gk}, manifests...)); got != nil {
			t.Errorf("without %s: %q", gk, got)
		}
	}
}

func TestParentNotFound(t *testing.T) {
	for _, c := range []struct {
		name, parent string
		want         []string
	}{
		{"there", "gw/http", nil},
		{"no such listener", "gw/nope",
			[]string{
				`warning ParentNotFound a parentRef has no effect: gateway/infra/gw has no listener called "nope"`}},
		{"a Gateway that may be in other files", "other/nope", nil},
	} {
		if got := findings(loaded(t, "", nil, gateway("gw"), route("shop", "gw", c.parent))); !slices.Equal(got,
			c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}
