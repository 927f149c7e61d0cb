package prove

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// mostOtherSpellings is how many further spellings a finding names.
const mostOtherSpellings = 3

// buildSpellingProblems returns spellings as findings, one for each rule that takes some. What
// depends on something unknown is a finding of its own.
func buildSpellingProblems(r *resolve.Resolution, all []Spelling) []model.Problem {
	type key struct {
		by      model.Ref
		depends bool
	}
	var keys []key
	found := map[key][]*Spelling{}
	for i := range all {
		e := &all[i]
		k := key{*e.Route, e.Depends != ""}
		if found[k] == nil {
			keys = append(keys, k)
		}
		if !slices.ContainsFunc(found[k], func(o *Spelling) bool { return o.Command == e.Command }) {
			found[k] = append(found[k], e)
		}
	}
	var out []model.Problem
	for _, k := range keys {
		out = append(out, found[k][0].toProblem(r, found[k][1:]))
	}
	return out
}

// toProblem returns a spelling as a finding about the rule that takes it, with others for which the
// same is so.
func (e *Spelling) toProblem(r *resolve.Resolution, others []*Spelling) model.Problem {
	message := e.Command + " gets around " + e.bypassed + " if " + e.Backend.WithoutSection().String() +
		" takes it for " + e.Spells + ", which " + e.Of.String() + " takes: it has " + e.By
	if len(others) > 0 {
		rules := map[model.Ref]bool{*e.Of: true}
		for _, o := range others {
			rules[*o.Of] = true
		}
		message += "; so " + map[bool]string{true: "does ", false: "do "}[len(others) == 1] +
			view.FormatCount(len(others), "other spelling|other spellings")
		if len(rules) > 1 {
			message += ", of requests to " + view.FormatCount(len(rules), "rule")
		}
		for i, o := range others[:min(len(others), mostOtherSpellings)] {
			message += [...]string{": ", ", "}[min(i, 1)] + o.Command
		}
	}
	if e.Depends != "" {
		message += "; it depends: " + e.Depends
	}
	out := model.Problem{Code: model.SpellingBypass, Severity: model.Warning, Ref: e.Route, Message: message,
		Hint: "cover " + e.Route.String() +
			" as well, have the data plane normalise such requests where it can, or deny what is not canonical"}
	if o := r.Snapshot.Get(e.Route.WithoutSection()); o != nil {
		origin := o.OriginOf("spec", "rules", strconv.Itoa(e.Rule))
		out.Origin = &origin
	}
	return out
}
