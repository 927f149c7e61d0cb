package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestGenericDoubts(t *testing.T) { // engine E15: fields that are not understood, and where they stand
	inherited, direct := crdOf("Inherited", ""), crdOf("Direct", "")
	for _, c := range []struct{ name, manifests, doubts, astray string }{
		{"settings", paintDoc("{" + toGateway + ", color: red, retryStrategy: none, hostOverride: a, mergedAt: null}"), "", ""},
		{"a strategy of RFC 0009", paintDoc("{" + toGateway + ", strategy: merge}"), "", ""},
		{"another strategy", paintDoc("{" + toGateway + ", strategy: RoundRobin}"), "spec.strategy", ""},
		{"no text", paintDoc("{" + toGateway + ", strategy: {type: merge}}"), "spec.strategy", ""},
		{"a strategy of a direct kind", direct + paintDoc("{"+toGateway+", strategy: merge}"), "spec.strategy", ""},
		{"in a block", paintDoc("{" + toGateway + ", defaults: {strategy: atomic, mergeType: x, priority: 1}}"), "spec.defaults.mergeType spec.defaults.priority", ""},
		{"words", inherited + paintDoc("{"+toGateway+", action: Deny, granularity: rule, inheritance: {}, inheritanceMode: a, precedence: 1, policyPriority: 1, conflictResolution: x, mergingStrategy: x, allowOverrides: true, overridePolicy: x}"),
			"spec.action spec.allowOverrides spec.conflictResolution spec.granularity spec.inheritance spec.inheritanceMode spec.mergingStrategy spec.overridePolicy spec.policyPriority spec.precedence", ""},
		{"deeper they are settings", paintDoc("{" + toGateway + ", rules: [{action: Deny, priority: 1}], extra: {mergeType: a}}"), "", ""},
		{"the older form", paintDoc("{" + toGateway + ", default: {a: 1}, override: {b: 1}}"), "", ""},
		{"its word for something else", paintDoc("{" + toGateway + ", override: true, default: deny}"), "spec.override", ""},
		{"both forms", paintDoc("{" + toGateway + ", defaults: {a: 1}, default: {a: 1}}"), "spec.default", ""},
		{"conditions and deactivation", paintDoc("{" + toGateway + ", unset: [a], remove: [b], defaults: {when: x, a: 1}}"), "spec.defaults.when spec.remove spec.unset", ""},
		{"blocks of a direct kind", direct + paintDoc("{"+toGateway+", defaults: {a: 1}, overrides: [a]}"), "spec.defaults", ""},
		{"settings of a direct kind", direct + paintDoc("{"+toGateway+", remove: [X-Header], when: x}"), "", ""},

		{"keys of a reference", paintDoc("{targetRefs: [{group: g, kind: K, name: n, namespace: a, sectionName: b}, {group: g, kind: K, name: m, sectionNames: [a], ports: [1]}]}"), "spec.targetRefs[1].ports spec.targetRefs[1].sectionNames", ""},
		{"keys of a selector", paintDoc("{targetSelectors: [{group: g, kind: K, matchLabels: {}, matchExpressions: [], name: n, namespaceSelector: {}}]}"), "spec.targetSelectors[0].name spec.targetSelectors[0].namespaceSelector", ""},
		{"no group", inherited + paintDoc("{targetRef: {kind: HTTPRoute, name: n}}"), "", "spec.targetRef"},
		{"no group needed", inherited + paintDoc("{targetRef: {kind: Service, name: n}}"), "", ""},
		{"a version", inherited + paintDoc("{targetRef: {apiVersion: a/v1, kind: K, name: n}}"), "", "spec.targetRef"},
		{"a text", inherited + paintDoc("{targetRef: n}"), "", "spec.targetRef"},
		{"a map of references", inherited + paintDoc("{targetRefs: {a: {group: g, kind: K, name: n}}}"), "", "spec.targetRefs"},
		{"null and a text", inherited + paintDoc("{targetRefs: [null, {group: g, kind: K, name: n}, n]}"), "", "spec.targetRefs[0] spec.targetRefs[2]"},
		{"all of them", inherited + paintDoc("{targetRefs: [{group: g, kind: K, name: '*'}, {group: g, kind: '*', name: n}]}"), "", "spec.targetRefs[0] spec.targetRefs[1]"},
		{"labels in a reference", inherited + paintDoc("{targetRef: {group: g, kind: K, matchLabels: {a: b}}}"), "", "spec.targetRef"},
		{"another field", paintDoc("{" + toGateway + ", targetReference: {name: n}}"), "", "spec.targetReference"},
		{"other fields", inherited + paintDoc("{parentRefs: [{name: g}], gatewayRef: {name: g}, podSelector: {}, targets: [{kind: K, name: n}]}"), "", "spec.gatewayRef spec.parentRefs spec.podSelector spec.targets"},
		{"deeper", paintDoc("{" + toGateway + ", policy: {targetRef: {name: n}}, to: [{extra: {kind: HTTPRoute, name: n}}]}"), "", "spec.policy.targetRef spec.to[0].extra"},
		{"beside the spec", inherited + strings.Replace(paintDoc("{a: 1}"), "spec:", "targetRef: {name: n}\nspec:", 1), "", "targetRef"},
		{"settings that name objects", paintDoc("{" + toGateway + ", target: 5, targets: [a], targetCPU: 1, backendRef: {kind: Service, name: s}, secretRef: {name: s}, rules: [{selector: {a: b}}]}"), "", ""},
	} {
		_, p := decoded(t, c.manifests)
		doubts := append([]Doubt{}, p.Doubts...)
		for _, ref := range p.Refs {
			doubts = append(doubts, ref.Doubts...)
		}
		var fields []string
		for _, d := range doubts {
			fields = append(fields, d.Field)
			if !d.Incomplete() || d.Hint != Describe || !strings.HasPrefix(d.Message, d.Field+": ") {
				t.Errorf("%s: %+v", c.name, d.Problem)
			}
		}
		if got := strings.Join(fields, " "); got != c.doubts {
			t.Errorf("%s: doubts %q, want %q", c.name, got, c.doubts)
		}
		if got := strings.Join(p.Astray, " "); got != c.astray {
			t.Errorf("%s: astray %q, want %q", c.name, got, c.astray)
		}
		if open := slices.ContainsFunc(p.Problems, func(x model.Problem) bool { return x.Incomplete() && x.Hint == Describe }); open != (c.astray != "") {
			t.Errorf("%s: %+v", c.name, p.Problems)
		}
	}
}

