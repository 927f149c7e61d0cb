package kuma

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func object(kind, ns, name string, labels map[string]string, body map[string]any) *model.Object {
	if body == nil {
		body = map[string]any{}
	}
	return &model.Object{Ref: model.Ref{Group: group, Kind: kind, Namespace: ns, Name: name}, Labels: labels,
		Body: model.Pack(body, nil)}
}

func settings(over ...string) model.Settings {
	s := model.NewSettings(map[string]any{"kuma.labels": "auto", "kuma.dialect": "auto", "kuma.mode": "zone",
		"kuma.zone": "z1", "kuma.systemNamespace": "kuma-system", "kuma.includeShadow": false})
	for i := 0; i+1 < len(over); i += 2 {
		s = s.With(over[i], over[i+1])
	}
	return s
}

func to(refs ...map[string]any) map[string]any {
	var items []any
	for _, r := range refs {
		items = append(items, map[string]any{"targetRef": r, "default": map[string]any{}})
	}
	return map[string]any{"spec": map[string]any{"to": items}}
}

// TestRole is the table of roles.
func TestRole(t *testing.T) {
	mesh := map[string]any{"kind": "Mesh"}
	labels := func(pairs ...string) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return map[string]any{"kind": "MeshService", "labels": m}
	}
	own := labels(displayNameLabel, "a")
	for _, test := range []struct {
		name, ns string
		body     map[string]any
		want     string
		ok       bool
		dialect  string
	}{
		{"system namespace", "kuma-system", to(mesh), systemRole, true, "3.0"},
		{"no items", "shop", nil, workloadOwnerRole, true, "3.0"},
		{"own service", "shop", to(own), producerRole, true, "3.0"},
		{"own service with its namespace", "shop", to(labels(displayNameLabel, "a", namespaceLabel, "shop")),
			producerRole, true, "3.0"},
		{"service of another namespace", "shop", to(labels(displayNameLabel, "a", namespaceLabel, "pay")),
			consumerRole, true, "3.0"},
		{"by other labels", "shop", to(labels(displayNameLabel, "a", "tier", "x")), consumerRole, true, "3.0"},
		{"the mesh", "shop", to(mesh), consumerRole, true, "3.0"},
		{"by name, 2.14", "shop", to(map[string]any{"kind": "MeshService", "name": "a"}), producerRole, true, "2.14"},
		{"by name with another namespace, 2.14", "shop", to(map[string]any{"kind": "MeshService", "name": "a",
			"namespace": "pay"}), consumerRole, true, "2.14"},
		{"own service by labels, 2.14", "shop", to(own), consumerRole, true, "2.14"},
		{"a mix", "shop", to(mesh, own), producerRole, false, "3.0"},
	} {
		role, ok := computeRole(object("MeshTimeout", test.ns, "p", nil, test.body),
			settings("kuma.dialect", test.dialect))
		if role != test.want || ok != test.ok {
			t.Errorf("%s: %s %v, want %s %v", test.name, role, ok, test.want, test.ok)
		}
	}
}

// TestLabels checks what is computed and what is left.
func TestLabels(t *testing.T) {
	in := model.NewSnapshot([]*model.Object{{Ref: model.Ref{Kind: "Namespace", Name: "shop"},
		Labels: map[string]string{meshLabel: "m"}}}, nil)
	own := object("MeshTimeout", "shop", "p", map[string]string{roleLabel: "system", displayNameLabel: "other"}, nil)
	for _, test := range []struct {
		name string
		o    *model.Object
		s    model.Settings
		want map[string]string
	}{
		{"auto leaves what is there", own, settings(), map[string]string{roleLabel: "system",
			displayNameLabel: "other", meshLabel: "m", originLabel: "zone", zoneLabel: "z1", namespaceLabel: "shop"}},
		{"compute overwrites role and name", own, settings("kuma.labels", "compute"),
			map[string]string{roleLabel: workloadOwnerRole, displayNameLabel: "p"}},
		{"the environment is that of zones", own, settings(), map[string]string{envLabel: "kubernetes"}},
		{"stored finds no service by a name that is no label", object("MeshService", "shop", "s", nil, nil),
			settings("kuma.labels", "stored"), map[string]string{displayNameLabel: ""}},
		{"stored adds nothing", own, settings("kuma.labels", "stored"), map[string]string{originLabel: "",
			zoneLabel: "", namespaceLabel: ""}},
		{"global has no zone", own, settings("kuma.mode", "global"), map[string]string{originLabel: "global",
			zoneLabel: "", envLabel: ""}},
		{"an object of another plane keeps its own", object("MeshTimeout", "kuma-system", "h",
			map[string]string{originLabel: "global"}, nil), settings("kuma.labels", "compute"),
			map[string]string{originLabel: "global", roleLabel: "", zoneLabel: ""}},
	} {
		got := computeLabels(test.o, in, test.s)
		for key, want := range test.want {
			if got[key] != want {
				t.Errorf("%s: %s=%q, want %q", test.name, key, got[key], want)
			}
		}
	}
}

