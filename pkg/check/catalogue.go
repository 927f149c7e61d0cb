package check

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// Rule documents the findings of one id.
type Rule struct {
	ID         string           `json:"id"`
	Severities []model.Severity `json:"severities"`       // that its findings have, the usual one first
	Summary    string           `json:"summary"`          // when it is found: a clause without a full stop
	Fix        string           `json:"fix"`              // what to do about it: a clause without a full stop
	Clause     string           `json:"clause,omitempty"` // of the specification, "" where none speaks of it
}

// topics are the rules, by what they are about.
func topics() [][]Rule {
	return [][]Rule{inputRules, kindRules, targetRules, trafficRules, settingRules, effectRules, schemaRules, requirementRules}
}

// Catalogue lists the rules by id.
func Catalogue() []Rule {
	all := slices.Concat(topics()...)
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// RuleOf is the rule of an id.
func RuleOf(id string) (Rule, bool) {
	for _, rules := range topics() {
		if at := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id }); at >= 0 {
			return rules[at], true
		}
	}
	return Rule{}, false
}

// Asked is the rule of a requirement that somebody asks for: that it is not met.
func Asked(r *requirement.Requirement) Rule {
	summary := r.Message()
	if summary == "" {
		summary = "the requirement " + r.Name + " is not met"
	}
	return Rule{ID: string(r.Code()), Severities: []model.Severity{r.Severity}, Summary: summary,
		Fix: "see what is in force with `kubectl dopolicy effective`, and change the policies or the requirement at " + r.Origin.String()}
}
