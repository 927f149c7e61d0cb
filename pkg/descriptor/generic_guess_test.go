package descriptor

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
)

func TestGenericGuess(t *testing.T) {
	service, port := "targetRef: {group: '', kind: Service, name: s}",
		"targetRef: {group: '', kind: Service, name: s, sectionName: http}"
	for _, c := range []struct {
		name, manifests, doubt string
		defined                bool
	}{
		{"bare", paint.CRD("Inherited", "") + paint.Policy("{"+paint.ToGateway+", color: red}"), "", false},
		{"blocks", paint.CRD("inherited", "") + paint.Policy("{"+paint.ToGateway+", defaults: {color: red}}"), "",
			true},
		{"blocks in one of them", paint.CRD("Inherited", "") + paint.Policy("{"+paint.ToGateway+", color: red}") +
			strings.Replace(paint.Policy("{"+paint.ToGateway+", overrides: {color: red}}"), "name: p", "name: q",
				1), "", true},
		{"blocks that are none", paint.CRD("Inherited", "") + paint.Policy("{"+paint.ToGateway+
			", defaults: {color: red}, overrides: [a]}"), "", false},
		{"no CRD", paint.Policy("{" + paint.ToGateway + ", defaults: {color: red}}"), "", false},
		{"the label says nothing", paint.CRD("true", "") + paint.Policy("{"+paint.ToGateway+
			", defaults: {color: red}}"), "", false},
		{"a strategy of its own",
			paint.CRD("Inherited", "defaults: {properties: {strategy: {enum: [atomic, blend]}}}") +
				paint.Policy("{"+paint.ToGateway+", defaults: {color: red}}"), "", false},
		{"a strategy that the API fills in", paint.CRD("Inherited", "strategy: {default: patch}") +
			paint.Policy("{"+paint.ToGateway+", defaults: {color: red}}"), "", false},
		{"the strategies of GEP-713", paint.CRD("Inherited", "strategy: {enum: [atomic, patch], default: atomic}") +
			paint.Policy("{"+paint.ToGateway+", defaults: {color: red}}"), "", true},
		{"another way of merging, which the API may fill in",
			paint.CRD("Inherited", "mergeType: {type: string, default: Strategic}") + paint.Policy("{"+paint.ToGateway+
				", defaults: {color: red}}"), "", false},
		{"the older form", paint.CRD("Inherited", "") + paint.Policy("{"+paint.ToGateway+", default: {color: red}}"),
			"", false},
		{"direct", paint.CRD("Direct", "") + paint.Policy("{"+service+", defaults: {a: 1}}"), "", false},
		{"direct, two kinds", paint.CRD("Direct", "") + paint.Policy("{"+service+"}") +
			strings.Replace(paint.Policy("{"+paint.ToGateway+"}"), "name: p", "name: q",
				1), "its policies target Gateway.gateway.networking.k8s.io and Service", false},
		{"direct, two kinds in its API",
			paint.CRD("Direct", "targetRefs: {items: {properties: {kind: {enum: [Gateway, HTTPRoute]}}}}") +
				paint.Policy("{"+paint.ToGateway+
					"}"), "its policies target Gateway.gateway.networking.k8s.io and HTTPRoute", false},
		{"direct, sections", paint.CRD("Direct", "") + paint.Policy("{"+port+"}"),
			"its policies target sections of objects", false},
		{"direct, namespaces", paint.CRD("Direct", "") +
			paint.Policy("{targetRef: {group: '', kind: Namespace, name: demo}}"),
			"its policies target Namespaces, of which several are above one route", false},
	} {
		kinds, _, _ := discovered(t, c.manifests)
		if got := kinds[0].Guess; got.Doubt != c.doubt || got.DefinesMerge != c.defined || got.Description == "" {
			t.Errorf("%s: %+v", c.name, got)
		}
		if kinds[0].Direct != (strings.HasPrefix(c.name, "direct") && c.doubt == "") {
			t.Errorf("%s: direct is %v", c.name, kinds[0].Direct)
		}
	}
}
