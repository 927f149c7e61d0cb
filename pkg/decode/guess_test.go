package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

func TestGenericContent(t *testing.T) {
	for _, c := range []struct{ name, manifests, want string }{
		{"bare", paint.Policy("{" + paint.ToGateway + ", color: red, map: {a: 1}}"), "bare atomic color=red map.a=1"},
		{"other words for a strategy are no settings",
			paint.Policy("{" + paint.ToGateway + ", color: red, strategy: patch, granularity: 1}"),
			"bare patch color=red"},
		{"list-maps are cut by their keys",
			paint.CRD("Inherited",
				"rules: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}") +
				paint.Policy("{"+paint.ToGateway+", rules: [{id: walls, color: red}, {id: roof}]}"),
			"bare atomic rules.walls=map[color:red id:walls] rules.roof=map[id:roof]"},
		{"two keys",
			paint.CRD("Inherited",
				"rules: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id, port]}") +
				paint.Policy("{"+paint.ToGateway+", rules: [{id: a, port: 1}]}"),
			"bare atomic rules.a,1=map[id:a port:1]"},
		{"list-maps inside a block",
			paint.CRD("Inherited",
				"defaults: {properties: {rules: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}}}") +
				paint.Policy("{"+paint.ToGateway+", defaults: {strategy: merge, rules: [{id: walls}]}}"),
			"defaults merge rules.walls=map[id:walls]"},
		{"atomic lists are whole", paint.CRD("Inherited", "rules: {type: array, x-kubernetes-list-type: atomic}") +
			paint.Policy("{"+paint.ToGateway+", rules: [{id: a}]}"), "bare atomic rules=[map[id:a]]"},
		{"atomic maps are whole", paint.CRD("Inherited", "colors: {type: object, x-kubernetes-map-type: atomic}") +
			paint.Policy("{"+paint.ToGateway+", colors: {a: 1, b: 2}}"), "bare atomic colors=map[a:1 b:2]"},
		{"older form", paint.Policy("{" + paint.ToGateway + ", default: {tls: {mode: a}}, override: {list: [1]}}"),
			"defaults merge tls.mode=a; overrides merge list=[1]; MultipleBlocks"},
		{"direct", paint.CRD("Direct", "") + paint.Policy("{"+paint.ToGateway+", color: red}"), "bare none color=red"},
	} {
		if _, p := decoded(t, c.manifests); said(p) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, said(p), c.want)
		}
	}
}

// gep713 P40: the oldest policy of a target is first; a kind that knows both words is none of it
func TestGenericOlderForm(t *testing.T) {
	k, _ := decoded(t,
		paint.CRD("Inherited", "default: {properties: {labels: {additionalProperties: {type: string}}}}")+
			paint.Policy("{"+paint.ToGateway+", default: {labels: {a: b}, x: {y: 1}}}"))
	if k.SameTarget != policy.Fill || k.DescribeRules() != "leaves" || k.ChecksDirection {
		t.Errorf("%+v", k)
	}
	_, p := decoded(t,
		paint.CRD("Inherited", "default: {properties: {labels: {additionalProperties: {type: string}}}}")+
			paint.Policy("{"+paint.ToGateway+", default: {labels: {a: b}, x: {y: 1}}}"))
	if got := said(p); got != "defaults merge labels=map[a:b] x.y=1" {
		t.Errorf("maps of texts are whole: %s", got)
	}
	kinds, _ := discovered(t, paint.Policy("{"+paint.ToGateway+", default: {a: 1}}")+
		strings.Replace(paint.Policy("{"+paint.ToGateway+", defaults: {a: 1}}"), "name: p", "name: q", 1))
	if kinds[0].SameTarget != policy.Stacked {
		t.Errorf("both words: %+v", kinds[0])
	}
}

