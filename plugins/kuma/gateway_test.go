package kuma

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestBehind checks which MeshGateway a builtin proxy belongs to (Kuma, 2.14 extras).
func TestBehind(t *testing.T) {
	mesh := func(name string, tags map[string]any) *model.Object {
		listener := map[string]any{"port": int64(80), "tags": map[string]any{"port": "http"}}
		return object("MeshGateway", "", name, nil, map[string]any{"spec": map[string]any{
			"selectors": []any{map[string]any{"match": tags}}, "conf": map[string]any{"listeners": []any{listener}}}})
	}
	in := model.NewSnapshot([]*model.Object{
		mesh("wide", map[string]any{"kuma.io/service": "*"}),
		mesh("named", map[string]any{"kuma.io/service": "edge"}),
		mesh("one", map[string]any{"kuma.io/service": "twice"}),
		mesh("two", map[string]any{"kuma.io/service": "twice"}),
	}, nil)
	gateways := readGateways(in, settings("kuma.dialect", "2.14"))
	proxy := func(kind, service string) *dataplane {
		gw := map[string]any{"tags": map[string]any{"kuma.io/service": service}}
		if kind != "" {
			gw["type"] = kind
		}
		d := readDataplane(object("Dataplane", "shop", "d", nil,
			map[string]any{"spec": map[string]any{"networking": map[string]any{"gateway": gw}}}), in, settings())
		return &d
	}
	for _, test := range []struct {
		name, gateway string
		tags          map[string]any
		d             *dataplane
		ok, unknown   bool
	}{
		{"the closest", "named", nil, proxy("BUILTIN", "edge"), true, false},
		{"a wider one", "wide", nil, proxy("BUILTIN", "edge"), false, false},
		{"the only one", "wide", nil, proxy("BUILTIN", "other"), true, false},
		{"two alike", "one", nil, proxy("BUILTIN", "twice"), false, true},
		{"a listener's tags", "named", map[string]any{"port": "http"}, proxy("BUILTIN", "edge"), true, false},
		{"tags of no listener", "named", map[string]any{"port": "https"}, proxy("BUILTIN", "edge"), false, false},
		{"a delegated gateway", "named", nil, proxy("", "edge"), false, false},
	} {
		ref := map[string]any{"kind": "MeshGateway", "name": test.gateway}
		if test.tags != nil {
			ref["tags"] = test.tags
		}
		o := object("MeshHTTPRoute", "kuma-system", "r", nil, map[string]any{"spec": map[string]any{"targetRef": ref}})
		p := newSelector(o, map[string]string{meshLabel: "default"}, settings())
		p.gateways = gateways
		got := p.selectProxy(test.d)
		if got.why == "" != test.ok || got.unknown != test.unknown {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
}
