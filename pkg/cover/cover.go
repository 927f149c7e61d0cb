package cover

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	viewdiff "github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// UnnoticedChange is a change that no requirement notices.
type UnnoticedChange struct {
	// PolicyDeleted, SettingRemoved, NumberRaised, OverrideLowered, TargetRemoved, GrantDeleted,
	// FilterRemoved, ParentRemoved, RuleDeleted
	Change string       `json:"change"`
	Object model.Ref    `json:"object"`         // that is changed
	Part   string       `json:"part,omitempty"` // of the object, as a dotted path
	Origin model.Origin `json:"origin"`         // where it is
	Effect string       `json:"effect"`         // what changes, in a sentence
}

// RequirementCover is what a requirement notices.
type RequirementCover struct {
	Name    string       `json:"name"`    // of the requirement
	Origin  model.Origin `json:"origin"`  // where it is
	Notices int          `json:"notices"` // changes
	// of these, that no other requirement notices: without any, it could vanish unnoticed
	Alone int `json:"alone"`
}

// ChangeCount counts changes of a sort.
type ChangeCount struct {
	Change string `json:"change"` // what is changed, as in UnnoticedChange
	Count  int    `json:"count"`  // how many
}

// Report answers `check coverage`.
type Report struct {
	view.Envelope
	Tried int `json:"tried"` // changes, one at a time
	// of these, that change nothing for any request or target: they are left out of all that
	// follows
	NoEffect int `json:"noEffect"`
	Noticed  int `json:"noticed"` // of the others, that a requirement notices
	Percent  int `json:"percent"` // that these are of the others, rounded down
	// findings of the requirements before anything is changed: what fails already notices nothing
	// more there
	Failing      int                `json:"failing"`
	Items        []UnnoticedChange  `json:"items"`        // what no requirement notices
	Requirements []RequirementCover `json:"requirements"` // in the order of their files
	NotTried     []ChangeCount      `json:"notTried"`     // changes for which the budget did not last, by sort

}

// Query is how coverage is asked for.
type Query struct {
	Requirements []*requirement.Requirement
	Resolve      func(*model.Snapshot) *resolve.Resolution
	Judge        func(*resolve.Resolution) []model.Problem // the findings of the requirements
	DiffSide     func(*resolve.Resolution) view.Input      // an input to compare
	// what changes for requests, in a sentence, if anything does
	CompareBehavior func(before, after *resolve.Resolution) (string, bool)
	HasBudget       func(tried int) bool // whether the budget lasts for another one
}

// findingKey is what a requirement found somewhere.
type findingKey struct {
	code model.Code
	ref  model.Ref
}

func countFindings(findings []model.Problem) map[findingKey]int {
	out := map[findingKey]int{}
	for _, f := range findings {
		if f.Ref != nil && strings.HasPrefix(string(f.Code), requirement.CodePrefix) {
			out[findingKey{f.Code, *f.Ref}]++
		}
	}
	return out
}

// Run changes an input in every way that the budget lasts for, and asks the requirements about
// each.
func Run(in *model.Snapshot, q Query) *Report {
	base := q.Resolve(in)
	first := q.Judge(base)
	was := countFindings(first)
	out := &Report{Items: []UnnoticedChange{}, Requirements: []RequirementCover{}, NotTried: []ChangeCount{}}
	for _, n := range was {
		out.Failing += n
	}
	at := map[model.Code]int{}
	for i, r := range q.Requirements {
		at[r.Code()] = i
		out.Requirements = append(out.Requirements, RequirementCover{Name: r.Name, Origin: r.Origin})
	}
	mutants := Mutants(base)
	for i := range mutants {
		m := &mutants[i]
		if !q.HasBudget(i) {
			out.addNotTried(mutants[i:])
			break
		}
		out.Tried++
		after := q.Resolve(m.Apply(in))
		noticing := findNoticing(was, countFindings(q.Judge(after)))
		if len(noticing) > 0 {
			out.Noticed++
			for _, code := range noticing {
				r := &out.Requirements[at[code]]
				r.Notices++
				if len(noticing) == 1 {
					r.Alone++
				}
			}
			continue
		}
		effect, differs := q.describeEffect(base, after)
		if !differs {
			out.NoEffect++
			continue
		}
		out.Items = append(out.Items, UnnoticedChange{Change: m.Change, Object: m.Object, Part: m.Part,
			Origin: m.Origin, Effect: effect})
	}
	if n := out.Noticed + len(out.Items); n > 0 {
		out.Percent = 100 * out.Noticed / n
	}
	var problems []model.Problem
	for _, p := range append(slices.Clone(base.Problems), first...) {
		if p.IsIncomplete() && !strings.HasPrefix(string(p.Code), requirement.CodePrefix) {
			problems = append(problems, p)
		}
	}
	out.Finish("CoverageReport", problems)
	return out
}

// findNoticing returns the requirements that find more than before, each once.
func findNoticing(was, is map[findingKey]int) []model.Code {
	var out []model.Code
	for key, n := range is {
		if n > was[key] {
			out = append(out, key.code)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// describeEffect says what changes, if anything does: settings in force, what rules are protected
// by, or what requests get.
func (q *Query) describeEffect(before, after *resolve.Resolution) (string, bool) {
	diff := viewdiff.Compare(q.DiffSide(before), q.DiffSide(after), viewdiff.Query{})
	if len(diff.Protection) > 0 ||
		slices.ContainsFunc(diff.Items, func(c viewdiff.PolicyChange) bool { return !c.SourcesOnly }) {
		return strings.Join(diff.Headline(), " "), true
	}
	return q.CompareBehavior(before, after)
}

func (r *Report) addNotTried(rest []Mutant) {
	for i := range rest {
		if n := len(r.NotTried); n > 0 && r.NotTried[n-1].Change == rest[i].Change {
			r.NotTried[n-1].Count++
		} else {
			r.NotTried = append(r.NotTried, ChangeCount{rest[i].Change, 1})
		}
	}
}
