package status

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// Policies come first, then other objects, each by group, kind, namespace, name and section.
func TestStatusQuery(t *testing.T) {
	r := viewtest.PaintedResolution(t)
	policyNamed := func(name string) *policy.Policy {
		for _, k := range r.Kinds {
			for _, p := range k.Policies {
				if p.Ref().Name == name {
					return p
				}
			}
		}
		t.Fatalf("no policy %s", name)
		return nil
	}
	infra := func(namespace string) bool { return namespace == "infra" }
	paint := []model.GroupKind{{Group: "x.io", Kind: "Paint"}}
	for name, tc := range map[string]struct {
		query Query
		want  string
	}{
		"everything": {Query{Objects: true},
			"gloss/app/g paint/app/c paint/infra/a paint/infra/b gateway/infra/gw gateway/infra/gw/tcp gateway/infra/gw/web httproute/app/shop"},
		"policies":      {Query{}, "gloss/app/g paint/app/c paint/infra/a paint/infra/b"},
		"one namespace": {Query{InNamespace: infra}, "paint/infra/a paint/infra/b"},
		"one namespace's objects": {Query{InNamespace: infra, Objects: true},
			"paint/infra/a paint/infra/b gateway/infra/gw gateway/infra/gw/tcp gateway/infra/gw/web"},
		"one kind":   {Query{Kinds: paint}, "paint/app/c paint/infra/a paint/infra/b"},
		"one policy": {Query{Policies: []*policy.Policy{policyNamed("b")}}, "paint/infra/b"},
		"several policies": {Query{Policies: []*policy.Policy{policyNamed("g"), policyNamed("b"),
			policyNamed("a")}}, "gloss/app/g paint/infra/b paint/infra/a"},
		"several, and objects": {Query{Policies: []*policy.Policy{policyNamed("b"), policyNamed("a")},
			InNamespace: infra, Objects: true},
			"paint/infra/b paint/infra/a gateway/infra/gw gateway/infra/gw/tcp gateway/infra/gw/web"},
		"one policy of other kind": {Query{Policies: []*policy.Policy{policyNamed("g")}, Kinds: paint}, ""},
		"no namespace":             {Query{InNamespace: func(string) bool { return false }, Objects: true}, ""},
	} {
		l := Predict(r, tc.query, status.Functions{})
		var got []string
		for _, item := range l.Items {
			got = append(got, item.Object.String())
		}
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, s, tc.want)
		}
		if l.Kind != "StatusList" || l.Items == nil {
			t.Errorf("%s: envelope %+v", name, l.Envelope)
		}
	}
}

// What the folds found is among the problems, as in other answers.
func TestStatusProblems(t *testing.T) {
	var codes []string
	for _, p := range Predict(viewtest.PaintedResolution(t), Query{}, status.Functions{}).Problems {
		codes = append(codes, string(p.Code))
	}
	for _, want := range []model.Code{model.OrderUncertain, model.TargetNotFound, model.GenericKind} {
		if !slices.Contains(codes, string(want)) {
			t.Errorf("no %s in %v", want, codes)
		}
	}
}

// An answer about one policy is about that policy: what is wrong elsewhere is left out, errors
// aside.
func TestStatusProblemsOfOnePolicy(t *testing.T) {
	r := viewtest.PaintedResolution(t)
	for _, k := range r.Kinds {
		if k.GroupKind.Kind != "Gloss" {
			continue
		}
		for _, p := range Predict(r, Query{Policies: []*policy.Policy{k.Policies[0]}}, status.Functions{}).Problems {
			if p.Ref != nil && p.Ref.Kind == "Paint" {
				t.Errorf("asked about Gloss app/g: %s %s %s", p.Code, p.Ref, p.Message)
			}
		}
	}
}

// The shape is the public contract: an ancestor is there and null for an object's own conditions,
// lists are never null.
func TestStatusJSON(t *testing.T) {
	l := Predict(viewtest.PaintedResolution(t), Query{Objects: true}, status.Functions{})
	byName := map[string]string{}
	for _, item := range l.Items {
		text, err := json.Marshal(item)
		if err != nil {
			t.Fatal(err)
		}
		byName[item.Object.String()] = string(text)
	}
	for name, want := range map[string]string{
		"paint/app/c": `{"object":{"group":"x.io","kind":"Paint","namespace":"app","name":"c"},"ancestors":[{"ancestorRef":null,"conditions":[` +
			`{"type":"Accepted","status":"False","reason":"TargetNotFound","message":"httproute/app/gone not found"}]}],"affected":[],` +
			`"targets":[{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","namespace":"app","name":"gone"}],"inForce":{"state":"Nowhere","targets":0,"wholly":0,"partly":0}}`,
		"gateway/infra/gw/web": `{"object":{"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"infra","name":"gw","section":"web"},"ancestors":[{"ancestorRef":null,"conditions":[` +
			`{"type":"Accepted","status":"True","reason":"Accepted","message":"the listener is accepted"},` +
			`{"type":"ResolvedRefs","status":"True","reason":"ResolvedRefs","message":"all references are resolved"}]}],"affected":[],"attachedRoutes":1,` +
			`"supportedKinds":["HTTPRoute.gateway.networking.k8s.io","GRPCRoute.gateway.networking.k8s.io"]}`,
		"gateway/infra/gw/tcp": `{"object":{"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"infra","name":"gw","section":"tcp"},"ancestors":[{"ancestorRef":null,"conditions":[` +
			`{"type":"Accepted","status":"True","reason":"Accepted","message":"the listener is accepted"},` +
			`{"type":"ResolvedRefs","status":"True","reason":"ResolvedRefs","message":"all references are resolved"}]}],"affected":[],"attachedRoutes":0,` +
			`"supportedKinds":["TCPRoute.gateway.networking.k8s.io"]}`,
		"httproute/app/shop": `{"object":{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","namespace":"app","name":"shop"},"ancestors":[{"ancestorRef":` +
			`{"group":"gateway.networking.k8s.io","kind":"Gateway","namespace":"infra","name":"gw","port":80},"controllerName":"example.com/controller","conditions":[` +
			`{"type":"Accepted","status":"True","reason":"Accepted","message":"listener web accepts the route"},` +
			`{"type":"ResolvedRefs","status":"True","reason":"ResolvedRefs","message":"all references are resolved"}]}],"affected":[]}`,
	} {
		if byName[name] != want {
			t.Errorf("%s:\n got %s\nwant %s", name, byName[name], want)
		}
	}
}