func TestGenericSettings(t *testing.T) {
	for _, c := range []struct{ name, manifests, setting, want string }{
		{"genericStrategy", paint.Policy("{" + paint.ToGateway + ", color: red}"), "gatewayapi.genericStrategy=patch",
			"patch"},
		{"the API has a field for it", paint.CRD("Inherited", "defaults: {properties: {strategy: {type: string}}}") +
			paint.Policy("{"+paint.ToGateway+", color: red}"), "gatewayapi.genericStrategy=patch", "atomic"},
		{"the object chooses", paint.Policy("{" + paint.ToGateway + ", color: red, strategy: merge}"),
			"gatewayapi.genericStrategy=patch", "merge"},
		{"direct kinds do not merge", paint.CRD("Direct", "") + paint.Policy("{"+paint.ToGateway+", color: red}"),
			"gatewayapi.genericStrategy=patch", "none"},
	} {
		if _, p := decoded(t, c.manifests, c.setting); p.StrategyName(merge.Bare) != c.want {
			t.Errorf("%s: %s, want %s", c.name, p.StrategyName(merge.Bare), c.want)
		}
	}
	for setting, want := range map[string]policy.SameTarget{"gep713": policy.Stacked, "oldest": policy.Oldest} {
		if k, _ := decoded(t, paint.Policy("{"+paint.ToGateway+"}"), "gatewayapi.sameLevel="+
			setting); k.SameTarget != want {
			t.Errorf("sameLevel=%s: %s", setting, k.SameTarget)
		}
	}
}

