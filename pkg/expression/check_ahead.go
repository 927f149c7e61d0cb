package expression

import (
	"encoding/base64"
	"maps"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/proto"
)

// The parser takes some milliseconds to get ready, and checking types another one: longer than a
// small input takes for all else. So the rules of the program's own descriptors come checked: as
// the library's messages, without the places in the text and without what planning does not ask
// for.

// newEnvironment makes the environment of conditions and rules: the fields of an object, and all of
// them as self.
func newEnvironment() (*cel.Env, error) {
	options := Options()
	for _, name := range []string{"self", "apiVersion", "kind", "metadata", "spec"} {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(options...)
}

// CheckAhead parses and checks an expression ahead, for Rule.Checked.
func CheckAhead(text string) (string, error) {
	env, err := newEnvironment()
	if err != nil {
		return "", err
	}
	compiled, err := Compile(env, text)
	if err != nil {
		return "", err
	}
	message, err := cel.AstToCheckedExpr(compiled)
	if err != nil {
		return "", err
	}
	root := message.GetExpr().GetId()
	maps.DeleteFunc(message.TypeMap, func(id int64, t *exprpb.Type) bool {
		return id != root && (t.GetDyn() != nil || t.GetPrimitive() == exprpb.Type_BOOL)
	})
	message.SourceInfo = nil
	packed, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	return base64.RawStdEncoding.EncodeToString(packed), err
}

// decodeChecked returns what CheckAhead made of the rule; nil if nobody did that.
func (r Rule) decodeChecked() *exprpb.CheckedExpr {
	packed, err := base64.RawStdEncoding.DecodeString(r.Checked)
	out := &exprpb.CheckedExpr{}
	if err != nil || proto.Unmarshal(packed, out) != nil || out.Expr == nil {
		return nil
	}
	return out
}

// joinChecked returns what the text of rules joined by && compiles into; nil if one of them was not
// checked ahead. It changes the numbers of their nodes.
func joinChecked(rules ...*exprpb.CheckedExpr) *cel.Ast {
	all := &exprpb.CheckedExpr{TypeMap: map[int64]*exprpb.Type{}, ReferenceMap: map[int64]*exprpb.Reference{}}
	var last int64 // the highest number of a node so far
	for _, one := range rules {
		if one == nil {
			return nil
		}
		for id, t := range one.TypeMap {
			all.TypeMap[last+id] = t
		}
		for id, ref := range one.ReferenceMap {
			all.ReferenceMap[last+id] = ref
		}
		last = renumber(one.Expr, last)
		if all.Expr == nil {
			all.Expr = one.Expr
			continue
		}
		last++
		all.Expr = &exprpb.Expr{Id: last,
			ExprKind: &exprpb.Expr_CallExpr{CallExpr: &exprpb.Expr_Call{Function: operators.LogicalAnd,
				Args: []*exprpb.Expr{all.Expr, one.Expr}}}}
		all.TypeMap[last] = &exprpb.Type{TypeKind: &exprpb.Type_Primitive{Primitive: exprpb.Type_BOOL}}
		all.ReferenceMap[last] = &exprpb.Reference{OverloadId: []string{overloads.LogicalAnd}}
	}
	return cel.CheckedExprToAst(all)
}

// renumber adds to the numbers of all nodes, and returns the highest that has come of it.
func renumber(e *exprpb.Expr, by int64) int64 {
	if e == nil {
		return by
	}
	e.Id += by
	inner := []*exprpb.Expr{e.GetSelectExpr().GetOperand(), e.GetCallExpr().GetTarget()}
	inner = append(append(inner, e.GetCallExpr().GetArgs()...), e.GetListExpr().GetElements()...)
	if c := e.GetComprehensionExpr(); c != nil {
		inner = append(inner, c.GetIterRange(), c.GetAccuInit(), c.GetLoopCondition(), c.GetLoopStep(), c.GetResult())
	}
	highest := e.Id
	for _, entry := range e.GetStructExpr().GetEntries() {
		entry.Id += by
		highest = max(highest, entry.Id)
		inner = append(inner, entry.GetMapKey(), entry.GetValue())
	}
	for _, e := range inner {
		highest = max(highest, renumber(e, by))
	}
	return highest
}
