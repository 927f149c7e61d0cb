package lint

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// FindProblems finds what has no effect: policies and settings that are in force nowhere, policies
// that others keep out of a target, and parentRefs that lead nowhere. It folds everything, once;
// the folds are kept. Nothing is reported about what may be in force where a cluster did not let us
// look, or at targets about which the input does not tell; nor about a policy that gives way on its
// target, if problems of the given codes say why.
func FindProblems(r *resolve.Resolution, sameTargetCodes []model.Code) []model.Problem {
	l := linter{res: r, sameTargetCodes: sameTargetCodes, reported: map[model.Ref][]model.Code{},
		unknownTraffic: findTrafficGaps(r)}
	for _, p := range r.Problems {
		if p.Ref != nil && l.causesReportedBy(p.Code) != 0 {
			l.reported[*p.Ref] = append(l.reported[*p.Ref], p.Code)
		}
	}
	out := findDanglingParents(r)
	for _, k := range r.Kinds {
		if len(k.Policies) > 0 && !k.IsLaterScope() {
			out = append(out, l.checkKind(k)...)
		}
	}
	return model.SortProblems(out)
}

type linter struct {
	res             *resolve.Resolution
	sameTargetCodes []model.Code               // of problems about policies that meet on a target
	reported        map[model.Ref][]model.Code // what other findings about an object tell
	unknownTraffic  trafficGaps
}

// checkKind looks at the policies of one kind, over all its scopes.
func (l *linter) checkKind(k *resolve.Kind) []model.Problem {
	records := map[*policy.Policy]*policyRecord{}
	scopes := l.res.ScopesOf(k)
	for _, scope := range scopes {
		collectRecords(l.res, scope, records)
	}
	out := l.conflictProblems(k, records)
	out = append(out, l.emptyPolicyProblems(k, scopes, records)...)
	out = append(out, l.replacedProblems(k, scopes, records)...)
	for _, p := range k.Policies {
		rec := records[p]
		if rec == nil || p.Fault != "" || len(p.Faults) > 0 || l.isReported(p, wholePolicy) {
			continue
		}
		for i := range rec.lost {
			rec.lost[i].causes.removeReported(func(c lossCause) bool { return l.isReported(p, c) })
		}
		found := rec.policyProblems(p)
		if len(found) > 0 && !l.isUncertain(scopes, p) {
			out = append(out, found...)
		}
	}
	return out
}

// isUncertain reports whether the policy may be in force where we cannot see it, or by what of it is
// not evaluated.
func (l *linter) isUncertain(scopes []*resolve.Kind, p *policy.Policy) bool {
	if slices.ContainsFunc(p.Problems, model.Problem.IsUnevaluated) {
		return true
	}
	return slices.ContainsFunc(scopes, func(k *resolve.Kind) bool {
		return len(k.Gaps().Of(p)) > 0 || slices.ContainsFunc(k.TargetsOf(p), l.unknownTraffic.hasGapAt)
	})
}

// wholePolicy is told by findings that say of a policy that nothing of it counts.
const wholePolicy lossCause = 1 << 8

// causesReportedBy is what a finding about a policy says already about why it, or part of it, is in
// force nowhere.
func (l *linter) causesReportedBy(code model.Code) lossCause {
	switch code {
	case model.PolicyInError, model.RefusedByOperator:
		return wholePolicy
	case model.BareWithBlocks, model.MultipleBlocks:
		return setInOwnBlock
	case model.OrderUncertain: // of kinds whose order is one of names: the loser is not known
		return givesWayBelow | sameTarget
	}
	if slices.Contains(l.sameTargetCodes, code) {
		return sameTarget
	}
	return 0
}

// isReported reports whether another finding about the policy reports the cause.
func (l *linter) isReported(p *policy.Policy, c lossCause) bool {
	return slices.ContainsFunc(l.reported[p.Ref()],
		func(code model.Code) bool { return l.causesReportedBy(code)&c != 0 })
}
