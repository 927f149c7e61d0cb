package requirement

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/cel-go/common/types/ref"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// evaluationTime is after how long the evaluation of a question is given up.
const evaluationTime = 5 * time.Second

// noBackend is the backend of what is no request.
var noBackend = toCELValue(refValue(&model.Ref{}))

// evaluateAll answers all questions, as many at a time as there are processors.
func (j *evaluation) evaluateAll() {
	values, sizes := make([]ref.Val, len(j.inForce)), make([]expression.Sizes, len(j.inForce))
	model.Parallel(len(j.inForce), model.SmallBatch, func(i int) {
		values[i], sizes[i] = newPolicyValue(&j.inForce[i].Policy), measurePolicy(&j.inForce[i].Policy)
	})
	j.targetVal = make([]targetValue, len(j.targets))
	model.Parallel(len(j.targets), model.SmallBatch, func(i int) {
		v := j.targetFields(j.targets[i])
		j.targetVal[i] = targetValue{toCELValue(v), expression.SizesOf(v)}
	})
	for _, p := range j.paths {
		j.pathVals = append(j.pathVals, toCELValue(pathValue(p)))
	}
	for _, p := range j.protected {
		j.protectionVals = append(j.protectionVals, protectionValue(p))
	}
	model.Parallel(len(j.sets), model.SmallBatch, func(i int) {
		s := &j.sets[i]
		policies := map[string]ref.Val{}
		for _, f := range s.of {
			n := j.inForceIndex[f]
			policies[f.Kind.Name()], s.sizes = values[n], s.sizes.Max(sizes[n])
		}
		s.value = newInForceObject(policies)
	})
	j.budget.addQuestions(len(j.questions))
	for i := range j.cases {
		j.cases[i].budgets.own.addQuestions(len(j.questions))
	}
	model.Parallel(len(j.questions), model.SmallBatch, func(i int) { j.answerQuestion(&j.questions[i]) })
}

func (j *evaluation) answerQuestion(q *question) {
	vars := map[string]any{effectiveVar: j.sets[q.set].value, backendVar: noBackend}
	sizes := j.sets[q.set].sizes
	if q.target >= 0 {
		target := j.targetVal[q.target]
		vars[targetVar], sizes = target.value, sizes.Max(target.sizes)
	}
	if q.path >= 0 {
		vars[pathVar] = j.pathVals[q.path]
	}
	if q.protection >= 0 {
		vars[protectionVar] = j.protectionVals[q.protection]
	}
	ctx, cancel := context.WithTimeout(context.Background(), evaluationTime)
	defer cancel()
	ask := func(e *compiled) ref.Val {
		v, err := q.evaluate(ctx, e, vars, sizes)
		if err != nil && q.failure == "" {
			q.failure = err.Error()
		}
		return v
	}
	if q.req.where != nil {
		if v := ask(q.req.where); q.failure != "" || v.Value() != true {
			q.skipped = q.failure == ""
			return
		}
	}
	if q.req.demands != nil {
		if q.held = j.isDemandMet(q); q.held {
			return
		}
	} else if v := ask(q.req.holds); q.failure != "" || v.Value() == true {
		q.held = q.failure == ""
		return
	}
	q.message = q.req.message
	if q.req.messageFrom != nil {
		if v := ask(q.req.messageFrom); q.failure == "" {
			q.message, _ = v.Value().(string)
		}
	}
}

// isDemandMet reports whether one of the kinds that are demanded is in force, or one of the
// properties holds.
func (j *evaluation) isDemandMet(q *question) bool {
	for _, f := range j.sets[q.set].of {
		if slices.ContainsFunc(q.req.demands.kinds, func(gk model.GroupKind) bool {
			return matchesKindName(gk.String(),
				f.Kind.GroupKind)
		}) {
			return true
		}
	}
	if q.protection < 0 || len(q.req.demands.properties) == 0 {
		return false
	}
	met, _ := q.req.isMet(j.protected[q.protection])
	return met
}

// evaluate evaluates one expression, and checks that the value is of the type that is wanted.
func (q *question) evaluate(ctx context.Context, e *compiled, vars map[string]any, sizes expression.Sizes) (ref.Val,
	error) {
	if err := e.guard.Check(sizes); err != nil {
		return nil, err
	}
	if q.req.budgets.areSpent() {
		return nil, errTooCostly
	}
	v, steps, err := expression.EvaluateWithin(ctx, e.program, vars)
	q.req.budgets.takeSteps(steps)
	if err != nil {
		return nil, fmt.Errorf("%s", expression.ErrorLine(err))
	}
	if v.Type().TypeName() != e.result.is.TypeName() {
		return nil, fmt.Errorf("gives %s, not a %s", v.Type().TypeName(), e.result.noun)
	}
	return v, nil
}

// targetFields returns a target in the shape that expressions see.
func (j *evaluation) targetFields(p *collect.EffectiveTarget) objectValue {
	out := refValue(&p.Target)
	var labels, annotations map[string]string
	if o := j.res.Node(p.Node).Object; o != nil {
		labels, annotations = o.Labels, o.Annotations
	}
	space, _ := j.namespaceLabels(p.Target)
	out["labels"], out["annotations"], out["namespaceLabels"] = labelValues(labels), labelValues(annotations),
		labelValues(space)
	return out
}
