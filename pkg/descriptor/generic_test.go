package descriptor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// discovered reads manifests and lists the kinds without a descriptor.
func discovered(t *testing.T, manifests string, settings ...string) ([]*policy.Kind, []model.Problem, *model.Snapshot) {
	t.Helper()
	c, err := NewCatalog(nil, nil, settings, Functions{})
	if err != nil {
		t.Fatal(err)
	}
	in := model.NewSnapshot(paint.Objects(manifests), nil)
	kinds, problems := c.Discover(in)
	return kinds, problems, in
}

func TestGenericByLabel(t *testing.T) { // gep713 P1-P3
	for label, direct := range map[string]bool{"Direct": true, "direct": true, "DIRECT": true, "Inherited": false,
		"inherited": false, "true": false, "whatever": false} {
		kinds, problems, _ := discovered(t, paint.CRD(label, "")+paint.Policy("{"+paint.ToGateway+"}"))
		if len(kinds) != 1 || kinds[0].Direct != direct || kinds[0].Plural != "paintz" ||
			!slices.Equal(kinds[0].ShortNames, []string{"pt"}) || !kinds[0].IsGeneric() {
			t.Errorf("%s: %+v", label, kinds)
			continue
		}
		if len(problems) != 1 || problems[0].Code != model.GenericKind || problems[0].Severity != model.Info ||
			problems[0].IsIncomplete() {
			t.Errorf("%s: %+v", label, problems)
		}
		word := "atomic"
		if direct {
			word = "none"
		}
		if !slices.Equal(kinds[0].StrategyNames(), []string{word}) && direct ||
			kinds[0].Strategy.Default.Strategy.Name() != word {
			t.Errorf("%s: strategies %v", label, kinds[0].StrategyNames())
		}
	}
}

func TestGenericByShape(t *testing.T) {
	for _, c := range []struct {
		name, manifests string
		want            bool
	}{
		{"targetRef", paint.Policy("{" + paint.ToGateway + "}"), true},
		{"group of the core", paint.Policy("{targetRef: {group: '', kind: Service, name: s}}"), true},
		{"targetRefs", paint.Policy("{targetRefs: [{group: g, kind: K, name: n}]}"), true},
		{"targetSelectors", paint.Policy("{targetSelectors: [{group: g, kind: K, matchLabels: {}}]}"), true},
		{"no group", paint.Policy("{targetRef: {kind: K, name: n}}"), false},
		{"no name", paint.Policy("{targetRef: {group: g, kind: K}}"), false},
		{"an autoscaler", paint.Policy("{targetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}"), false},
		{"group and apiVersion",
			paint.Policy("{targetRef: {apiVersion: apps/v1, group: apps, kind: Deployment, name: d}}"), false},
		{"a text", paint.Policy("{targetRef: x}"), false},
		{"no spec", paint.Policy("null"), false},
		{"CRD without a label or objects", paint.CRD("", "targetRef: {type: object}"), false},
		{"a kind of Kubernetes",
			"apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: v}\nspec: {targetRef: {group: apps, kind: Deployment, name: d}}\n", false},
		{"labelled, without objects", paint.CRD("Inherited", ""), true},
	} {
		kinds, _, _ := discovered(t, c.manifests)
		if got := len(kinds) == 1; got != c.want {
			t.Errorf("%s: %v", c.name, kinds)
		}
	}
}

// rule if a route or anything above it is targeted, Services and ports where they are
func TestGenericEffective(t *testing.T) {
	for targets, want := range map[string]string{
		"{group: gateway.networking.k8s.io, kind: Gateway, name: a}":                     "[rule]",
		"{group: gateway.networking.k8s.io, kind: HTTPRoute, name: a, sectionName: r}":   "[rule]",
		"{group: '', kind: Service, name: a}":                                            "[backend]",
		"{group: '', kind: Service, name: a, sectionName: http}":                         "[port]",
		"{group: '', kind: Namespace, name: a}":                                          "[rule]",
		"{group: gateway.networking.k8s.io/v1, kind: GatewayClass, name: a}":             "[rule]",
		"{group: gateway.networking.k8s.io, kind: ListenerSet, name: a, sectionName: l}": "[rule]",
	} {
		if kinds, _, _ := discovered(t, paint.Policy("{targetRef: "+targets+"}")); fmt.Sprint(
			kinds[0].Effective) != want {
			t.Errorf("%s: %v, want %s", targets, kinds[0].Effective, want)
		}
	}
}

func TestDiscoverDoesNotDependOnOrder(t *testing.T) {
	manifests := []string{paint.CRD("Inherited",
		"rules: {x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}")}
	for i := range 5 {
		manifests = append(manifests, strings.Replace(paint.Policy("{"+paint.ToGateway+"}"), "name: p",
			fmt.Sprint("name: p", i), 1))
		manifests = append(manifests, strings.Replace(manifests[len(manifests)-1], "Paint", fmt.Sprint("Other", i), 1))
	}
	write := func() string {
		kinds, problems, _ := discovered(t, strings.Join(manifests, ""))
		var out []string
		for _, k := range kinds {
			out = append(out, fmt.Sprint(k.Name(), k.Source, k.Effective, k.DescribeRules()))
		}
		return fmt.Sprint(out, model.SortProblems(problems))
	}
	first := write()
	slices.Reverse(manifests)
	if again := write(); again != first {
		t.Errorf("got %s, then %s", first, again)
	}
}
