package requirement

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types/ref"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	viewprove "github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
)

// Expression is what has to hold for requests, in CEL over the variables of requirements: the rule
// that takes a request is the target, and effective is what is in force on the whole path, to one
// backend.
type Expression struct{ holds *compiled }

// NewExpression compiles an expression.
func NewExpression(text string) (*Expression, error) {
	env, err := newEnvironment()
	if err != nil {
		return nil, err
	}
	e, err := env.compileExpression(text, newResultType(boolean))
	if err != nil {
		return nil, err
	}
	if len(e.properties) > 0 {
		return nil, fmt.Errorf("has no variable %s: ask with --require authentication", protectionVar)
	}
	return &Expression{e}, nil
}

// SetQuery makes a query about requests ask for the expression.
func (e *Expression) SetQuery(res *resolve.Resolution, q *viewprove.Query) {
	j := newEvaluation(res, []*Requirement{{holds: e.holds}})
	q.Holds, q.Expression, q.Kinds = (&requestEvaluator{judge: j, req: &j.cases[0]}).evaluatePath, e.holds.text,
		listKinds(&j.cases[0])
}

// requestEvaluator evaluates an expression for one path of requests after the other.
type requestEvaluator struct {
	judge  *evaluation
	req    *requirementCase
	values map[*collect.InForce]ref.Val
}

// evaluatePath reports whether the expression is true of a path, or why that is not known.
func (a *requestEvaluator) evaluatePath(w *viewprove.BackendPath) (held bool, unknown string) {
	_, labelsKnown := a.judge.namespaceLabels(w.Target)
	if a.req.looks.namespaceLabels && !labelsKnown {
		return false, "the labels of namespace " + w.Target.Namespace + " are not in the input"
	}
	if why := a.judge.unknowns.explainUnknown(a.req, &w.EffectiveTarget); why != "" {
		return false, why
	}
	paths := []view.Path{{}}
	if a.req.looks.path && len(w.Paths) > 0 {
		paths = w.Paths
	}
	vars, sizes := a.buildVariables(w)
	for _, p := range paths {
		vars[pathVar] = func() ref.Val { return toCELValue(pathValue(p)) } // made if it is looked at, as the others are
		ctx, cancel := context.WithTimeout(context.Background(), evaluationTime)
		q := question{req: a.req}
		v, err := q.evaluate(ctx, a.req.holds, vars, sizes)
		cancel()
		if a.req.budgets.areSpent() {
			return false, "the expression costs too much"
		}
		if err != nil {
			return false, "the expression cannot be evaluated: " + err.Error()
		}
		if v.Value() != true {
			return false, ""
		}
	}
	return true, ""
}

func (a *requestEvaluator) buildVariables(w *viewprove.BackendPath) (map[string]any, expression.Sizes) {
	if a.values == nil {
		a.values = map[*collect.InForce]ref.Val{}
	}
	var sizes expression.Sizes
	policies := map[string]ref.Val{}
	for _, f := range w.InForce {
		name := f.Kind.Name()
		if policies[name] != nil || len(f.Policy.Rules) == 0 || !a.req.looks.allInForce &&
			!a.req.namesKind(f.Kind.GroupKind) {
			continue
		}
		if a.values[f] == nil {
			a.values[f] = newPolicyValue(&f.Policy)
		}
		policies[name], sizes = a.values[f], sizes.Max(measurePolicy(&f.Policy))
	}
	vars := map[string]any{effectiveVar: newInForceObject(policies),
		targetVar:  func() ref.Val { return toCELValue(a.judge.targetFields(&w.EffectiveTarget)) },
		backendVar: func() ref.Val { return toCELValue(refValue(&w.Backend)) }}
	if a.req.looks.target {
		target := a.judge.targetFields(&w.EffectiveTarget)
		vars[targetVar], sizes = toCELValue(target), sizes.Max(expression.SizesOf(target))
	}
	return vars, sizes
}

// proofConclusion gathers the results of a requirement about requests.
type proofConclusion struct{ *conclusion }

func (c *proofConclusion) concludeProof(prove Prover) []model.Problem {
	query, nothing, unclear := c.buildQuery()
	if nothing != "" {
		c.tally.Nothing = true
		return []model.Problem{c.newProblem(model.RequirementSelectsNothing, model.Warning, "requirement \""+
			c.req.Name+"\" selects nothing: "+nothing, "")}
	}
	if unclear == "" && prove == nil {
		unclear = "requests are not looked at here"
	}
	var proof *viewprove.Proof
	if unclear == "" {
		var err error
		if proof, err = prove(c.evaluation.res, query); err != nil {
			unclear = err.Error()
		}
	}
	if unclear != "" {
		return []model.Problem{c.addUnclear(unclear, "requests", 1)}
	}
	if proof.Classes == 0 || proof.Verdict == viewprove.NothingProved {
		c.tally.Nothing = true
		return []model.Problem{c.newProblem(model.RequirementSelectsNothing, model.Warning, "requirement \""+
			c.req.Name+"\" selects nothing: no such request gets through to a backend",
			"compare its hosts, its Gateway and its listener with: kubectl dopolicy prove")}
	}
	return c.reportProof(proof)
}

// reportProof turns the result of a proof into findings.
func (c *proofConclusion) reportProof(proof *viewprove.Proof) []model.Problem {
	var out []model.Problem
	c.tally.Met = proof.Protected + proof.Unreached
	for i := range proof.Items {
		item := &proof.Items[i]
		c.tally.NotMet += item.Classes
		f := item.ToProblem(c.evaluation.res, c.req.Code(), c.req.Severity)
		f.Message = c.messageText() + ": " + f.Message
		f.Hint = "the requirement is at " + c.req.Origin.String() + "; " + f.Hint
		c.addTestFinding(notMet, *f.Ref, item.ListenerPaths(), f.Message)
		out = append(out, f)
	}
	for _, f := range proof.Problems {
		if f.Code == model.SpellingBypass {
			f.Message += " (requirement \"" + c.req.Name + "\")"
			out = append(out, f)
		}
	}
	if proof.Result == viewprove.ProofUnknown || len(proof.Items) == 0 && proof.Result != viewprove.Proved {
		for _, u := range proof.Undecided {
			out = append(out, c.addUnclear(u.Why, u.Example, u.Classes))
		}
		if len(proof.Undecided) == 0 {
			out = append(out, c.addUnclear("the answer about requests is incomplete", "requests", 1))
		}
	}
	return out
}

// messageText is the message of the requirement where it is not met.
func (c *proofConclusion) messageText() string {
	return strings.TrimSuffix(strings.TrimSpace(c.req.message), ".")
}

// addUnclear counts classes of requests of which it is not known whether the requirement is met.
func (c *proofConclusion) addUnclear(why, example string, classes int) model.Problem {
	c.tally.Unknown += max(1, classes)
	c.addTestFinding(unknown, model.Ref{}, nil, why)
	on := cmp.Or(example, "a rule")
	if classes > 1 {
		on = fmt.Sprintf("%d classes of requests, such as %s", classes, example)
	}
	return c.unknownProblem(why, on)
}
