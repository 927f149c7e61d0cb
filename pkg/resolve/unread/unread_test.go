package unread

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// resolveManifests resolves manifests without descriptors.
func resolveManifests(t *testing.T, manifests ...string) *resolve.Resolution {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(strings.Join(manifests, "\n---\n"))})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range in.Objects { // loading gives them one
		if o.Text("metadata", "namespace") == "" {
			o.Ref.Namespace = ""
		}
	}
	in = model.NewSnapshot(in.Objects, nil)
	c, err := descriptor.NewCatalog(nil, nil, nil, descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	return resolve.Run(in, build.Graph(in, c.Settings()), c)
}

// highway is a Gateway with a route to a Service, and another one beside.
var highway = []string{
	"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: a}\nspec: {gatewayClassName: c, listeners: [{name: one, port: 80, protocol: HTTP}, {name: two, port: 81, protocol: HTTP}]}",
	"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: side, namespace: a, labels: {team: x}}\nspec: {gatewayClassName: c, listeners: [{name: one, port: 80, protocol: HTTP}]}",
	"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r, namespace: a}\nspec: {parentRefs: [{name: edge, sectionName: one}], rules: [{name: x, backendRefs: [{name: s, port: 80}]}]}",
	"apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: a}\nspec: {ports: [{port: 80}]}",
	"apiVersion: v1\nkind: Service\nmetadata: {name: t, namespace: a}\nspec: {ports: [{port: 80}]}",
}

// TestBlindSpots: what an object of an unknown kind names leaves open what is there and below, and
// nothing else.
func TestBlindSpots(t *testing.T) {
	edge, one, two, side, route, s, other := "Gateway edge", "Gateway edge one", "Gateway edge two", "Gateway side",
		"HTTPRoute r x", "Service s", "Service t"
	below := []string{edge, one, two, route, s}
	for spec, want := range map[string][]string{
		"parentRefs: [{name: edge}]":                                               below,
		"parentRefs: [{name: edge, sectionName: two}]":                             {two},
		"parentRefs: [{name: edge, sectionName: none}]":                            below, // whatever that is
		"parentRefs: [{name: edge, namespace: b}]":                                 nil,
		"parentRefs: [{name: edge, group: other.io, kind: Gateway}]":               nil,
		"parentRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}": below,
		"x: {y: [{gatewayRefs: [{name: edge}]}]}":                                  below,
		"gateway: {name: edge}":                                                    below,
		"gateway: edge":                                                            below,
		"gateways: [a/side]":                                                       {side},
		"gateways: [b/side]":                                                       nil,
		"httpRoute: r":                                                             {route, s},
		"service: s":                                                               nil,
		"targetRef: HTTPRoute/r":                                                   {route, s},
		"targetRef: t":                                                             {other},
		"targetReference: {name: t}":                                               {other},
		"targetReference: {group: other.io, name: t}":                              nil,
		// a workload, which often has the name of its Service
		"scaleTargetRef: {name: t}": nil,
		"target: {name: t}":         nil,
		"about: {apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, name: r}": {route, s},
		"httpRouteRef: {name: r}":                                          {route, s},
		"target: {kind: Service, name: s}":                                 {s},
		"targetReference: {kind: Service, name: t}":                        {other},
		"targets: [{kind: Service, name: t}, {kind: Deployment, name: s}]": {other},
		"watch: {kind: Service, name: s}":                                  nil,
		"services: [{name: s}]":                                            nil,
		"parentRefs: [{name: side}], backendRefs: [{name: t}]":             {side, other},
		"targetRef: {kind: Gateway}": {edge, one,
			two, side, route, s},
		"targetSelectors: [{kind: Gateway, matchLabels: {team: x}}]":  {side},
		"target: {kind: Gateway, selector: {matchLabels: {team: y}}}": nil,
		"target: {kind: Namespace, name: a}": {edge, one,
			two, side, route, s, other},
		"template: {apiVersion: v1, kind: X, metadata: {name: y}, spec: {parentRefs: [{name: edge}]}}": nil,
	} {
		r := resolveManifests(t, append(slices.Clone(highway),
			"apiVersion: strange.io/v1\nkind: Strange\nmetadata: {name: u, namespace: a}\nspec: {"+spec+"}")...)
		var got []string
		for _, place := range []string{edge, one, two, side, route, s, other} {
			words := append(strings.Fields(place), "")
			gk := model.GroupKind{Group: "gateway.networking.k8s.io", Kind: words[0]}
			if gk.Kind == "Service" {
				gk.Group = ""
			}
			nodes := r.Graph.Lookup(model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: "a", Name: words[1],
				Section: words[2]})
			if len(nodes) == 0 {
				t.Fatalf("no %s", place)
			}
			if len(At(r, nodes)) > 0 {
				got = append(got, place)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: leaves open %q, want %q", spec, got, want)
		}
	}
}