// TestSelects goes through the tests of Kuma and their reasons.
func TestSelects(t *testing.T) {
	in := model.NewSnapshot(nil, nil)
	dp := func(ns string, labels map[string]string, networking map[string]any) *dataplane {
		d := readDataplane(object("Dataplane", ns, "d", labels,
			map[string]any{"spec": map[string]any{"networking": networking}}), in, settings())
		return &d
	}
	inbounds := map[string]any{"inbound": []any{
		map[string]any{"port": int64(80), "name": "http", "tags": map[string]any{"kuma.io/service": "a", "v": "1"}},
		map[string]any{"port": int64(90), "tags": map[string]any{"kuma.io/service": "b"}, "state": "Ignored"}}}
	web := dp("shop", map[string]string{"app": "web"}, inbounds)
	ref := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return map[string]any{"spec": map[string]any{"targetRef": m}}
	}
	for _, test := range []struct {
		name, ns string
		labels   map[string]string
		body     map[string]any
		d        *dataplane
		sections int // -1: not selected
	}{
		{"absent reference is the mesh", "kuma-system", nil, nil, web, 2},
		{"another mesh", "kuma-system", map[string]string{meshLabel: "x"}, nil, web, -1},
		{"a shadow policy", "kuma-system", map[string]string{effectLabel: "shadow"}, nil, web, -1},
		{"another zone", "kuma-system", map[string]string{originLabel: "zone", zoneLabel: "z2"}, nil, web, -1},
		{"a Dataplane of another zone", "kuma-system", nil, nil, dp("shop", map[string]string{zoneLabel: "z9"},
			inbounds), -1},
		{"a producer of another zone", "shop", map[string]string{originLabel: "zone", zoneLabel: "z2",
			roleLabel: producerRole}, nil, web, 2},
		{"another namespace", "pay", nil, nil, web, -1},
		{"labels", "shop", nil, ref("kind", "Dataplane", "labels", map[string]any{"app": "web"}), web, 2},
		{"other labels", "shop", nil, ref("kind", "Dataplane", "labels", map[string]any{"app": "api"}), web, -1},
		{"empty labels are all", "shop", nil, ref("kind", "Dataplane", "labels", map[string]any{}), web, 2},
		{"a section by name", "shop", nil, ref("kind", "Dataplane", "sectionName", "http"), web, 1},
		{"an unnamed section by its port", "shop", nil, ref("kind", "Dataplane", "sectionName", "90"), web, 1},
		{"a named section by its port", "shop", nil, ref("kind", "Dataplane", "sectionName", "80"), web, -1},
		{"by name", "shop", nil, ref("kind", "Dataplane", "name", "d"), web, 2},
		{"by a name of another namespace", "kuma-system", nil, ref("kind", "Dataplane", "name", "d"), web, -1},
		{"by name and namespace", "kuma-system", nil, ref("kind", "Dataplane", "name", "d", "namespace", "shop"), web,
			2},
		{"by tags, inbound by inbound", "shop", nil, ref("kind", "MeshSubset", "tags", map[string]any{"v": "*"}), web,
			1},
		{"by service", "shop", nil, ref("kind", "MeshService", "name", "b"), web, 1},
		{"only gateways", "shop", nil, ref("kind", "Mesh", "proxyTypes", []any{"Gateway"}), web, -1},
		{"no inbound", "shop", nil, nil, dp("shop", nil, map[string]any{}), -1},
		{"a delegated gateway has none and counts", "shop", nil, nil,
			dp("shop", nil, map[string]any{"gateway": map[string]any{}}), 0},
	} {
		o := object("MeshTLS", test.ns, "p", test.labels, test.body)
		got := newSelector(o, computeLabels(o, in, settings()), settings()).selectProxy(test.d)
		switch {
		case test.sections < 0 && got.why == "":
			t.Errorf("%s: selected", test.name)
		case test.sections >= 0 && (got.why != "" || len(got.sections) != test.sections):
			t.Errorf("%s: %d sections (%s), want %d", test.name, len(got.sections), got.why, test.sections)
		}
	}
}
