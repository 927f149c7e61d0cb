package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// Explain shows the fold step by step for the targets asked for; if rule is not "" (a full printed
// name), only what concerns it.
func Explain(r *resolve.Resolution, q view.Query, rule string) *Explanation {
	out := &Explanation{Rule: rule, Items: []ExplainedPolicy{}}
	a := collect.New(r, q)
	a.EachStack(func(k *resolve.Kind, id topology.NodeID, s resolve.StackID, paths []view.Path) {
		item := a.BuildItemWithProblems(k, id, s, paths)
		item.Rules = slices.DeleteFunc(slices.Clone(item.Rules),
			func(x view.Rule) bool { return !collect.IsPartOfRule(x.Name, rule) })
		item.Lost = slices.DeleteFunc(slices.Clone(item.Lost),
			func(x view.RuleLoss) bool { return !collect.IsPartOfRule(x.Rule, rule) })
		if len(item.Rules) > 0 || len(item.Lost) > 0 || q.ShowNone {
			out.Items = append(out.Items, ExplainedPolicy{EffectivePolicy: item, Steps: buildSteps(r, k, s, rule)})
		}
	})
	out.Finish("Explanation", a.CollectProblems())
	out.LimitRelevance(a.RelevanceFilter())
	if len(out.Items) == 0 && rule == "" {
		out.SetElsewhere(a.FindElsewhere())
	}
	return out
}

// buildSteps returns the fold of a stack step by step, most specific first. If a rule is asked for,
// steps that do not touch it are left out.
func buildSteps(r *resolve.Resolution, k *resolve.Kind, s resolve.StackID, rule string) []Step {
	w := collect.NewVerdictWriter(r, k.FoldStepwise(s))
	out := []Step{}
	for i, st := range w.Verdict.Result.Trace {
		if st.Closing {
			continue
		}
		step := buildStep(w, i, st, rule)
		step.Result = append(step.Result, st.After...)
		if rule == "" || len(step.Took)+len(step.Lost)+len(step.Notes) > 0 {
			out = append(out, step)
		}
	}
	return out
}

func buildStep(w collect.VerdictWriter, at int, st merge.Step, rule string) Step {
	out := Step{Strategy: st.Strategy.Name(), Block: st.Block.String(), Level: "group", Took: []string{},
		Lost: []string{}, Result: []string{}, how: describeMerge(st)}
	if st.Plan != "" {
		out.Level += " " + st.Plan
	}
	if st.Layer >= 0 {
		l := w.Verdict.Layers[st.Layer]
		out.Level = string(l.Level)
		if out.Builtin = l.Policy.Builtin; out.Builtin == "" {
			ref := l.Policy.Ref()
			out.Policy = &ref
		}
	}
	if when, ok := st.When.(*expression.Condition); ok {
		verdict := "true"
		switch {
		case st.Err != nil:
			verdict = st.Err.Error()
		case st.Skipped != "":
			verdict = "false"
		}
		out.Condition = fmt.Sprintf("%q: %s", when.Text, verdict)
	}
	for _, e := range st.Effects {
		if !collect.IsPartOfRule(e.Rule, rule) {
			continue
		}
		switch e.Action {
		case merge.Taken, merge.Joined:
			out.Took = append(out.Took, e.Rule)
			if st.Layer < 0 && st.Strategy.Func != nil { // nothing else says whose it is
				out.Notes = append(out.Notes, formatTaken(w, e))
			}
		case merge.Dropped, merge.Replaced:
			out.Lost = append(out.Lost, e.Rule)
			out.Notes = append(out.Notes, formatLost(w, at, e))
		}
	}
	return out
}

// describeMerge says in words what a step does with what was merged before it.
func describeMerge(st merge.Step) string {
	s := st.Strategy
	overrides := s.Wins == merge.Higher || s.Wins == merge.ByBlock && st.Block == merge.Overrides
	switch {
	case s.Func != nil:
		return "merged as the policy kind defines"
	case s.Rejects:
		return "lets no other policy be in force"
	case s.Wins == merge.Both:
		return "added to the others"
	case overrides:
		return map[merge.Cut]string{merge.Whole: "replaces the whole policy",
			merge.Rules:  "replaces what is set",
			merge.Leaves: "replaces what is set, field by field"}[s.Cut]
	}
	return map[merge.Cut]string{merge.Whole: "used if nothing is set before it",
		merge.Rules:  "adds what is not set yet",
		merge.Leaves: "adds what is not set yet, field by field"}[s.Cut]
}

// formatTaken says whose a setting is that a function of the kind's vendor took in.
func formatTaken(w collect.VerdictWriter, e merge.Effect) string {
	var names []string
	for _, f := range e.From {
		p := w.Verdict.Layers[f.Layer].Policy
		if name := p.Ref().FullName(); p.Builtin == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 { // no policy wrote it
		return e.Rule + " is in force"
	}
	return e.Rule + " of " + strings.Join(names, " and ") + " is in force"
}

// mostValue is how long the value of a setting may be that is said in a sentence.
const mostValue = 20

// formatLost says why a setting is not in force after one step.
func formatLost(w collect.VerdictWriter, at int, e merge.Effect) string {
	loss := w.Verdict.Result.LossOf(at, e)
	own := w.Verdict.Layers[e.From[0].Layer].Policy.Ref()
	rule := e.Rule
	if text := view.ValueText(e.Value, 0); len(text) <= mostValue {
		rule += " = " + text
	}
	return strings.Join([]string{rule, "of", own.FullName(), "is not in force:", w.ExplainLoss(&loss)}, " ")
}

// RuleNames lists the rules that are in force or lost at the targets asked for, sorted, each once.
func RuleNames(r *resolve.Resolution, q view.Query) []string {
	var out []string
	a := collect.New(r, q)
	a.EachStack(func(k *resolve.Kind, _ topology.NodeID, s resolve.StackID, _ []view.Path) {
		o := k.Verdict(s)
		for _, rule := range o.Result.Rules {
			out = append(out, rule.Name)
		}
		for _, l := range o.Losses() {
			out = append(out, l.Rule)
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}

// RuleNamesOf lists what the rules of a policy are called where they are in force or lost, sorted,
// each once.
func RuleNamesOf(r *resolve.Resolution, k *resolve.Kind, p *policy.Policy) []string {
	var out []string
	for _, scope := range r.ScopesOf(k) {
		below := scope.StacksHolding(p)
		scope.EachStackInForce(func(s resolve.StackID) {
			if !below[s] {
				return
			}
			o := scope.Verdict(s)
			mine := o.WrittenBy(p)
			for _, rule := range o.Result.Rules {
				if slices.ContainsFunc(rule.From, mine) {
					out = append(out, rule.Name)
				}
			}
			for _, l := range o.Losses() {
				if mine(l.From) {
					out = append(out, l.Rule)
				}
			}
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}
