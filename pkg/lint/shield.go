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

// beaten is a setting that lost to a value that nobody wrote.
type beaten struct {
	setting
	winner *policy.Policy
}

// wins notes that a policy keeps a setting of another one out: in the record of the winner, and if it did not write its value itself, in that
// of the loser.
func (rec *record) wins(loser *record, p, winner *policy.Policy, loss merge.Loss, to merge.From) {
	switch loss.Reason {
	case merge.AtomicReplaced, merge.AtomicOverridden, merge.MoreSpecificWins, merge.LessSpecificOverrides, merge.SameLevelOrder:
	default: // conflicts are findings of their own; who deactivates means to
		return
	}
	if what := loss.Rule + " of " + p.Base().Ref().String(); !slices.Contains(rec.shields, what) && len(rec.shields) <= explain.Most {
		rec.shields = append(rec.shields, what)
	}
	if filledIn(winner, to, loss.Path) {
		loser.beaten.Add(beaten{setting{p, loss.From.Block, loss.Rule}, winner})
	}
}

// filledIn reports whether what the winner has at a path was filled in by the API.
func filledIn(winner *policy.Policy, to merge.From, path merge.Path) bool {
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

// shields reports the policies that have no settings and keep out those of others: an empty one that holds its place, an empty override.
func (l *linter) shields(k *resolve.Kind, scopes []*resolve.Kind, records map[*policy.Policy]*record) []model.Problem {
	var out []model.Problem
	for _, p := range k.Policies {
		rec := records[p]
		if rec == nil || len(rec.shields) == 0 || len(p.Unset) > 0 || slices.ContainsFunc(k.AllParts(p), func(part *policy.Policy) bool { return !blank(part) }) || p.Fault != "" || len(p.Faults) > 0 || l.unsure(scopes, p) {
			continue
		}
		slices.Sort(rec.shields)
		out = append(out, model.Problem{Severity: model.Warning, Code: model.EmptyPolicyShields, Message: fmt.Sprintf(
			"%s has no settings but still blocks those of others: %s", p.Ref(), explain.Few(rec.shields))}.At(p.Object))
	}
	return out
}

// blank reports whether a policy has no settings.
func blank(p *policy.Policy) bool {
	for _, b := range p.Blocks {
		for _, u := range b.Units {
			if !u.Filled && (len(u.Path) > 0 || !merge.Equal(u.Value, map[string]any{})) {
				return false
			}
		}
	}
	return true
}

// beaten reports the settings that lose to values that the API fills in.
func (l *linter) beaten(k *resolve.Kind, scopes []*resolve.Kind, records map[*policy.Policy]*record) []model.Problem {
	var out []model.Problem
	for _, p := range k.Policies {
		rec := records[p]
		if rec == nil || len(rec.beaten.List) == 0 || l.unsure(scopes, p) {
			continue
		}
		for _, b := range rec.beaten.List {
			problem := model.Problem{Severity: model.Warning, Code: model.DefaultBeatsSetting, Message: fmt.Sprintf(
				"%s of %s is replaced by an API default in %s that nobody wrote", b.rule, p.Ref(), b.winner.Base().Ref())}.At(b.winner.Object)
			out = append(out, problem)
		}
	}
	return out
}
