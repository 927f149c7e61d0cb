package expression

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/proto"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// shapes are expressions with every kind of node that parsing makes.
var shapes = []string{
	"true", "self.a == 'x' && !has(self.b.c) || self.d > 1.5", "self.kind in ['A', 'B']",
	"self.list.all(x, x.a == null && x.b != 2u)",
	"self.list.exists_one(x, self.list.filter(y, y.n == x.n).size() == 1)",
	"has(self.a) ? {'k': [1, -2]}.k[0] == 1 : b'z' == b'z'",
	"self.a.matches('^a+$') && size(self.list.map(x, x.a)) > 0 && sets.contains([1], [1])",
	"type(self.a) == int && self.list.exists(i, i < 3)", "[1, 2].sort() == [1, 2]",
}

// TestCheckedAhead: an expression that was checked ahead is what the parser and the checker make of
// it.
func TestCheckedAhead(t *testing.T) {
	env, err := newEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range shapes {
		fresh, err := Compile(env, text)
		if err != nil {
			t.Fatal(err)
		}
		ahead, err := CheckAhead(text)
		if err != nil {
			t.Fatal(err)
		}
		read := joinChecked(Rule{text, ahead}.decodeChecked())
		if read == nil {
			t.Errorf("%s cannot be read", text)
			continue
		}
		want, err1 := cel.AstToCheckedExpr(fresh)
		got, err2 := cel.AstToCheckedExpr(read)
		if err1 != nil || err2 != nil || !proto.Equal(want.GetExpr(), got.GetExpr()) ||
			!maps.EqualFunc(want.GetReferenceMap(), got.GetReferenceMap(), equalRefs) ||
			fresh.OutputType().String() != read.OutputType().String() {
			t.Errorf("%s becomes %v (%v, %v)", text, got, err1, err2)
		}
	}
	if _, err := CheckAhead("a &&"); err == nil {
		t.Error("what is no expression has a form")
	}
	for _, bad := range []Rule{{"true", ""}, {"true", "?"}, {"true", "AAAA"}} {
		if joinChecked(bad.decodeChecked()) != nil {
			t.Errorf("%q is read", bad.Checked)
		}
	}
}

func equalRefs(a, b *exprpb.Reference) bool { return proto.Equal(a, b) }

// TestRulesCheckedAhead: rules that were checked ahead are broken by the same objects as the same
// rules as text, and by as many of them.
func TestRulesCheckedAhead(t *testing.T) {
	texts := []string{"has(self.spec.a)", "self.spec.a.all(x, x > 0)",
		"!has(self.spec.b) || self.spec.b in ['x', 'y']", "size(self.spec.a) < 3", "self.nothing.at == 1"}
	var plain, ahead []Rule
	for _, text := range texts {
		parsed, err := CheckAhead(text)
		if err != nil {
			t.Fatal(err)
		}
		plain, ahead = append(plain, Rule{Text: text}), append(ahead, Rule{text, parsed})
	}
	mixed := append([]Rule{plain[0]}, ahead[1:]...)
	for _, doc := range []obj{{}, {"spec": obj{"a": []any{int64(1)}}},
		{"spec": obj{"a": []any{int64(0), int64(1), int64(2)}, "b": "x"}}, {"spec": obj{"b": "z"}}} {
		body := model.Pack(doc, nil)
		want := (&Conditions{}).BrokenRules(NewRules(plain...), body, body.Extent())
		for _, rules := range [][]Rule{ahead, mixed} {
			var c Conditions
			if got := c.BrokenRules(NewRules(rules...), body, body.Extent()); !slices.Equal(got, want) {
				t.Errorf("%v breaks %v, want %v", doc, got, want)
			}
		}
	}
	good := model.Pack(obj{"spec": obj{"a": []any{int64(1)}}}, nil)
	var c Conditions
	if got := c.BrokenRules(NewRules(ahead[:3]...), good, good.Extent()); got != nil {
		t.Errorf("%v is broken of what holds", got)
	}
	for text, compiled := range c.ruleConditions.compiled {
		if compiled.err != nil || len(c.ruleConditions.compiled) != 1 {
			t.Errorf("%s was compiled (%v), not the rules together alone", text, compiled.err)
		}
	}
}

// TestConjunctionNumbersEachNodeOnce: what the checker found is kept by these numbers.
func TestConjunctionNumbersEachNodeOnce(t *testing.T) {
	var rules []*exprpb.CheckedExpr
	for _, text := range shapes {
		rules = append(rules, ruleOf(t, text).decodeChecked())
	}
	seen := map[int64]bool{}
	once := func(id int64) {
		if id < 1 || seen[id] {
			t.Errorf("the number %d comes again", id)
		}
		seen[id] = true
	}
	ast.PreOrderVisit(joinChecked(rules...).NativeRep().Expr(), visitor{once})
	if len(seen) < 100 {
		t.Errorf("only %d nodes", len(seen))
	}
}

type visitor struct{ once func(int64) }

func (v visitor) VisitExpr(e ast.Expr)           { v.once(e.ID()) }
func (v visitor) VisitEntryExpr(e ast.EntryExpr) { v.once(e.ID()) }

func ruleOf(t *testing.T, text string) Rule {
	t.Helper()
	ahead, err := CheckAhead(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return Rule{text, ahead}
}
