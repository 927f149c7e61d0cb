package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// conflict is a target from which another policy keeps one out as a whole.
type conflict struct {
	winner, target model.Ref
	decision       string // what puts the winner first, in words
}

// addConflict notes that a policy was rejected in the fold, by strategy none.
func (rec *policyRecord) addConflict(r *resolve.Resolution, o *resolve.Verdict, loss merge.Loss) {
	layer := o.Layers[loss.From.Layer]
	if layer.Rejected { // the verdict says so
		return
	}
	for _, to := range loss.To {
		if to.Layer != loss.From.Layer {
			rec.conflicts.Add(conflict{o.Layers[to.Layer].Policy.Ref(), r.Node(layer.Node).Ref,
				explain.DescribeStanding(to.Decision)})
		}
	}
}

// conflictProblems reports the policies that another one on the same target keeps out whole (engine
// E8), unless the kind reports nothing about that: then it shows in what is in force.
func (l *linter) conflictProblems(k *resolve.Kind, records map[*policy.Policy]*policyRecord) []model.Problem {
	found := map[*policy.Policy][]conflict{}
	for p, rec := range records {
		found[p] = rec.conflicts.List
	}
	for _, v := range k.Rejected {
		if p := v.Attached.Policy; !v.Silent {
			found[p] = append(found[p], conflict{v.By.Ref(), l.res.Node(v.Attached.Node).Ref,
				explain.DescribeStanding(v.Decision)})
		}
	}
	var out []model.Problem
	for _, p := range k.Policies {
		if len(found[p]) == 0 || len(k.Gaps().Of(p)) > 0 { // whatever traffic comes, and from wherever
			continue
		}
		winners, places := groupByWinner(found[p])
		message := fmt.Sprintf("%s is rejected %s: policies of this kind cannot share a target", p.Ref(),
			strings.Join(places, "; "))
		switch {
		case k.SameTarget == policy.AllLose:
			message = fmt.Sprintf(
				"%s is not in force, and neither is %s: of several policies of this kind on one target none is",
				p.Ref(), explain.ListNames(winners))
		case k.RejectsWhole && k.SameTarget == policy.Disjoint:
			message = fmt.Sprintf("%s is rejected on all its targets by %s: they set the same on one of them", p.Ref(),
				explain.ListNames(winners))
		case k.RejectsWhole:
			message = fmt.Sprintf("%s is rejected on all its targets by %s: one of them is taken", p.Ref(),
				explain.ListNames(winners))
		case k.SameTarget == policy.Disjoint:
			message = fmt.Sprintf(
				"%s is rejected %s: of policies that set the same on one target the first stays", p.Ref(),
				strings.Join(places, "; "))
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.PolicyConflict,
			Message: message}.At(p.Object))
	}
	return out
}

// groupByWinner names the policies that keep one out, each with what puts it first, and the targets
// that it keeps it out of.
func groupByWinner(found []conflict) (winners, places []string) {
	slices.SortFunc(found, func(a, b conflict) int {
		return cmp.Or(a.winner.Compare(b.winner), strings.Compare(a.decision, b.decision), a.target.Compare(b.target))
	})
	var targets []string
	for i, c := range found {
		if i == 0 || found[i-1] != c {
			targets = append(targets, c.target.String())
		}
		if i+1 < len(found) && found[i+1].winner == c.winner && found[i+1].decision == c.decision {
			continue
		}
		winner := fmt.Sprintf("%s, which %s", c.winner, c.decision)
		winners, places = append(winners, winner), append(places, fmt.Sprintf("on %s by %s",
			explain.ListNames(targets), winner))
		targets = nil
	}
	return winners, places
}
