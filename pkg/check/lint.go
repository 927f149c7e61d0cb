package check

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Lint finds what has no effect: policies and rules that are in force nowhere, policies that others keep out of a target, and parentRefs
// that lead nowhere. It folds everything, once; the folds are kept. What may be in force where a cluster let us not look, or at targets
// about which the input does not tell, is not reported.
func Lint(r *resolve.Resolution) []model.Problem {
	l := linter{res: r, told: map[model.Ref][]model.Code{}, open: openTargets(r)}
	for _, p := range r.Problems {
		if p.Ref != nil && telling(p.Code) != 0 {
			l.told[*p.Ref] = append(l.told[*p.Ref], p.Code)
		}
	}
	out := danglingParents(r)
	for _, k := range r.Kinds {
		if len(k.Policies) > 0 && !k.Again() {
			out = append(out, l.kind(k)...)
		}
	}
	return model.SortProblems(out)
}

type linter struct {
	res  *resolve.Resolution
	told map[model.Ref][]model.Code // what other findings about an object tell
	open open
}

// kind looks at the policies of one kind, over all its scopes.
func (l *linter) kind(k *resolve.Kind) []model.Problem {
	records := map[*policy.Policy]*record{}
	scopes := l.res.Scopes(k)
	for _, scope := range scopes {
		collect(l.res, scope, records)
	}
	out := l.conflicts(k, records)
	out = append(out, l.shields(k, scopes, records)...)
	out = append(out, l.beaten(k, scopes, records)...)
	for _, p := range k.Policies {
		rec := records[p]
		if rec == nil || p.Fault != "" || len(p.Faults) > 0 || l.tells(p, everything) {
			continue
		}
		for i := range rec.lost {
			rec.lost[i].causes.quiet(func(c cause) bool { return l.tells(p, c) })
		}
		found := rec.findings(p)
		if len(found) > 0 && !l.unsure(scopes, p) {
			out = append(out, found...)
		}
	}
	return out
}

// unsure reports whether the policy may be in force where we cannot see it.
func (l *linter) unsure(scopes []*resolve.Kind, p *policy.Policy) bool {
	return slices.ContainsFunc(scopes, func(k *resolve.Kind) bool {
		return len(k.GapsOf(p)) > 0 || slices.ContainsFunc(k.TargetsOf(p), l.open.at)
	})
}

// everything is told by findings that say of a policy that nothing of it counts.
const everything cause = 1 << 8

// telling is what a finding about a policy says already about why it, or part of it, is in force nowhere.
func telling(code model.Code) cause {
	switch code {
	case model.PolicyInError, model.RefusedByOperator:
		return everything
	case model.BareWithBlocks, model.MultipleBlocks:
		return ownBlock
	case model.SameTargetDefaultLost:
		return sameTarget
	case model.OrderUncertain: // of kinds whose order is one of names: the loser is not known
		return below
	}
	return 0
}

// tells reports whether another finding about the policy tells the cause.
func (l *linter) tells(p *policy.Policy, c cause) bool {
	return slices.ContainsFunc(l.told[p.Ref()], func(code model.Code) bool { return telling(code)&c != 0 })
}

