package expression

import (
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/common/operators"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
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

const presenceTest = "has"

// addRule takes a rule in, and reports whether it is a plain one.
func (p *plainRules) addRule(e *exprpb.Expr) bool {
	if p.fields == nil {
		p.fields = []plainField{{}}
	}
	rule, ok := p.parseTest(e)
	if ok {
		p.rules = append(p.rules, rule)
	}
	return ok
}

func (p *plainRules) parseTest(e *exprpb.Expr) (t plainTest, ok bool) {
	if s := e.GetSelectExpr(); s.GetTestOnly() {
		t.function = presenceTest
		t.field, ok = p.entryNumber(s)
		return t, ok
	}
	call := e.GetCallExpr()
	t.function = call.GetFunction()
	switch t.function {
	case operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot:
		for _, arg := range call.Args {
			inner, ok := p.parseTest(arg)
			if !ok {
				return t, false
			}
			t.inner = append(t.inner, inner)
		}
		return t, true
	case operators.Equals, operators.NotEquals:
		return p.parseTextTest(t, call.Args[0], call.Args[1])
	case operators.In:
		return p.parseTextTest(t, call.Args[0], call.Args[1].GetListExpr().GetElements()...)
	case operators.Greater, operators.LessEquals:
		of, number := call.Args[0].GetCallExpr(), call.Args[1].GetConstExpr()
		if _, whole := number.GetConstantKind().(*exprpb.Constant_Int64Value); !whole || of.GetFunction() != "size" || len(of.Args) != 1 {
			return t, false
		}
		t.size = int(number.GetInt64Value())
		t.field, ok = p.fieldNumber(of.Args[0])
		return t, ok
	}
	return t, false
}

// parseTextTest compares a field with texts that stand in the expression.
func (p *plainRules) parseTextTest(t plainTest, field *exprpb.Expr, with ...*exprpb.Expr) (plainTest, bool) {
	for _, e := range with {
		text, ok := e.GetConstExpr().GetConstantKind().(*exprpb.Constant_StringValue)
		if !ok {
			return t, false
		}
		t.texts = append(t.texts, text.StringValue)
	}
	number, ok := p.fieldNumber(field)
	t.field = number
	return t, ok && t.texts != nil
}

// fieldNumber returns the number of the field that an expression names, false if it is something
// else.
func (p *plainRules) fieldNumber(e *exprpb.Expr) (int, bool) {
	if e.GetIdentExpr().GetName() == "self" {
		return 0, true
	}
	s := e.GetSelectExpr()
	if s == nil || s.TestOnly {
		return 0, false
	}
	return p.entryNumber(s)
}

func (p *plainRules) entryNumber(s *exprpb.Expr_Select) (int, bool) {
	in, ok := p.fieldNumber(s.Operand)
	if !ok {
		return 0, false
	}
	return p.numberOf(plainField{in, s.Field}), true
}

func (p *plainRules) numberOf(f plainField) int {
	if i := slices.Index(p.fields[1:], f); i >= 0 {
		return i + 1
	}
	p.fields = append(p.fields, f)
	return len(p.fields) - 1
}

// truthValue is what a test gives; undecided: the library reports an error.
type truthValue int8

const (
	undecided truthValue = iota
	no
	yes
)

func truthOf(b bool) truthValue {
	if b {
		return yes
	}
	return no
}

// holdFor reports whether it is certain that an object meets all the rules.
func (p *plainRules) holdFor(object model.Body) bool {
	var few [64]plainValue
	r := fieldValues{p.fields, few[:]}
	if len(p.fields) > len(few) {
		r.values = make([]plainValue, len(p.fields))
	}
	r.values[0] = plainValue{object, yes}
	for i := range p.rules {
		if r.evalTest(&p.rules[i]) != yes {
			return false
		}
	}
	return true
}

// fieldValues is what is known of the fields of one object.
type fieldValues struct {
	fields []plainField
	values []plainValue
}

// plainValue is what a field holds, and whether it is there; untold: nobody has looked.
type plainValue struct {
	model.Body
	there truthValue
}

func (r *fieldValues) readField(i int) plainValue {
	if v := r.values[i]; v.there != undecided {
		return v
	}
	f := r.fields[i]
	in := r.readField(f.in)
	if in.there != yes || !in.IsObject() {
		return plainValue{}
	}
	inner, there := in.Entry(f.key)
	r.values[i] = plainValue{inner, truthOf(there)}
	return r.values[i]
}

func (r *fieldValues) evalTest(t *plainTest) truthValue {
	switch t.function {
	case operators.LogicalNot:
		return [...]truthValue{undecided: undecided, no: yes, yes: no}[r.evalTest(&t.inner[0])]
	case operators.LogicalAnd:
		return r.evalTests(t.inner, no, yes)
	case operators.LogicalOr:
		return r.evalTests(t.inner, yes, no)
	case presenceTest:
		return r.readField(t.field).there
	}
	v := r.readField(t.field)
	if v.there != yes {
		return undecided
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
		return undecided
	}
	return truthOf((size > t.size) == (t.function == operators.Greater))
}

// evalTests returns what tests give together: decided, if one of them gives that, whatever the
// others do.
func (r *fieldValues) evalTests(tests []plainTest, decided, otherwise truthValue) truthValue {
	all := otherwise
	for i := range tests {
		switch r.evalTest(&tests[i]) {
		case decided:
			return decided
		case undecided:
			all = undecided
		}
	}
	return all
}
