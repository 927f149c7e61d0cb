package policy

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestNullContainerIsEmpty(t *testing.T) { // `limits:` with everything below it commented out: no rule, so the set is empty (RFC 0009 §2)
	k := paint(t, limits...)
	for spec, want := range map[string]string{
		"{" + toGateway + ", limits: null}":             "bare atomic",
		"{" + toGateway + ", defaults: {limits: null}}": "defaults atomic",
	} {
		if got := said(k.Decode(painted(t, spec), &Conditions{})); got != want && got != "" {
			t.Errorf("%s: got %s, want %s", spec, got, want)
		}
	}
	sections := paint(t, "rules: [rules.*.*]")
	if got := said(sections.Decode(painted(t, "{"+toGateway+", rules: {authentication: null}}"), &Conditions{})); got != "bare atomic" {
		t.Errorf("a section without rules: got %s", got)
	}
}

func TestWrongTypedSection(t *testing.T) { // a section that is no object takes no part, like a container (contract: WrongType)
	k := paint(t, "rules: [rules.*.*]")
	if got, want := said(k.Decode(painted(t, "{"+toGateway+", rules: {authentication: 5, b: {c: 1}}}"), &Conditions{})), "bare atomic rules.b.c=1; WrongType"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDirectKindsHaveNoWordsOfDefaultsAndOverrides(t *testing.T) { // E5, E6: there is no block to condition and no default to deactivate
	_, p := decoded(t, crdOf("Direct", "")+paintDoc("{"+toGateway+", when: always, remove: [x-header], unset: {a: 1}}"))
	if got, want := said(p), "bare none remove=[x-header] unset.a=1 when=always"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUnknownStrategyIsSaidWhereItStands(t *testing.T) {
	o := painted(t, "{"+toGateway+", strategy: deep, defaults: {limits: {a: 1}}, overrides: {limits: {b: 1}}}")
	o.Body = model.Pack(o.Body.Value(), lines{"spec.strategy": 5, "spec.defaults.strategy": 7, "spec.overrides.strategy": 9}.at)
	p := paint(t, limits...).Decode(o, &Conditions{})
	if len(p.Problems) != 1 || p.Problems[0].Origin.Line != 5 {
		t.Errorf("spec.strategy, on line 5, is reported %d times: %+v", len(p.Problems), p.Problems)
	}
}

func TestStrategyOfAPlanLeavesTheSideToTheBlock(t *testing.T) { // descriptor: "with an optional side (otherwise the block's)"
	k := paint(t, "resolve: [{strategy: merge}]")
	upper := k.Decode(painted(t, "{"+toGateway+", overrides: {m: {a: top}}}"), &Conditions{})
	lower := k.Decode(painted(t, "{"+toGateway+", m: {a: low}}"), &Conditions{})
	r := merge.Fold(k.Plans, k.Rules, merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: upper.Blocks}, {Level: "route", Blocks: lower.Blocks}}})
	if want := any(map[string]any{"m": map[string]any{"a": "top"}}); !reflect.DeepEqual(r.Doc, want) {
		t.Errorf("an override of the gateway: got %v, want %v", r.Doc, want)
	}
}

func TestEmptySpecThatClaimsLetsDefaultsIn(t *testing.T) { // content.claims is for the test of emptiness; under merge it names no rule (E4)
	k := paint(t, "content: {claims: true}", "strategy: merge defaults")
	upper, lower := k.Decode(painted(t, "{"+toGateway+", m: {a: 1}}"), &Conditions{}), k.Decode(painted(t, "{"+toGateway+"}"), &Conditions{})
	r := merge.Fold(k.Plans, k.Rules, merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: upper.Blocks}, {Level: "route", Blocks: lower.Blocks}}})
	if want := any(map[string]any{"m": map[string]any{"a": int64(1)}}); !reflect.DeepEqual(r.Doc, want) {
		t.Errorf("got %v, want %v", r.Doc, want)
	}
}

func TestOlderFormEqualsPatch(t *testing.T) { // gep713 P40: it equals the fold with patch blocks, so an empty object takes nothing away
	k, upper := decoded(t, paintDoc("{"+toGateway+", default: {tls: {mode: strict}}}"))
	lower := k.Decode(painted(t, "{"+toGateway+", default: {tls: {}}}"), &Conditions{})
	r := merge.Fold(k.Plans, k.Rules, merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: upper.Blocks}, {Level: "route", Blocks: lower.Blocks}}})
	if want := any(map[string]any{"tls": map[string]any{"mode": "strict"}}); !reflect.DeepEqual(r.Doc, want) {
		t.Errorf("got %v, want %v", r.Doc, want)
	}
}

