package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"go.yaml.in/yaml/v3"
)

// discovered reads manifests and lists the kinds without a descriptor.
func discovered(t *testing.T, manifests string, settings ...string) ([]*Kind, []model.Problem, *model.Snapshot) {
	t.Helper()
	c, err := NewCatalog(nil, nil, settings, Functions{})
	if err != nil {
		t.Fatal(err)
	}
	var objects []*model.Object
	dec := yaml.NewDecoder(strings.NewReader(manifests))
	for {
		var body map[string]any
		if dec.Decode(&body) != nil {
			break
		}
		values(body)
		objects = append(objects, objectOf(body))
	}
	in := model.NewSnapshot(objects, nil)
	kinds, problems := c.Discover(in)
	return kinds, problems, in
}

// crdOf is a CRD for Paint.x.io with the label value and, in flow style, the properties of its spec.
func crdOf(label, properties string) string {
	labels := ""
	if label != "" {
		labels = `, labels: {gateway.networking.k8s.io/policy: "` + label + `"}`
	}
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: paints.x.io" + labels + "}\n" +
		"spec: {group: x.io, scope: Namespaced, names: {kind: Paint, plural: paintz, shortNames: [pt]}, versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {" + properties + "}}}}}}]}\n---\n"
}

func paintDoc(spec string) string {
	return "apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: demo}\nspec: " + spec + "\n---\n"
}

func TestGenericByLabel(t *testing.T) { // gep713 P1-P3
	for label, direct := range map[string]bool{"Direct": true, "direct": true, "DIRECT": true, "Inherited": false, "inherited": false, "true": false, "whatever": false} {
		kinds, problems, _ := discovered(t, crdOf(label, "")+paintDoc("{"+toGateway+"}"))
		if len(kinds) != 1 || kinds[0].Direct != direct || kinds[0].Plural != "paintz" || !slices.Equal(kinds[0].Short, []string{"pt"}) || !kinds[0].Generic() {
			t.Errorf("%s: %+v", label, kinds)
			continue
		}
		if len(problems) != 1 || problems[0].Code != model.GenericKind || problems[0].Severity != model.Info || problems[0].Incomplete() {
			t.Errorf("%s: %+v", label, problems)
		}
		word := "atomic"
		if direct {
			word = "none"
		}
		if !slices.Equal(kinds[0].StrategyWords(), []string{word}) && direct || kinds[0].Strategy.Default.Strategy.Word() != word {
			t.Errorf("%s: strategies %v", label, kinds[0].StrategyWords())
		}
	}
}

func TestGenericByShape(t *testing.T) {
	for _, c := range []struct {
		name, manifests string
		want            bool
	}{
		{"targetRef", paintDoc("{" + toGateway + "}"), true},
		{"group of the core", paintDoc("{targetRef: {group: '', kind: Service, name: s}}"), true},
		{"targetRefs", paintDoc("{targetRefs: [{group: g, kind: K, name: n}]}"), true},
		{"targetSelectors", paintDoc("{targetSelectors: [{group: g, kind: K, matchLabels: {}}]}"), true},
		{"no group", paintDoc("{targetRef: {kind: K, name: n}}"), false},
		{"no name", paintDoc("{targetRef: {group: g, kind: K}}"), false},
		{"an autoscaler", paintDoc("{targetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}"), false},
		{"group and apiVersion", paintDoc("{targetRef: {apiVersion: apps/v1, group: apps, kind: Deployment, name: d}}"), false},
		{"a text", paintDoc("{targetRef: x}"), false},
		{"no spec", paintDoc("null"), false},
		{"CRD without a label or objects", crdOf("", "targetRef: {type: object}"), false},
		{"a kind of Kubernetes", "apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: v}\nspec: {targetRef: {group: apps, kind: Deployment, name: d}}\n", false},
		{"labelled, without objects", crdOf("Inherited", ""), true},
	} {
		kinds, _, _ := discovered(t, c.manifests)
		if got := len(kinds) == 1; got != c.want {
			t.Errorf("%s: %v", c.name, kinds)
		}
	}
}

// decoded is the only policy of the manifests, by its kind.
func decoded(t *testing.T, manifests string, settings ...string) (*Kind, *Policy) {
	t.Helper()
	kinds, _, in := discovered(t, manifests, settings...)
	if len(kinds) != 1 {
		t.Fatalf("kinds %v", kinds)
	}
	return kinds[0], kinds[0].Decode(in.Of(kinds[0].GroupKind)[0], &Conditions{})
}

func TestGenericContent(t *testing.T) {
	for _, c := range []struct{ name, manifests, want string }{
		{"bare", paintDoc("{" + toGateway + ", color: red, map: {a: 1}}"), "bare atomic color=red map.a=1"},
		{"other words for a strategy are no settings", paintDoc("{" + toGateway + ", color: red, strategy: patch, granularity: 1}"), "bare patch color=red"},
		{"list-maps are cut by their keys", crdOf("Inherited", "rules: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}") +
			paintDoc("{"+toGateway+", rules: [{id: walls, color: red}, {id: roof}]}"), "bare atomic rules.walls=map[color:red id:walls] rules.roof=map[id:roof]"},
		{"two keys", crdOf("Inherited", "rules: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id, port]}") +
			paintDoc("{"+toGateway+", rules: [{id: a, port: 1}]}"), "bare atomic rules.a,1=map[id:a port:1]"},
		{"list-maps inside a block", crdOf("Inherited", "defaults: {properties: {rules: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}}}") +
			paintDoc("{"+toGateway+", defaults: {strategy: merge, rules: [{id: walls}]}}"), "defaults merge rules.walls=map[id:walls]"},
		{"atomic lists are whole", crdOf("Inherited", "rules: {type: array, x-kubernetes-list-type: atomic}") + paintDoc("{"+toGateway+", rules: [{id: a}]}"), "bare atomic rules=[map[id:a]]"},
		{"atomic maps are whole", crdOf("Inherited", "colors: {type: object, x-kubernetes-map-type: atomic}") + paintDoc("{"+toGateway+", colors: {a: 1, b: 2}}"), "bare atomic colors=map[a:1 b:2]"},
		{"older form", paintDoc("{" + toGateway + ", default: {tls: {mode: a}}, override: {list: [1]}}"), "defaults merge tls.mode=a; overrides merge list=[1]; MultipleBlocks"},
		{"direct", crdOf("Direct", "") + paintDoc("{"+toGateway+", color: red}"), "bare none color=red"},
	} {
		if _, p := decoded(t, c.manifests); said(p) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, said(p), c.want)
		}
	}
}