// TestUnreadFilters: a filter is named by what it refers to, and one that refers to nothing is said
// to.
func TestUnreadFilters(t *testing.T) {
	for filter, want := range map[string]string{
		"{type: ExtensionRef, extensionRef: {group: x.io, kind: Shield, name: s}}": "a filter of httproute/a/f/x names shield/a/s, but kind Shield.x.io is not read",
		"{type: Twist}":                          "filter Twist of httproute/a/f/x is not known",
		"{type: ExtensionRef}":                   "a filter of httproute/a/f/x does not say what it refers to",
		"{type: ExtensionRef, extensionRef: []}": "a filter of httproute/a/f/x does not say what it refers to",
		"{type: URLRewrite}":                     "",
		"3":                                      "",
	} {
		r := resolveManifests(t, append(slices.Clone(highway),
			"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: f, namespace: a}\n"+
				"spec: {parentRefs: [{name: edge}], rules: [{name: x, filters: ["+filter+"]}]}")...)
		got := ""
		for _, s := range Inputs(r) {
			got += s.Problem().Message
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: says %q, want %q", filter, got, want)
		}
	}
}

// TestNamedAnywhere: what an object without a namespace names may be in any.
func TestNamedAnywhere(t *testing.T) {
	r := resolveManifests(t, append(slices.Clone(highway), strings.ReplaceAll(highway[2], "namespace: a}\nspec",
		"namespace: b}\nspec"),
		"apiVersion: strange.io/v1\nkind: Strange\nmetadata: {name: u}\nspec: {targetRefs: [{kind: HTTPRoute, name: r}, {kind: HTTPRoute, name: none}]}")...)
	for _, namespace := range []string{"a", "b"} {
		nodes := r.Graph.Lookup(model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute",
			Namespace: namespace, Name: "r"})
		if len(nodes) == 0 || len(At(r, nodes)) == 0 {
			t.Errorf("nothing leaves open the route of %s", namespace)
		}
	}
	if got := len(Inputs(r)); got != 1 {
		t.Errorf("%d blind spots, want 1", got)
	}
}

// TestNoBlindSpots: kinds that are described, read, or Kubernetes' own are none, whatever they
// name.
func TestNoBlindSpots(t *testing.T) {
	for _, object := range []string{
		"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: u, namespace: a}\nspec: {metrics: [{object: {describedObject: {kind: HTTPRoute, name: r, apiVersion: gateway.networking.k8s.io/v1}}}]}",
		"apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: u, namespace: a}\nspec: {targetRef: {kind: Service, name: s}}",
		"apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: u, namespace: a}\nspec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}}",
	} {
		if spots := Inputs(resolveManifests(t, append(slices.Clone(highway), object)...)); len(spots) > 0 {
			t.Errorf("%s: %s", object, spots[0].Problem().Message)
		}
	}
}

// TestTell: many of one sort are one problem, which counts them.
func TestTell(t *testing.T) {
	manifests := slices.Clone(highway)
	for i := range maxListed + 1 {
		manifests = append(manifests, "apiVersion: strange.io/v1\nkind: Strange\nmetadata: {name: u"+
			string(rune('a'+i))+", namespace: a}\nspec: {parentRefs: [{name: edge}]}")
	}
	r := resolveManifests(t, manifests...)
	got := Summarize(Inputs(r))
	if len(got) != 1 || !strings.HasPrefix(got[0].Message, "9 objects of Strange.strange.io ") {
		t.Errorf("got %v", got)
	}
	if few := Summarize(Inputs(r)[:maxListed]); len(few) != maxListed {
		t.Errorf("%d problems for %d objects", len(few), maxListed)
	}
}

// TestNamed: what a snapshot keeps of an object of an unknown kind has the references that are
// texts, and no other text.
func TestNamed(t *testing.T) {
	r := resolveManifests(t,
		"apiVersion: strange.io/v1\nkind: Strange\nmetadata: {name: u, namespace: a}\nspec: {gateways: [a/side], note: secret, x: {httpRoute: r, notes: [secret]}, targetRef: HTTPRoute/r}")
	got := NamingFields(r.Snapshot.OfKind(model.GroupKind{Group: "strange.io", Kind: "Strange"})[0])
	want := map[string]any{"gateways": []any{"a/side"}, "x": map[string]any{"httpRoute": "r"},
		"targetRef": "HTTPRoute/r"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("keeps %v, want %v", got, want)
	}
}
