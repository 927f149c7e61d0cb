package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
)

// environment compiles the expressions of requirements.
type environment struct{ env *cel.Env }

// The variables of expressions.
const (
	targetVar    = "target"
	pathVar      = "path"
	effectiveVar = "effective"
	backendVar   = "backend" // of requests

	protectionVar = "protection" // of route rules
)

// typeShapes returns the fields of what expressions see, so that a mistyped one is found before
// anything is evaluated. They are those of the answers of `effective`; texts that an answer leaves
// out are "".
func typeShapes() map[string]map[string]*cel.Type {
	list, object := cel.ListType, cel.ObjectType
	labels := cel.MapType(cel.StringType, cel.StringType)
	texts := func(names string, more map[string]*cel.Type) map[string]*cel.Type {
		out := map[string]*cel.Type{}
		for _, name := range strings.Fields(names) {
			out[name] = cel.StringType
		}
		for name, t := range more {
			out[name] = t
		}
		return out
	}
	const source = "level block strategy condition builtin part"
	from := map[string]*cel.Type{"policy": object("Ref"), "target": object("Ref")}
	loss := map[string]*cel.Type{"policy": object("Ref"), "target": object("Ref"), "value": cel.DynType,
		"lostTo": list(object("Source"))}
	return map[string]map[string]*cel.Type{
		"Ref": texts("group kind namespace name section", nil),
		"Target": texts("group kind namespace name section", map[string]*cel.Type{"labels": labels,
			"annotations": labels, "namespaceLabels": labels}),
		"Path": texts(
			"gatewayClass gateway listenerSet listener direction mesh dataplane destination hostname binding route",
			map[string]*cel.Type{"delegatedFrom": list(cel.StringType), "delegatedRules": list(cel.StringType)}),
		"Source": texts(source, from),
		"Policy": texts("level strategy builtin part role", from),
		"Loss":   texts("rule reason message "+source, loss),
		"Rule": texts("name", map[string]*cel.Type{"value": cel.DynType, "sources": list(object("Source")),
			"lost": list(object("Loss"))}),
		"Group": texts("name", map[string]*cel.Type{"rules": list(object("Rule"))}),
		"Judged": texts("verdict", map[string]*cel.Type{"methods": list(cel.StringType),
			"because": list(cel.StringType)}),
		"Protection": protectionShape(),
		"Effective": texts("policyKind profile id", map[string]*cel.Type{"spec": cel.DynType, "ordered": cel.BoolType,
			"rules":    list(object("Rule")),
			"policies": list(object("Policy")), "sources": list(object("Source")), "lost": list(object("Loss")),
			"groups": list(object("Group"))}),
	}
}

// protectionShape has a field for every property of requests.
func protectionShape() map[string]*cel.Type {
	out := map[string]*cel.Type{}
	for _, name := range propertyNames() {
		out[name] = cel.ObjectType("Judged")
	}
	return out
}

// shapeProvider tells the type checker of CEL about the shapes. Values of them are maps.
type shapeProvider struct {
	types.Provider
	shapes map[string]map[string]*cel.Type
}

