package kuadrant

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

var spilledPredicate = model.Rule{ID: "PredicateAffectsForeignRules", Severities: []model.Severity{model.Warning},
	Summary: "the list of predicates at the top of a policy guards settings of other policies: it is merged like any setting, and then decides for all that are in force beside it",
	Fix:     "write the predicates into the settings that they are meant for"}

// listOperatorKinds are the resolved kinds of the given names that are read as the operator does.
func listOperatorKinds(r *resolve.Resolution, kinds ...string) []*resolve.Kind {
	var out []*resolve.Kind
	for _, k := range r.Kinds {
		if k.GroupKind.Group == vendorGroup && slices.Contains(kinds, k.GroupKind.Kind) && k.Profile == "operator" &&
			len(k.Policies) > 0 {
			k.FoldAll()
			out = append(out, k)
		}
	}
	return out
}

// findSpilledPredicates reports lists of predicates at the top of a policy that guard settings
// of others. The list is merged like a setting, and then decides for everything that is in force beside
// it, whoever declared that.
func findSpilledPredicates(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range listOperatorKinds(r, "AuthPolicy", "RateLimitPolicy", tokenRateLimitPolicy) {
		guarded := map[*policy.Policy]map[string]bool{}
		k.EachStackInForce(func(s resolve.StackID) { collectGuarded(k.Verdict(s), guarded) })
		for _, p := range k.Policies {
			if len(guarded[p]) == 0 || len(k.Gaps().Of(p)) > 0 {
				continue
			}
			problem := spilledPredicate.NewProblem(
				"the list of predicates at the top of %s also guards settings of other policies: only requests that meet it get %s",
				p.Ref(), limitNames(guarded[p])).At(p.Object)
			origin := p.OriginOf(singleBlock(p).Kind, merge.KeyPath("when"))
			problem.Origin, problem.Hint = &origin, spilledPredicate.Fix
			out = append(out, problem)
		}
	}
	return out
}

// collectGuarded notes the rules of a stack's result that stand beside a list of predicates from
// another policy.
func collectGuarded(o *resolve.Verdict, guarded map[*policy.Policy]map[string]bool) {
	at := slices.IndexFunc(o.Result.Rules, func(r merge.Rule) bool { return r.Name == "when" })
	if at < 0 {
		return
	}
	for _, from := range o.Result.Rules[at].From {
		owner := o.Layers[from.Layer].Policy
		for i, rule := range o.Result.Rules {
			if i == at || strings.HasPrefix(rule.Name, "patterns.") ||
				slices.ContainsFunc(rule.From, func(f merge.Source) bool { return o.Layers[f.Layer].Policy == owner }) {
				continue
			}
			if guarded[owner] == nil {
				guarded[owner] = map[string]bool{}
			}
			for _, f := range rule.From {
				guarded[owner][rule.Name+" of "+o.Layers[f.Layer].Policy.Ref().String()] = true
			}
		}
	}
}
