package lint

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// replacedByDefault is a setting that lost to a value that nobody wrote.
type replacedByDefault struct {
	policySetting
	winner *policy.Policy
}

// addBlocked notes that a policy keeps a setting of another one out: in the record of the winner,
// and if it did not write its value itself, in that of the loser.
func (rec *policyRecord) addBlocked(loser *policyRecord, p, winner *policy.Policy, loss merge.Loss, to merge.Source) {
	switch loss.Reason {
	case merge.AtomicReplaced, merge.AtomicOverridden, merge.MoreSpecificWins, merge.LessSpecificOverrides,
		merge.SameLevelOrder:
	default: // conflicts are findings of their own; who deactivates means to
		return
	}
	if what := loss.Rule + " of " + p.Base().Ref().String(); !slices.Contains(rec.blocked, what) &&
		len(rec.blocked) <= explain.MaxNames {
		rec.blocked = append(rec.blocked, what)
	}
	if isFilledIn(winner, to, loss.Path) {
		loser.replaced.Add(replacedByDefault{policySetting{p, loss.From.Block, loss.Rule}, winner})
	}
}

// isFilledIn reports whether what the winner has at a path was filled in by the API.
func isFilledIn(winner *policy.Policy, to merge.Source, path merge.Path) bool {
	if len(path) == 0 {
		return false
	}
	for _, b := range winner.Blocks {
		if b.Kind != to.Block {
			continue
		}
		for _, u := range b.Units {
			if u.Path.String() == path.String() {
				return u.Filled
			}
		}
	}
	return false
}

// emptyPolicyProblems reports the policies that have no settings and keep out those of others: an
// empty one that holds its place, an empty override.
func (l *linter) emptyPolicyProblems(k *resolve.Kind, scopes []*resolve.Kind,
	records map[*policy.Policy]*policyRecord) []model.Problem {
	var out []model.Problem
	for _, p := range k.Policies {
		rec := records[p]
		if rec == nil || len(rec.blocked) == 0 || len(p.Unset) > 0 ||
			slices.ContainsFunc(k.AllParts(p), func(part *policy.Policy) bool { return !hasNoSettings(part) }) ||
			p.Fault != "" || len(p.Faults) > 0 || l.isUncertain(scopes, p) {
			continue
		}
		slices.Sort(rec.blocked)
		out = append(out, model.Problem{Severity: model.Warning, Code: model.EmptyPolicyShields, Message: fmt.Sprintf(
			"%s has no settings but still blocks those of others: %s", p.Ref(), explain.ListNames(rec.blocked))}.At(
			p.Object))
	}
	return out
}

// hasNoSettings reports whether a policy has no settings.
func hasNoSettings(p *policy.Policy) bool {
	for _, b := range p.Blocks {
		for _, u := range b.Units {
			if !u.Filled && (len(u.Path) > 0 || !merge.Equal(u.Value, map[string]any{})) {
				return false
			}
		}
	}
	return true
}

// replacedProblems reports the settings that lose to values that the API fills in.
func (l *linter) replacedProblems(k *resolve.Kind, scopes []*resolve.Kind,
	records map[*policy.Policy]*policyRecord) []model.Problem {
	var out []model.Problem
	for _, p := range k.Policies {
		rec := records[p]
		if rec == nil || len(rec.replaced.List) == 0 || l.isUncertain(scopes, p) {
			continue
		}
		for _, b := range rec.replaced.List {
			problem := model.Problem{Severity: model.Warning, Code: model.DefaultBeatsSetting, Message: fmt.Sprintf(
				"%s of %s is replaced by an API default in %s that nobody wrote", b.rule, p.Ref(),
				b.winner.Base().Ref())}.At(b.winner.Object)
			out = append(out, problem)
		}
	}
	return out
}