// FindStructType implements types.Provider.
func (t shapeProvider) FindStructType(name string) (*types.Type, bool) {
	if _, ok := t.shapes[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return t.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (t shapeProvider) FindStructFieldNames(name string) ([]string, bool) {
	fields, ok := t.shapes[name]
	if !ok {
		return t.Provider.FindStructFieldNames(name)
	}
	return sortNames(fields), true
}

// FindStructFieldType implements types.Provider.
func (t shapeProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields, ok := t.shapes[name]
	if !ok {
		return t.Provider.FindStructFieldType(name, field)
	}
	is, ok := fields[field]
	return &types.FieldType{Type: is}, ok
}

func sortNames(fields map[string]*cel.Type) []string {
	var out []string
	for name := range fields {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func newEnvironment() (*environment, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	options := append(expression.Options(), cel.CustomTypeAdapter(registry), cel.CustomTypeProvider(registry),
		cel.OptionalTypes(), ext.TwoVarComprehensions(), ext.Bindings(), perSecond(),
		// after the libraries, which add their types to the registry
		cel.CustomTypeProvider(shapeProvider{registry, typeShapes()}),
		cel.Variable(targetVar, cel.ObjectType("Target")), cel.Variable(pathVar,
			cel.ObjectType("Path")), cel.Variable(backendVar, cel.ObjectType("Ref")),
		cel.Variable(protectionVar, cel.ObjectType("Protection")), cel.Variable(effectiveVar,
			cel.MapType(cel.StringType, cel.ObjectType("Effective"))))
	env, err := cel.NewEnv(options...)
	return &environment{env}, err
}

// compiled is a compiled expression, and what it looks at.
type compiled struct {
	text    string
	program cel.Program
	result  resultType
	guard   expression.Guard
	lookups
}

// lookups is what an expression looks at. Where it does not look, its result does not depend on it.
type lookups struct {
	target, path    bool
	namespaceLabels bool     // of the target
	values          bool     // of settings
	kinds           []string // the policy kinds that it names, sorted
	allInForce      bool     // in force: it does not only name kinds
	properties      []string // of requests, that it names, sorted; "" is all of them
}

// resultType is the type that an expression has to give.
type resultType struct {
	is   *cel.Type
	noun string
}

const (
	boolean = "boolean"
	text    = "text"
)

func newResultType(noun string) resultType {
	if noun == text {
		return resultType{cel.StringType, noun}
	}
	return resultType{cel.BoolType, noun}
}

func (e *environment) compileExpression(text string, w resultType) (*compiled, error) {
	tree, err := expression.Compile(e.env, text)
	if err != nil {
		return nil, addFieldNames(err)
	}
	if t := tree.OutputType(); t != cel.DynType && !t.IsExactType(w.is) {
		return nil, fmt.Errorf("gives %s, not a %s", t, w.noun)
	}
	program, err := expression.NewProgram(e.env, tree)
	if err != nil {
		return nil, err
	}
	return &compiled{text: text, program: program, result: w, guard: expression.GuardFor(text),
		lookups: findLookups(tree.NativeRep().Expr())}, nil
}

// addFieldNames adds to the error about a field that is not there which ones there are.
func addFieldNames(err error) error {
	_, rest, found := strings.Cut(err.Error(), "undefined field '")
	if !found {
		return err
	}
	wrong, _, _ := strings.Cut(rest, "'")
	var near []string
	for _, fields := range typeShapes() {
		near = append(near, sortNames(fields)...)
	}
	slices.Sort(near)
	if near = form.Nearest(wrong, slices.Compact(near)); len(near) > 0 {
		return fmt.Errorf("%w (did you mean %q?)", err, near[0])
	}
	return err
}

// findLookups reads off an expression what it looks at.
func findLookups(e ast.Expr) lookups {
	var l lookups
	all, named := 0, 0
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.IdentKind:
			name := strings.TrimPrefix(e.AsIdent(), ".")
			l.target, l.path = l.target || name == targetVar, l.path || name == pathVar
			switch name {
			case effectiveVar:
				all++
			case protectionVar:
				l.properties = append(l.properties, "")
			}
		case ast.SelectKind:
			s := e.AsSelect()
			l.addField(s.FieldName())
			if isEffective(s.Operand()) {
				named, l.kinds = named+1, append(l.kinds, s.FieldName())
			}
			if isVariable(s.Operand(), protectionVar) {
				l.properties = append(l.properties, s.FieldName())
			}
		case ast.CallKind:
			if kind, ok := findKindInCall(e.AsCall()); ok {
				named, l.kinds = named+1, append(l.kinds, kind)
			}
		case ast.LiteralKind:
			if name, ok := e.AsLiteral().Value().(string); ok { // .?name and ['name']
				l.addField(name)
			}
		}
	}))
	slices.Sort(l.properties)
	l.properties = slices.Compact(l.properties)
	slices.Sort(l.kinds)
	l.kinds, l.allInForce = slices.Compact(l.kinds), all > named
	return l
}

// addField notes that an expression looks at a field of this name.
func (l *lookups) addField(name string) {
	l.namespaceLabels = l.namespaceLabels || name == "namespaceLabels"
	l.values = l.values || name == "spec" || name == "value"
}

// findKindInCall is the policy kind that a call asks for: 'Kind' in effective, effective['Kind'],
// effective[?'Kind'], effective.?Kind.
func findKindInCall(c ast.CallExpr) (string, bool) {
	args := c.Args()
	if len(args) != 2 {
		return "", false
	}
	name, of := args[1], args[0]
	switch c.FunctionName() {
	case operators.In:
		name, of = of, name
	case operators.Index, operators.OptIndex, operators.OptSelect:
	default:
		return "", false
	}
	if !isEffective(of) || name.Kind() != ast.LiteralKind {
		return "", false
	}
	kind, ok := name.AsLiteral().Value().(string)
	return kind, ok
}

func isEffective(e ast.Expr) bool { return isVariable(e, effectiveVar) }

func isVariable(e ast.Expr, name string) bool {
	return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == name
}

// mergeWith is what two expressions look at together.
func (l lookups) mergeWith(o *compiled) lookups {
	if o == nil {
		return l
	}
	out := lookups{l.target || o.target, l.path || o.path, l.namespaceLabels || o.namespaceLabels, l.values ||
		o.values, slices.Concat(l.kinds, o.kinds), l.allInForce ||
		o.allInForce, slices.Concat(l.properties, o.properties)}
	slices.Sort(out.properties)
	out.properties = slices.Compact(out.properties)
	slices.Sort(out.kinds)
	out.kinds = slices.Compact(out.kinds)
	return out
}
