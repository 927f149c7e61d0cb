package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// conflict is a target out of which another policy keeps one whole.
type conflict struct {
	winner, target model.Ref
	tied           bool // both were created in the same second, and the name decides
}

func conflictOf(loser, winner *policy.Policy, target model.Ref) conflict {
	created := loser.Object.Created
	return conflict{winner.Ref(), target, !created.IsZero() && created.Equal(winner.Object.Created)}
}

// conflict notes that a policy was rejected in the fold, by strategy none.
func (rec *record) conflict(r *resolve.Resolution, o *resolve.Outcome, loss merge.Loss) {
	layer := o.Layers[loss.From.Layer]
	if layer.Rejected { // the verdict says so
		return
	}
	for _, to := range loss.To {
		c := conflictOf(layer.Policy, o.Layers[to.Layer].Policy, r.Node(layer.Node).Ref)
		if to.Layer != loss.From.Layer && !slices.Contains(rec.conflicts, c) {
			rec.conflicts = append(rec.conflicts, c)
		}
	}
}

// conflicts reports the policies that another one on the same target keeps out whole (engine E8), unless the kind reports nothing about
// that: then it shows in what is in force.
func (l *linter) conflicts(k *resolve.Kind, records map[*policy.Policy]*record) []model.Problem {
	found := map[*policy.Policy][]conflict{}
	for p, rec := range records {
		found[p] = rec.conflicts
	}
	for _, v := range k.Rejected {
		if p := v.Attached.Policy; !v.Silent {
			found[p] = append(found[p], conflictOf(p, v.By, l.res.Node(v.Attached.Node).Ref))
		}
	}
	var out []model.Problem
	for _, p := range k.Policies {
		if len(found[p]) == 0 || len(k.GapsOf(p)) > 0 { // whatever traffic comes, and from wherever
			continue
		}
		targets := map[model.Ref][]string{}
		var winners []model.Ref
		for _, c := range found[p] {
			if targets[c.winner] == nil {
				winners = append(winners, c.winner)
			}
			if name := c.target.String(); !slices.Contains(targets[c.winner], name) {
				targets[c.winner] = append(targets[c.winner], name)
			}
		}
		slices.SortFunc(winners, model.Ref.Compare)
		var parts []string
		for _, w := range winners {
			slices.Sort(targets[w])
			part := fmt.Sprintf("of %s by %s", few(targets[w]), w)
			if slices.ContainsFunc(found[p], func(c conflict) bool { return c.winner == w && c.tied }) {
				part += " (created in the same second: the name decides)"
			}
			parts = append(parts, part)
		}
		message := fmt.Sprintf("%s is kept out %s: policies of this kind do not share a target", p.Ref(), strings.Join(parts, ", "))
		switch {
		case k.RejectsWhole && k.SameTarget == policy.Disjoint:
			message = fmt.Sprintf("%s is rejected whole, on all its targets: %s sets something of the same on one of them", p.Ref(), few(refNames(winners)))
		case k.RejectsWhole:
			message = fmt.Sprintf("%s is rejected whole, on all its targets: %s has one of them", p.Ref(), few(refNames(winners)))
		case k.SameTarget == policy.Disjoint:
			message = fmt.Sprintf("%s is kept out %s: of policies that set the same rule on one target the first stays", p.Ref(), strings.Join(parts, ", "))
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.PolicyConflict, Message: message}.At(p.Object))
	}
	return out
}

func refNames(refs []model.Ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.String())
	}
	return out
}
