package expression

import (
	"slices"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/google/cel-go/common/operators"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
)

// Most validation rules ask whether fields are there, how many entries they have and which text they hold. Of an object that meets them, that is read
// from its packed form: the library takes many times as long, and half a millisecond before the first rule. Whatever asks for more is left to the
// library, and so is every object of which it is not certain that it meets the rules.

// plainRules are such rules, and the fields that they read.
type plainRules struct {
	fields []plainField // the first is the object
	rules  []plainTest
}

// plainField is the entry at a key of another field, by its number.
type plainField struct {
	in  int
	key string
}

// plainTest is a rule or a part of one.
type plainTest struct {
	function string      // an operator of the language; present for one that asks whether the field is there
	inner    []plainTest // what !, && and || are about
	field    int         // what all others are about, by its number
	texts    []string    // that it is compared with
	size     int         // that its size is compared with; texts is nil
}

const present = "has"

// add takes a rule in, and reports whether it is a plain one.
func (p *plainRules) add(e *exprpb.Expr) bool {
	if p.fields == nil {
		p.fields = []plainField{{}}
	}
	rule, ok := p.test(e)
	if ok {
		p.rules = append(p.rules, rule)
	}
	return ok
}

func (p *plainRules) test(e *exprpb.Expr) (t plainTest, ok bool) {
	if s := e.GetSelectExpr(); s.GetTestOnly() {
		t.function = present
		t.field, ok = p.entry(s)
		return t, ok
	}
	call := e.GetCallExpr()
	t.function = call.GetFunction()
	switch t.function {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		for _, arg := range call.Args {
			inner, ok := p.test(arg)
			if !ok {
				return t, false
			}
			t.inner = append(t.inner, inner)
		}
		return t, true
	case operators.Equals, operators.NotEquals:
		return p.textTest(t, call.Args[0], call.Args[1])
	case operators.In:
		return p.textTest(t, call.Args[0], call.Args[1].GetListExpr().GetElements()...)
	case operators.Greater, operators.LessEquals:
		of, number := call.Args[0].GetCallExpr(), call.Args[1].GetConstExpr()
		if _, whole := number.GetConstantKind().(*exprpb.Constant_Int64Value); !whole || of.GetFunction() != "size" || len(of.Args) != 1 {
			return t, false
		}
		t.size = int(number.GetInt64Value())
		t.field, ok = p.field(of.Args[0])
		return t, ok
	}
	return t, false
}

// textTest compares a field with texts that stand in the expression.
func (p *plainRules) textTest(t plainTest, field *exprpb.Expr, with ...*exprpb.Expr) (plainTest, bool) {
	for _, e := range with {
		text, ok := e.GetConstExpr().GetConstantKind().(*exprpb.Constant_StringValue)
		if !ok {
			return t, false
		}
		t.texts = append(t.texts, text.StringValue)
	}
	number, ok := p.field(field)
	t.field = number
	return t, ok && t.texts != nil
}

// field is the number of the field that an expression names, false if it is something else.
func (p *plainRules) field(e *exprpb.Expr) (int, bool) {
	if e.GetIdentExpr().GetName() == "self" {
		return 0, true
	}
	s := e.GetSelectExpr()
	if s == nil || s.TestOnly {
		return 0, false
	}
	return p.entry(s)
}

func (p *plainRules) entry(s *exprpb.Expr_Select) (int, bool) {
	in, ok := p.field(s.Operand)
	if !ok {
		return 0, false
	}
	return p.number(plainField{in, s.Field}), true
}

func (p *plainRules) number(f plainField) int {
	if i := slices.Index(p.fields[1:], f); i >= 0 {
		return i + 1
	}
	p.fields = append(p.fields, f)
	return len(p.fields) - 1
}

// truth is what a test gives; untold: the library reports an error.
type truth int8

const (
	untold truth = iota
	no
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// hold reports whether it is certain that an object meets all the rules.
func (p *plainRules) hold(object model.Body) bool {
	var few [64]plainValue
	r := plainReading{p.fields, few[:]}
	if len(p.fields) > len(few) {
		r.values = make([]plainValue, len(p.fields))
	}
	r.values[0] = plainValue{object, yes}
	for i := range p.rules {
		if r.truth(&p.rules[i]) != yes {
			return false
		}
	}
	return true
}

// plainReading is what is known of the fields of one object.
type plainReading struct {
	fields []plainField
	values []plainValue
}

// plainValue is what a field holds, and whether it is there; untold: nobody has looked.
type plainValue struct {
	model.Body
	there truth
}

func (r *plainReading) value(i int) plainValue {
	if v := r.values[i]; v.there != untold {
		return v
	}
	f := r.fields[i]
	in := r.value(f.in)
	if in.there != yes || !in.IsObject() {
		return plainValue{}
	}
	inner, there := in.Entry(f.key)
	r.values[i] = plainValue{inner, truthOf(there)}
	return r.values[i]
}

func (r *plainReading) truth(t *plainTest) truth {
	switch t.function {
	case operators.LogicalNot:
		return [...]truth{untold: untold, no: yes, yes: no}[r.truth(&t.inner[0])]
	case operators.LogicalAnd:
		return r.join(t.inner, no, yes)
	case operators.LogicalOr:
		return r.join(t.inner, yes, no)
	case present:
		return r.value(t.field).there
	}
	v := r.value(t.field)
	if v.there != yes {
		return untold
	}
	if t.texts != nil {
		return truthOf((v.IsText() && slices.Contains(t.texts, v.Text())) == (t.function != operators.NotEquals))
	}
	var size int
	switch {
	case v.IsText():
		size = utf8.RuneCountInString(v.Text())
	case v.IsObject(), v.IsList():
		size = v.Len()
	default:
		return untold
	}
	return truthOf((size > t.size) == (t.function == operators.Greater))
}

// join is what tests give together: decided, if one of them gives that, whatever the others do.
func (r *plainReading) join(tests []plainTest, decided, otherwise truth) truth {
	all := otherwise
	for i := range tests {
		switch r.truth(&tests[i]) {
		case decided:
			return decided
		case untold:
			all = untold
		}
	}
	return all
}