// lintRules are the findings about what has no effect, and those of vendors.
var lintRules = []Rule{
	{ID: string(model.NeverInForce), Severities: []model.Severity{model.Warning, model.Info}, Clause: "E10",
		Summary: "a policy attaches, traffic reaches its targets, and nothing of it is in force anywhere; info where it only waits: its conditions are not met, or the defaults that it sets are switched off below",
		Fix:     "remove the policy, or change what keeps it out; one that is there for what is still to come can be suppressed"},
	{ID: string(model.PointlessPolicy), Severities: []model.Severity{model.Warning, model.Info}, Clause: "E4",
		Summary: "policies of other levels beat everything that a policy sets, wherever it holds; info where these are defaults that give way to something more specific everywhere, as a safety net should",
		Fix:     "remove the policy, or change the strategy of those that beat it"},
	{ID: string(model.RuleNeverInForce), Severities: []model.Severity{model.Warning, model.Info}, Clause: "E10",
		Summary: "a rule of a policy is in force nowhere, though others of its rules are; info where it is a default that gives way everywhere, or waits for a condition",
		Fix:     "remove the rule, or change what beats it"},
	{ID: string(model.PolicyConflict), Severities: []model.Severity{model.Warning}, Clause: "E8",
		Summary: "another policy of the kind on the same target keeps the policy out of it whole",
		Fix:     "keep one policy for each target, or put all settings into one"},
	{ID: string(model.ParentNotFound), Severities: []model.Severity{model.Warning}, Clause: "G9",
		Summary: "a parentRef of a route names a section, a port or an object that its Gateway, its ListenerSet or the cluster does not have; what is only missing from the files is no such case",
		Fix:     "correct the parentRef"},

	{ID: string(model.EmptyPolicyShields), Severities: []model.Severity{model.Warning}, Clause: "E4",
		Summary: "a policy without any settings keeps out what other policies set",
		Fix:     "remove the policy; one that is meant to switch a default off can be suppressed"},
	{ID: string(model.DefaultBeatsSetting), Severities: []model.Severity{model.Warning},
		Summary: "a value that somebody wrote loses to one that the API fills into another policy, which says nothing about it",
		Fix:     "write the value into the other policy as well"},
	{ID: string(model.MergeWithoutParent), Severities: []model.Severity{model.Info},
		Summary: "a policy asks to be merged with one above its route, and there is none",
		Fix:     "nothing, if such a policy is to come or is in other files"},
	{ID: string(model.MergeSkipsRoute), Severities: []model.Severity{model.Warning},
		Summary: "a policy on a route rule is merged with one above the route, not with that of its route, of which nothing is in force at the rule",
		Fix:     "write what is needed of the route's policy into that of the rule"},
	{ID: string(model.PortReplacesDefaults), Severities: []model.Severity{model.Warning},
		Summary: "settings for one port take the place of all defaults of the same policy, not only of those that they repeat",
		Fix:     "repeat the defaults for the port"},
	{ID: string(model.BuiltinPolicyWins), Severities: []model.Severity{model.Warning},
		Summary: "a policy loses by its name to one that the control plane creates for every mesh and that is not in the input",
		Fix:     "give it a name that comes earlier in the alphabet, or a narrower target"},
	{ID: string(model.AppendWithoutEffect), Severities: []model.Severity{model.Warning},
		Summary: "entries are added to a list that the mode of the same policy does not read",
		Fix:     "choose the mode that reads the list, or drop the entries"},

	// of what vendors do silently
	{ID: string(model.PredicateAffectsForeignRules), Severities: []model.Severity{model.Warning},
		Summary: "the list of predicates at the top of a policy guards rules that other policies declare: it is merged like a rule, and then decides for all that stands beside it",
		Fix:     "write the predicates into the rules that they are meant for"},
	{ID: string(model.DanglingPatternRef), Severities: []model.Severity{model.Warning},
		Summary: "a rule in force refers by name to a pattern that is not in force beside it",
		Fix:     "declare the pattern in the same policy"},
	{ID: string(model.SameTargetDefaultLost), Severities: []model.Severity{model.Warning},
		Summary: "an atomic default is without effect because newer defaults are on the same target, though both policies are accepted",
		Fix:     "let one policy have all the rules, or write `strategy: merge` into both"},
	{ID: string(model.SameTargetOrderMatters), Severities: []model.Severity{model.Warning},
		Summary: "a merge override and an atomic default are on one target: whether the defaults stand depends on which policy is older",
		Fix:     "write `strategy: merge` into the defaults"},
	{ID: string(model.RulePolicyInvisible), Severities: []model.Severity{model.Info},
		Summary: "a policy is on a route rule, of which the operator tells in no condition",
		Fix:     "nothing; look the policy up with `status` or `reach`"},
	{ID: string(model.SameNameDifferentRouteKinds), Severities: []model.Severity{model.Warning},
		Summary: "an HTTPRoute and a GRPCRoute of one name come through one listener: the operator keeps one result for both",
		Fix:     "rename one of the routes"},
	{ID: string(model.TokenPartialNotEnforced), Severities: []model.Severity{model.Info},
		Summary: "a policy of which some rules are lost is reported as not enforced, though its other rules are in force",
		Fix:     "nothing, or drop the rules that are lost"},
}
