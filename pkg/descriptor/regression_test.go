package descriptor

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestAliasesInDescriptors(t *testing.T) { // the descriptor examples use anchors
	c, err := described(paint.Kind("targets: &t [Gateway, HTTPRoute]", "effective: [rule]", "resolve:",
		"- &r {name: route, levels: [route, rule]}", "- *r") + "---\n" +
		"apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Varnish.x.io\n")
	if err != nil {
		t.Fatal(err)
	}
	if plans := c.Kind(model.GroupKind{Group: "x.io", Kind: "Paint"}).Plans; len(plans) != 2 ||
		plans[1].Name != "route" {
		t.Errorf("%+v", plans)
	}
}

func TestMistakesOfAllKindsAreListed(t *testing.T) { // form.Error: everything wrong with a descriptor file
	_, err := described(paint.Kind("tragets: []") + "---\n" + strings.Replace(paint.Kind("plural: 7"), "Paint",
		"Varnish", 1))
	for _, want := range []string{"kinds.yaml:4: unknown field", "kinds.yaml:9: a text is expected"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWrongDescriptorsThatPass(t *testing.T) { // the schema is checked completely from the first day
	for _, c := range []struct{ name, text string }{
		{"no targets at all", paint.Kind("targets: []")},
		{"what only the program's own files have", paint.Kind("admission: [{rule: 'true', message: m, parsed: GgA}]")},
		{"keyed by nothing", paint.Kind("rules: [{path: a, keys: []}]")},
		{"no rules", paint.Kind("rules: []")},
		{"a key twice", paint.Kind("compare: [level, name, name]")},
		{"default of a setting that is an object", vendorDoc + "settings: [{name: s, doc: d, default: {a: b}}]\n"},
		{"default of a flag", vendorDoc + "settings: [{name: s, doc: d, type: bool, default: maybe}]\n"},
		{"none with a side", paint.Kind("strategy: none defaults")},
		{"value of a strategy twice", paint.Kind("strategy: {read: [spec.m], values: {a: merge, a: patch}}")},
		{"a plan for nothing", paint.Kind("resolve: [{levels: []}]")},
		{"plans for nothing", paint.Kind("resolve: []")},
	} {
		if _, err := described(c.text); err == nil {
			t.Errorf("%s is taken", c.name)
		}
	}
}

func TestWrongWordIsOneMistake(t *testing.T) {
	_, err := described(paint.Kind("fold: [bottomUp]"))
	if got := strings.Count(err.Error(), "kinds.yaml:"); got != 1 {
		t.Errorf("%d lines: %v", got, err)
	}
}

func TestMistakesInSettingsNameTheLine(t *testing.T) {
	_, err := described(vendorDoc + "settings:\n- {name: s, doc: d}\n- {name: s, doc: d}\n")
	if err == nil || !strings.HasPrefix(err.Error(), "kinds.yaml:6: ") {
		t.Errorf("got %v", err)
	}
}

func TestSyntaxErrorsInTheFirstLineNameIt(t *testing.T) {
	for _, text := range []string{"\"", "%", "kind: [\n"} {
		if _, err := described(text); err == nil || !strings.HasPrefix(err.Error(), "kinds.yaml:1: ") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
