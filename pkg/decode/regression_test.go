package decode

import (
	"reflect"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// `limits:` with everything below it commented out: no rule, so the set is empty (RFC 0009 §2)
func TestNullContainerIsEmpty(t *testing.T) {
	k := described(t, paint.Limits()...)
	for spec, want := range map[string]string{
		"{" + paint.ToGateway + ", limits: null}":             "bare atomic",
		"{" + paint.ToGateway + ", defaults: {limits: null}}": "defaults atomic",
	} {
		if got := said(NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, spec))); got != want && got != "" {
			t.Errorf("%s: got %s, want %s", spec, got, want)
		}
	}
	sections := described(t, "rules: [rules.*.*]")
	if got := said(NewReader(sections, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+
		", rules: {authentication: null}}"))); got != "bare atomic" {
		t.Errorf("a section without rules: got %s", got)
	}
}

// a section that is no object takes no part, like a container (contract: WrongType)
func TestWrongTypedSection(t *testing.T) {
	k := described(t, "rules: [rules.*.*]")
	if got, want := said(NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+
		", rules: {authentication: 5, b: {c: 1}}}"))), "bare atomic rules.b.c=1; WrongType"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// E5, E6: there is no block to condition and no default to deactivate
func TestDirectKindsHaveNoWordsOfDefaultsAndOverrides(t *testing.T) {
	_, p := decoded(t, paint.CRD("Direct", "")+paint.Policy("{"+paint.ToGateway+
		", when: always, remove: [x-header], unset: {a: 1}}"))
	if got, want := said(p), "bare none remove=[x-header] unset.a=1 when=always"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestUnknownStrategyIsSaidWhereItStands(t *testing.T) {
	o := painted(t, "{"+paint.ToGateway+", strategy: deep, defaults: {limits: {a: 1}}, overrides: {limits: {b: 1}}}")
	o.Body = model.Pack(o.Body.Value(), lines{"spec.strategy": 5, "spec.defaults.strategy": 7,
		"spec.overrides.strategy": 9}.at)
	p := NewReader(described(t, paint.Limits()...), &expression.Conditions{}).ReadPolicy(o)
	if len(p.Problems) != 1 || p.Problems[0].Origin.Line != 5 {
		t.Errorf("spec.strategy, on line 5, is reported %d times: %+v", len(p.Problems), p.Problems)
	}
}

// descriptor: "with an optional side (otherwise the block's)"
func TestStrategyOfAPlanLeavesTheSideToTheBlock(t *testing.T) {
	k := described(t, "resolve: [{strategy: merge}]")
	upper := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+
		", overrides: {m: {a: top}}}"))
	lower := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", m: {a: low}}"))
	r := merge.Fold(k.Plans, k.Rules, merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: upper.Blocks},
		{Level: "route", Blocks: lower.Blocks}}})
	if want := any(map[string]any{"m": map[string]any{"a": "top"}}); !reflect.DeepEqual(r.Document(), want) {
		t.Errorf("an override of the gateway: got %v, want %v", r.Document(), want)
	}
}

// content.claims is for the test of emptiness; under merge it names no rule (E4)
func TestEmptySpecThatClaimsLetsDefaultsIn(t *testing.T) {
	k := described(t, "content: {claims: true}", "strategy: merge defaults")
	upper, lower := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", m: {a: 1}}")),
		NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+"}"))
	r := merge.Fold(k.Plans, k.Rules, merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: upper.Blocks},
		{Level: "route", Blocks: lower.Blocks}}})
	if want := any(map[string]any{"m": map[string]any{"a": int64(1)}}); !reflect.DeepEqual(r.Document(), want) {
		t.Errorf("got %v, want %v", r.Document(), want)
	}
}

// gep713 P40: it equals the fold with patch blocks, so an empty object takes nothing away
func TestOlderFormEqualsPatch(t *testing.T) {
	k, upper := decoded(t, paint.Policy("{"+paint.ToGateway+", default: {tls: {mode: strict}}}"))
	lower := NewReader(k, &expression.Conditions{}).ReadPolicy(painted(t, "{"+paint.ToGateway+", default: {tls: {}}}"))
	r := merge.Fold(k.Plans, k.Rules, merge.Stack{Layers: []merge.Layer{{Level: "gateway", Blocks: upper.Blocks},
		{Level: "route", Blocks: lower.Blocks}}})
	if want := any(map[string]any{"tls": map[string]any{"mode": "strict"}}); !reflect.DeepEqual(r.Document(), want) {
		t.Errorf("got %v, want %v", r.Document(), want)
	}
}