func TestGenericOlderForm(t *testing.T) { // gep713 P40: the oldest policy of a target is first; a kind that knows both words is none of it
	k, _ := decoded(t, crdOf("Inherited", "default: {properties: {labels: {additionalProperties: {type: string}}}}")+paintDoc("{"+toGateway+", default: {labels: {a: b}, x: {y: 1}}}"))
	if k.SameTarget != Fill || k.RuleWords() != "leaves" || k.Checked {
		t.Errorf("%+v", k)
	}
	_, p := decoded(t, crdOf("Inherited", "default: {properties: {labels: {additionalProperties: {type: string}}}}")+paintDoc("{"+toGateway+", default: {labels: {a: b}, x: {y: 1}}}"))
	if got := said(p); got != "defaults merge labels=map[a:b] x.y=1" {
		t.Errorf("maps of texts are whole: %s", got)
	}
	kinds, _, _ := discovered(t, paintDoc("{"+toGateway+", default: {a: 1}}")+strings.Replace(paintDoc("{"+toGateway+", defaults: {a: 1}}"), "name: p", "name: q", 1))
	if kinds[0].SameTarget != Stacked {
		t.Errorf("both words: %+v", kinds[0])
	}
}

func TestGenericSettings(t *testing.T) {
	for _, c := range []struct{ name, manifests, setting, want string }{
		{"genericStrategy", paintDoc("{" + toGateway + ", color: red}"), "gatewayapi.genericStrategy=patch", "patch"},
		{"the API has a field for it", crdOf("Inherited", "defaults: {properties: {strategy: {type: string}}}") + paintDoc("{"+toGateway+", color: red}"), "gatewayapi.genericStrategy=patch", "atomic"},
		{"the object chooses", paintDoc("{" + toGateway + ", color: red, strategy: merge}"), "gatewayapi.genericStrategy=patch", "merge"},
		{"direct kinds do not merge", crdOf("Direct", "") + paintDoc("{"+toGateway+", color: red}"), "gatewayapi.genericStrategy=patch", "none"},
	} {
		if _, p := decoded(t, c.manifests, c.setting); p.Word(merge.Bare) != c.want {
			t.Errorf("%s: %s, want %s", c.name, p.Word(merge.Bare), c.want)
		}
	}
	for setting, want := range map[string]SameTarget{"gep713": Stacked, "oldest": Oldest} {
		if k, _ := decoded(t, paintDoc("{"+toGateway+"}"), "gatewayapi.sameLevel="+setting); k.SameTarget != want {
			t.Errorf("sameLevel=%s: %s", setting, k.SameTarget)
		}
	}
}

func TestGenericEffective(t *testing.T) { // rule if a route or anything above it is targeted, Services and ports where they are
	for targets, want := range map[string]string{
		"{group: gateway.networking.k8s.io, kind: Gateway, name: a}":                     "[rule]",
		"{group: gateway.networking.k8s.io, kind: HTTPRoute, name: a, sectionName: r}":   "[rule]",
		"{group: '', kind: Service, name: a}":                                            "[backend]",
		"{group: '', kind: Service, name: a, sectionName: http}":                         "[port]",
		"{group: '', kind: Namespace, name: a}":                                          "[rule]",
		"{group: gateway.networking.k8s.io/v1, kind: GatewayClass, name: a}":             "[rule]",
		"{group: gateway.networking.k8s.io, kind: ListenerSet, name: a, sectionName: l}": "[rule]",
	} {
		if k, _ := decoded(t, paintDoc("{targetRef: "+targets+"}")); fmt.Sprint(k.Effective) != want {
			t.Errorf("%s: %v, want %s", targets, k.Effective, want)
		}
	}
}

func TestDiscoverDoesNotDependOnOrder(t *testing.T) {
	manifests := []string{crdOf("Inherited", "rules: {x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}")}
	for i := range 5 {
		manifests = append(manifests, strings.Replace(paintDoc("{"+toGateway+"}"), "name: p", fmt.Sprint("name: p", i), 1))
		manifests = append(manifests, strings.Replace(manifests[len(manifests)-1], "Paint", fmt.Sprint("Other", i), 1))
	}
	write := func() string {
		kinds, problems, _ := discovered(t, strings.Join(manifests, ""))
		var out []string
		for _, k := range kinds {
			out = append(out, fmt.Sprint(k.Name(), k.From, k.Effective, k.RuleWords()))
		}
		return fmt.Sprint(out, model.SortProblems(problems))
	}
	first := write()
	slices.Reverse(manifests)
	if again := write(); again != first {
		t.Errorf("got %s, then %s", first, again)
	}
}
