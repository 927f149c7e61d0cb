package expression

import (
	"encoding/base64"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/operators"
	exprpb "google.golang.org/genproto/googleapis/api/expr/v1alpha1"
	"google.golang.org/protobuf/proto"
)

// The parser takes some milliseconds to get ready, longer than a small input takes for all else. So the rules of the program's own descriptors come
// parsed: as the library's messages, without the places in the text. They are checked against the environment as if they had just been parsed.

// newEnvironment is what conditions and rules see: the fields of an object, and all of them as self.
func newEnvironment() (*cel.Env, error) {
	options := Options()
	for _, name := range []string{"self", "apiVersion", "kind", "metadata", "spec"} {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(options...)
}

// Parse is an expression parsed ahead, for Rule.Parsed.
func Parse(text string) (string, error) {
	env, err := newEnvironment()
	if err != nil {
		return "", err
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return "", fmt.Errorf("does not compile: %s", Fault(issues.Err()))
	}
	message, err := cel.AstToParsedExpr(parsed)
	if err != nil {
		return "", err
	}
	packed, err := proto.MarshalOptions{Deterministic: true}.Marshal(message.GetExpr())
	return base64.RawStdEncoding.EncodeToString(packed), err
}

// conjunction is what the text of rules joined by && parses into; nil if one of them was not parsed ahead.
func conjunction(rules []Rule) *cel.Ast {
	var all *exprpb.Expr
	var last int64 // the highest number of a node so far
	for _, r := range rules {
		packed, err := base64.RawStdEncoding.DecodeString(r.Parsed)
		e := &exprpb.Expr{}
		if err != nil || len(packed) == 0 || proto.Unmarshal(packed, e) != nil {
			return nil
		}
		last = renumber(e, last)
		if all == nil {
			all = e
			continue
		}
		last++
		all = &exprpb.Expr{Id: last, ExprKind: &exprpb.Expr_CallExpr{CallExpr: &exprpb.Expr_Call{Function: operators.LogicalAnd, Args: []*exprpb.Expr{all, e}}}}
	}
	return cel.ParsedExprToAst(&exprpb.ParsedExpr{Expr: all})
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