func TestGenericAbroad(t *testing.T) { // what it may target in other namespaces counts in all of them
	for spec, want := range map[string]string{
		"targetReference: {name: n}":                      "demo",
		"targetReference: {name: n, namespace: a}":        "",
		"podSelector: [{extra: {namespaceSelector: {}}}]": "",
	} {
		_, p := decoded(t, crdOf("Inherited", "")+paintDoc("{"+spec+"}"))
		if got := p.Problems[0]; got.Ref.Namespace != want || !got.Incomplete() || (want == "") != strings.HasPrefix(got.Message, "paint/demo/p: ") {
			t.Errorf("%s: %+v", spec, got)
		}
	}
}

func TestGenericWithoutReference(t *testing.T) { // it may hold for its namespace, unless its API does not take it
	for name, c := range map[string]struct {
		manifests string
		open      bool
	}{
		"optional": {crdOf("Inherited", "") + paintDoc("{color: red}"), true},
		"required": {strings.Replace(crdOf("Inherited", ""), "{spec: {", "{spec: {required: [targetRefs], ", 1) + paintDoc("{color: red}"), false},
	} {
		_, p := decoded(t, c.manifests)
		if open := slices.ContainsFunc(p.Problems, model.Problem.Incomplete); open != c.open || p.Problems[0].Code != model.TargetNotFound {
			t.Errorf("%s: %+v", name, p.Problems)
		}
	}
}

func TestGenericGuess(t *testing.T) {
	service, port := "targetRef: {group: '', kind: Service, name: s}", "targetRef: {group: '', kind: Service, name: s, sectionName: http}"
	for _, c := range []struct {
		name, manifests, doubt string
		defined                bool
	}{
		{"bare", crdOf("Inherited", "") + paintDoc("{"+toGateway+", color: red}"), "", false},
		{"blocks", crdOf("inherited", "") + paintDoc("{"+toGateway+", defaults: {color: red}}"), "", true},
		{"blocks in one of them", crdOf("Inherited", "") + paintDoc("{"+toGateway+", color: red}") + strings.Replace(paintDoc("{"+toGateway+", overrides: {color: red}}"), "name: p", "name: q", 1), "", true},
		{"blocks that are none", crdOf("Inherited", "") + paintDoc("{"+toGateway+", defaults: {color: red}, overrides: [a]}"), "", false},
		{"no CRD", paintDoc("{" + toGateway + ", defaults: {color: red}}"), "", false},
		{"the label says nothing", crdOf("true", "") + paintDoc("{"+toGateway+", defaults: {color: red}}"), "", false},
		{"a strategy of its own", crdOf("Inherited", "defaults: {properties: {strategy: {enum: [atomic, blend]}}}") + paintDoc("{"+toGateway+", defaults: {color: red}}"), "", false},
		{"a strategy that the API fills in", crdOf("Inherited", "strategy: {default: patch}") + paintDoc("{"+toGateway+", defaults: {color: red}}"), "", false},
		{"the strategies of GEP-713", crdOf("Inherited", "strategy: {enum: [atomic, patch], default: atomic}") + paintDoc("{"+toGateway+", defaults: {color: red}}"), "", true},
		{"another way of merging, which the API may fill in", crdOf("Inherited", "mergeType: {type: string, default: Strategic}") + paintDoc("{"+toGateway+", defaults: {color: red}}"), "", false},
		{"the older form", crdOf("Inherited", "") + paintDoc("{"+toGateway+", default: {color: red}}"), "", false},
		{"direct", crdOf("Direct", "") + paintDoc("{"+service+", defaults: {a: 1}}"), "", false},
		{"direct, two kinds", crdOf("Direct", "") + paintDoc("{"+service+"}") + strings.Replace(paintDoc("{"+toGateway+"}"), "name: p", "name: q", 1), "its policies target Gateway.gateway.networking.k8s.io and Service", false},
		{"direct, two kinds in its API", crdOf("Direct", "targetRefs: {items: {properties: {kind: {enum: [Gateway, HTTPRoute]}}}}") + paintDoc("{"+toGateway+"}"), "its policies target Gateway.gateway.networking.k8s.io and HTTPRoute", false},
		{"direct, sections", crdOf("Direct", "") + paintDoc("{"+port+"}"), "its policies target sections of objects", false},
		{"direct, namespaces", crdOf("Direct", "") + paintDoc("{targetRef: {group: '', kind: Namespace, name: demo}}"), "its policies target Namespaces, of which several are above one route", false},
	} {
		kinds, _, _ := discovered(t, c.manifests)
		if got := kinds[0].Guess; got.Doubt != c.doubt || got.Defined != c.defined || got.How == "" {
			t.Errorf("%s: %+v", c.name, got)
		}
		if kinds[0].Direct != (strings.HasPrefix(c.name, "direct") && c.doubt == "") {
			t.Errorf("%s: direct is %v", c.name, kinds[0].Direct)
		}
	}
}
