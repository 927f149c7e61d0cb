package prove

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// classesOf are the classes of the rules of an input, by rule.
func classesOf(t *testing.T, in func(string) bool, docs ...string) (*RuleClassList, map[string]RuleClasses) {
	t.Helper()
	r := viewtest.ResolutionOf(t, docs...)
	list, err := ClassesOfRules(r, request.NewMatcher(r.Graph, model.Settings{}), view.Judges{}, in)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]RuleClasses{}
	for _, of := range list.Items {
		by[of.Rule.FullName()+" "+of.Rule.Section] = of
	}
	if len(by) != len(list.Items) {
		t.Errorf("%d items of %d rules", len(list.Items), len(by))
	}
	return list, by
}

func TestClassesOfRules(t *testing.T) {
	var many []string
	for i := range mostClassesShown + 4 {
		many = append(many, fmt.Sprintf("{path: {type: Exact, value: /p%02d}}", i))
	}
	docs := []string{viewtest.PlainGateway,
		viewtest.MatchingRoute("a", "many", "many.com", "", many...),
		viewtest.MatchingRoute("a", "prefix", "x.com", "", "{path: {type: PathPrefix, value: /a}}"),
		viewtest.MatchingRoute("b", "header", "x.com", ", creationTimestamp: '2020-01-01T00:00:00Z'",
			"{path: {type: PathPrefix, value: /a}, headers: [{name: x-probe, value: '1'}]}"),
		viewtest.MatchingRoute("b", "shadowed", "x.com", ", creationTimestamp: '2030-01-01T00:00:00Z'",
			"{path: {type: PathPrefix, value: /a}, headers: [{name: x-probe, value: '1'}]}"),
		viewtest.MatchingRoute("c", "first", "tie.com", "", "{path: {type: Exact, value: /t}}"),
		viewtest.MatchingRoute("d", "second", "tie.com", "", "{path: {type: Exact, value: /t}}")}
	list, by := classesOf(t, nil, docs...)
	if len(list.LeftOut) > 0 || len(list.Undecided) > 0 {
		t.Errorf("left out: %v, undecided: %v", list.LeftOut, list.Undecided)
	}
	if got := by["a/many r"]; len(got.Classes) != mostClassesShown || got.More != 4 ||
		got.Classes[0].Command != "curl http://many.com/p00" {
		t.Errorf("%+v", got)
	}
	var told []string
	for _, c := range by["a/prefix r"].Classes {
		told = append(told, c.Class+" · "+c.Command+" · "+c.Listener.Section)
	}
	want := []string{"host x.com, paths below /a, no header x-probe · curl http://x.com/a · http",
		"host x.com, paths below /a, another header x-probe · curl -H 'x-probe: x' http://x.com/a · http"}
	if slices.Sort(told); !slices.Equal(told, slices.Sorted(slices.Values(want))) {
		t.Errorf("%q", told)
	}
	if got, has := by["b/shadowed r"]; has {
		t.Errorf("takes %+v", got)
	}
	for _, name := range []string{"c/first r", "d/second r"} { // without times of creation, which is first is not known
		if got := by[name].Classes; len(got) != 1 || got[0].Unknown == "" || got[0].Class != "host tie.com, path /t" {
			t.Errorf("%s: %+v", name, got)
		}
	}

	_, by = classesOf(t, func(namespace string) bool { return namespace == "c" }, docs...)
	if _, has := by["c/first r"]; len(by) != 1 || !has {
		t.Errorf("%v", by)
	}
}

// TestClassesBeyondBounds: what is not looked at is said.
func TestClassesBeyondBounds(t *testing.T) {
	var headers []string
	for i := range 12 {
		headers = append(headers,
			fmt.Sprintf(
				"{path: {type: Exact, value: /a}, headers: [{name: h%d, value: '1'}, {name: g%d, value: '1'}]}", i, i))
	}
	list, by := classesOf(t, nil, viewtest.PlainGateway, viewtest.MatchingRoute("a", "r", "x.com", "", headers...))
	if len(list.LeftOut) != 1 || !strings.Contains(list.LeftOut[0], "beyond the first") {
		t.Errorf("%q", list.LeftOut)
	}
	if got := by["a/r r"]; len(got.Classes) != mostClassesShown || got.More == 0 {
		t.Errorf("%+v", got)
	}

	docs := []string{viewtest.PlainGateway}
	for i := range MostRulesClassed + 1 {
		docs = append(docs, viewtest.MatchingRoute("a", fmt.Sprint("r", i), fmt.Sprintf("h%d.com", i), ""))
	}
	list, _ = classesOf(t, nil, docs...)
	if len(list.Items) > 0 || len(list.LeftOut) != 1 ||
		!strings.Contains(list.LeftOut[0], fmt.Sprint(MostRulesClassed)) {
		t.Errorf("%d items, %q", len(list.Items), list.LeftOut)
	}
}