func TestGenericDoubts(t *testing.T) { // engine E15: fields that are not understood, and where they stand
	inherited, direct := paint.CRD("Inherited", ""), paint.CRD("Direct", "")
	for _, c := range []struct{ name, manifests, doubts, astray string }{
		{"settings",
			paint.Policy("{" + paint.ToGateway +
				", color: red, retryStrategy: none, hostOverride: a, mergedAt: null}"), "", ""},
		{"a strategy of RFC 0009", paint.Policy("{" + paint.ToGateway + ", strategy: merge}"), "", ""},
		{"another strategy", paint.Policy("{" + paint.ToGateway + ", strategy: RoundRobin}"), "spec.strategy", ""},
		{"no text", paint.Policy("{" + paint.ToGateway + ", strategy: {type: merge}}"), "spec.strategy", ""},
		{"a strategy of a direct kind", direct + paint.Policy("{"+paint.ToGateway+", strategy: merge}"),
			"spec.strategy", ""},
		{"in a block",
			paint.Policy("{" + paint.ToGateway + ", defaults: {strategy: atomic, mergeType: x, priority: 1}}"),
			"spec.defaults.mergeType spec.defaults.priority", ""},
		{"words", inherited + paint.Policy("{"+paint.ToGateway+
			", action: Deny, granularity: rule, inheritance: {}, inheritanceMode: a, precedence: 1, policyPriority: 1, conflictResolution: x, mergingStrategy: x, allowOverrides: true, overridePolicy: x}"),
			"spec.action spec.allowOverrides spec.conflictResolution spec.granularity spec.inheritance spec.inheritanceMode spec.mergingStrategy spec.overridePolicy spec.policyPriority spec.precedence", ""},
		{"deeper they are settings",
			paint.Policy("{" + paint.ToGateway + ", rules: [{action: Deny, priority: 1}], extra: {mergeType: a}}"), "",
			""},
		{"the older form", paint.Policy("{" + paint.ToGateway + ", default: {a: 1}, override: {b: 1}}"), "", ""},
		{"its word for something else", paint.Policy("{" + paint.ToGateway + ", override: true, default: deny}"),
			"spec.override", ""},
		{"both forms", paint.Policy("{" + paint.ToGateway + ", defaults: {a: 1}, default: {a: 1}}"),
			"spec.default", ""},
		{"conditions and deactivation",
			paint.Policy("{" + paint.ToGateway + ", unset: [a], remove: [b], defaults: {when: x, a: 1}}"),
			"spec.defaults.when spec.remove spec.unset", ""},
		{"blocks of a direct kind", direct + paint.Policy("{"+paint.ToGateway+", defaults: {a: 1}, overrides: [a]}"),
			"spec.defaults", ""},
		{"settings of a direct kind", direct + paint.Policy("{"+paint.ToGateway+", remove: [X-Header], when: x}"), "",
			""},

		{"keys of a reference",
			paint.Policy(
				"{targetRefs: [{group: g, kind: K, name: n, namespace: a, sectionName: b}, {group: g, kind: K, name: m, sectionNames: [a], ports: [1]}]}"), "spec.targetRefs[1].ports spec.targetRefs[1].sectionNames", ""},
		{"keys of a selector",
			paint.Policy(
				"{targetSelectors: [{group: g, kind: K, matchLabels: {}, matchExpressions: [], name: n, namespaceSelector: {}}]}"), "spec.targetSelectors[0].name spec.targetSelectors[0].namespaceSelector", ""},
		{"no group", inherited + paint.Policy("{targetRef: {kind: HTTPRoute, name: n}}"), "", "spec.targetRef"},
		{"no group needed", inherited + paint.Policy("{targetRef: {kind: Service, name: n}}"), "", ""},
		{"a version", inherited + paint.Policy("{targetRef: {apiVersion: a/v1, kind: K, name: n}}"), "",
			"spec.targetRef"},
		{"a text", inherited + paint.Policy("{targetRef: n}"), "", "spec.targetRef"},
		{"a map of references", inherited + paint.Policy("{targetRefs: {a: {group: g, kind: K, name: n}}}"), "",
			"spec.targetRefs"},
		{"null and a text", inherited + paint.Policy("{targetRefs: [null, {group: g, kind: K, name: n}, n]}"), "",
			"spec.targetRefs[0] spec.targetRefs[2]"},
		{"all of them",
			inherited + paint.Policy("{targetRefs: [{group: g, kind: K, name: '*'}, {group: g, kind: '*', name: n}]}"),
			"", "spec.targetRefs[0] spec.targetRefs[1]"},
		{"labels in a reference", inherited + paint.Policy("{targetRef: {group: g, kind: K, matchLabels: {a: b}}}"),
			"", "spec.targetRef"},
		{"another field", paint.Policy("{" + paint.ToGateway + ", targetReference: {name: n}}"), "",
			"spec.targetReference"},
		{"other fields",
			inherited +
				paint.Policy(
					"{parentRefs: [{name: g}], gatewayRef: {name: g}, podSelector: {}, targets: [{kind: K, name: n}]}"), "", "spec.gatewayRef spec.parentRefs spec.podSelector spec.targets"},
		{"deeper",
			paint.Policy("{" + paint.ToGateway +
				", policy: {targetRef: {name: n}}, to: [{extra: {kind: HTTPRoute, name: n}}]}"), "",
			"spec.policy.targetRef spec.to[0].extra"},
		{"beside the spec", inherited + strings.Replace(paint.Policy("{a: 1}"), "spec:", "targetRef: {name: n}\nspec:",
			1), "", "targetRef"},
		{"settings that name objects",
			paint.Policy("{" + paint.ToGateway +
				", target: 5, targets: [a], targetCPU: 1, backendRef: {kind: Service, name: s}, secretRef: {name: s}, rules: [{selector: {a: b}}]}"), "", ""},
	} {
		_, p := decoded(t, c.manifests)
		doubts := append([]policy.Uncertainty{}, p.Uncertain...)
		for _, ref := range p.Refs {
			doubts = append(doubts, ref.Uncertain...)
		}
		var fields []string
		for _, d := range doubts {
			fields = append(fields, d.Field)
			if !d.IsIncomplete() || d.Hint != policy.DescribeHint || !strings.HasPrefix(d.Message, d.Field+": ") {
				t.Errorf("%s: %+v", c.name, d.Problem)
			}
		}
		if got := strings.Join(fields, " "); got != c.doubts {
			t.Errorf("%s: doubts %q, want %q", c.name, got, c.doubts)
		}
		if got := strings.Join(p.UnknownRefFields, " "); got != c.astray {
			t.Errorf("%s: astray %q, want %q", c.name, got, c.astray)
		}
		if open := slices.ContainsFunc(p.Problems, func(x model.Problem) bool {
			return x.IsIncomplete() &&
				x.Hint == policy.DescribeHint
		}); open != (c.astray != "") {
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
		_, p := decoded(t, paint.CRD("Inherited", "")+paint.Policy("{"+spec+"}"))
		if got := p.Problems[0]; got.Ref.Namespace != want || !got.IsIncomplete() ||
			(want == "") != strings.HasPrefix(got.Message, "paint/demo/p: ") {
			t.Errorf("%s: %+v", spec, got)
		}
	}
}

func TestGenericWithoutReference(t *testing.T) { // it may hold for its namespace, unless its API does not take it
	for name, c := range map[string]struct {
		manifests string
		open      bool
	}{
		"optional": {paint.CRD("Inherited", "") + paint.Policy("{color: red}"), true},
		"required": {strings.Replace(paint.CRD("Inherited", ""), "{spec: {", "{spec: {required: [targetRefs], ", 1) +
			paint.Policy("{color: red}"), false},
	} {
		_, p := decoded(t, c.manifests)
		if open := slices.ContainsFunc(p.Problems, model.Problem.IsIncomplete); open != c.open ||
			p.Problems[0].Code != model.TargetNotFound {
			t.Errorf("%s: %+v", name, p.Problems)
		}
	}
}
