package lint

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Problems finds what has no effect: policies and rules that are in force nowhere, policies that others keep out of a target, and parentRefs
// that lead nowhere. It folds everything, once; the folds are kept. What may be in force where a cluster let us not look, or at targets
// about which the input does not tell, is not reported; nor is a policy that gives way on its target, if problems of the given codes say why.
func Problems(r *resolve.Resolution, sameTargetCodes []model.Code) []model.Problem {
	l := linter{res: r, meeting: sameTargetCodes, told: map[model.Ref][]model.Code{}, open: openTargets(r)}
	for _, p := range r.Problems {
		if p.Ref != nil && l.telling(p.Code) != 0 {
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
	res     *resolve.Resolution
	meeting []model.Code               // of problems about policies that meet on a target
	told    map[model.Ref][]model.Code // what other findings about an object tell
	open    open
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
		return len(k.Gaps().Of(p)) > 0 || slices.ContainsFunc(k.TargetsOf(p), l.open.at)
	})
}

// everything is told by findings that say of a policy that nothing of it counts.
const everything cause = 1 << 8

// telling is what a finding about a policy says already about why it, or part of it, is in force nowhere.
func (l *linter) telling(code model.Code) cause {
	switch code {
	case model.PolicyInError, model.RefusedByOperator:
		return everything
	case model.BareWithBlocks, model.MultipleBlocks:
		return ownBlock
	case model.OrderUncertain: // of kinds whose order is one of names: the loser is not known
		return below | sameTarget
	}
	if slices.Contains(l.meeting, code) {
		return sameTarget
	}
	return 0
}

// tells reports whether another finding about the policy tells the cause.
func (l *linter) tells(p *policy.Policy, c cause) bool {
	return slices.ContainsFunc(l.told[p.Ref()], func(code model.Code) bool { return l.telling(code)&c != 0 })
}