func TestAliasesInDescriptors(t *testing.T) { // the descriptor examples use anchors
	c, err := described(kind("targets: &t [Gateway, HTTPRoute]", "effective: [rule]", "resolve:", "- &r {name: route, levels: [route, rule]}", "- *r") + "---\n" +
		"apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Varnish.x.io\n")
	if err != nil {
		t.Fatal(err)
	}
	if plans := c.Kind(model.GroupKind{Group: "x.io", Kind: "Paint"}).Plans; len(plans) != 2 || plans[1].Name != "route" {
		t.Errorf("%+v", plans)
	}
}

func TestMistakesOfAllKindsAreListed(t *testing.T) { // DescriptorError: everything wrong with a descriptor file
	_, err := described(kind("tragets: []") + "---\n" + strings.Replace(kind("plural: 7"), "Paint", "Varnish", 1))
	for _, want := range []string{"kinds.yaml:4: unknown field", "kinds.yaml:9: a text is expected"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestWrongDescriptorsThatPass(t *testing.T) { // the schema is checked completely from the first day
	for _, c := range []struct{ name, text string }{
		{"no targets at all", kind("targets: []")},
		{"keyed by nothing", kind("rules: [{path: a, keys: []}]")},
		{"no rules", kind("rules: []")},
		{"a key twice", kind("compare: [level, name, name]")},
		{"default of a setting that is an object", vendorDoc + "settings: [{name: s, doc: d, default: {a: b}}]\n"},
		{"default of a flag", vendorDoc + "settings: [{name: s, doc: d, type: bool, default: maybe}]\n"},
		{"none with a side", kind("strategy: none defaults")},
		{"value of a strategy twice", kind("strategy: {read: [spec.m], values: {a: merge, a: patch}}")},
		{"a plan for nothing", kind("resolve: [{levels: []}]")},
		{"plans for nothing", kind("resolve: []")},
	} {
		if _, err := described(c.text); err == nil {
			t.Errorf("%s is taken", c.name)
		}
	}
}

func TestWrongWordIsOneMistake(t *testing.T) {
	_, err := described(kind("fold: [bottomUp]"))
	if got := strings.Count(err.Error(), "kinds.yaml:"); got != 1 {
		t.Errorf("%d lines: %v", got, err)
	}
}

// tables is a document with a list of n objects.
func tables(n int) obj {
	list := make([]any, n)
	for i := range list {
		list[i] = obj{"a": int64(i), "b": fmt.Sprint(i), "c": "x", "d": "y", "e": "z"}
	}
	return obj{"spec": obj{"l": list}}
}

func TestConditionBombsInsideOneCall(t *testing.T) { // the limits look on between calls only; 2,500 entries take a sixteenth of what 10,000 do
	doc := tables(2_500)
	for _, when := range []string{"spec.l.distinct().size() > 0", "sets.equivalent(spec.l, spec.l)", "sets.intersects(spec.l, spec.l.map(x, 1))"} {
		start := time.Now()
		(&Conditions{}).Compile(when).Holds(doc)
		if took := time.Since(start); took > 2*time.Second/16 {
			t.Errorf("%s: took %v", when, took)
		}
	}
}

func TestConditionBombsOfText(t *testing.T) { // texts have no limit, and what is built of them is paid for when it is there
	doc := obj{"spec": obj{"s": strings.Repeat("a", 10_000)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	(&Conditions{}).Compile("spec.s.replace('', spec.s).size() > 0").Holds(doc)
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 16 {
		t.Errorf("10 kB of text make %d MB; 300 kB, 1,000 times as many", mb)
	}
}

func TestMembershipHasACost(t *testing.T) { // else only the deadline ends it, and the answer depends on the machine (E6)
	if _, err := (&Conditions{}).Compile("spec.l.all(x, x in spec.l)").Holds(big(10_000)); err == nil || !strings.Contains(err.Error(), "cost limit") && !strings.Contains(err.Error(), "more than 250") {
		t.Errorf("50 million comparisons cost less than %d: %v", maxCost, err)
	}
}

func TestOneConditionDoesNotSpendEverything(t *testing.T) { // a total per run (RFC 0009 §5): an evaluation pays at most its own limit
	var c Conditions
	c.Compile("spec.l.distinct().size() > 0").Holds(big(10_000))
	if holds, err := c.Compile("true").Holds(obj{}); err != nil || !holds {
		t.Errorf("another policy's condition, after one dear call that spent %d of %d: %v", c.spent, maxTotalCost, err)
	}
}

func TestMissingFieldIsNotReadOffTexts(t *testing.T) { // an error whose text happens to hold the words is an error, and the answer incomplete
	_, err := (&Conditions{}).Compile("spec.text.matches(spec.pattern)").Holds(obj{"spec": obj{"text": "x", "pattern": "no such key("}})
	if err == nil || errors.Is(err, ErrMissingField) {
		t.Errorf("got %v", err)
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
