package expression

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestPlainRules: a rule that is plain holds of the objects of which it holds for the library, and of no others. The library also says that what is no
// object has no fields.
func TestPlainRules(t *testing.T) {
	plain := []string{
		"has(self.a)", "!has(self.a)", "has(self.a.d)", "!has(self.a.d)", "!(has(self.a) && has(self.b))", "has(self.a) || has(self.b)", "has(self.a.d) || has(self.b)",
		"has(self.b) || has(self.a.d)", "has(self.b) && has(self.a.d)", "!(has(self.b) && has(self.a.d))", "self.a == 'x'", "self.a != 'x'", "self.a in ['x', 'y']",
		"!(self.a in ['x', 'y'])", "self.a.d == 'x'", "!has(self.a) || self.a != '' && self.b == 'x'", "size(self.a) > 0", "size(self.a) > 1", "size(self.a) <= 1",
		"has(self.a) && size(self.a) > 0 || self.b == 'y'", "size(self) > 1",
	}
	held := 0
	for _, text := range plain {
		var p plainRules
		if !p.addRule(ruleOf(t, text).decodeChecked().GetExpr()) {
			t.Errorf("%s is not plain", text)
		}
		condition := (&Conditions{}).Compile(text)
		for _, object := range objects() {
			body := model.Pack(object, nil)
			want, err := condition.Holds(object)
			certain := p.holdFor(body)
			if inner := body.Field("a"); certain && !want || want && !certain && !(strings.Contains(text, "a.d") && !inner.IsObject()) {
				t.Errorf("%s of %s: want %v (%v)", text, body, want, err)
			}
			if certain {
				held++
			}
		}
	}
	if held < 1500 {
		t.Errorf("only %d hold", held)
	}
}

// objects have every pair of values at a and b; absent is one of them.
func objects() (out []map[string]any) {
	absent := new(int)
	values := []any{absent, nil, true, int64(1), "", "x", "ää", "y", []any{}, []any{"x"}, obj{}, obj{"d": nil}, obj{"d": "x"}, obj{"d": "x", "e": obj{}}}
	for _, a := range values {
		for _, b := range values {
			o := obj{"c": "always"}
			if a != absent {
				o["a"] = a
			}
			if b != absent {
				o["b"] = b
			}
			out = append(out, o)
		}
	}
	return out
}

func TestOtherRulesAreNotPlain(t *testing.T) {
	for _, text := range []string{
		"true", "self.a", "has(self.a) == has(self.b)", "self.a == ['x']", "self.a in self.b", "self.a in []", "self.a in ['x', 1]", "self.a == self.b", "self.a == 1", "'x' == self.a", "self.a > 1",
		"size(self.a) > 1.5", "size(self.a) > size(self.b)", "self.a.all(x, has(x.d))", "self.a[0] == 'x'", "has(self.a[0].d)", "size(self.a.map(x, x)) > 0", "has(spec.a)",
		"!has(self.a) || self.a.matches('x')", "-size(self.a) > 0",
	} {
		var p plainRules
		if p.addRule(ruleOf(t, text).decodeChecked().GetExpr()) || len(p.rules) > 0 {
			t.Errorf("%s is plain", text)
		}
	}
}

func ruleOf(t *testing.T, text string) Rule {
	t.Helper()
	ahead, err := CheckAhead(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return Rule{text, ahead}
}
