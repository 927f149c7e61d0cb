package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// Catalogue documents the findings that there can be.
type Catalogue []model.Rule

// NewCatalogue has the rules of this package and those that vendors bring, sorted by id.
func NewCatalogue(vendors []model.Rule) Catalogue {
	all := slices.Concat(inputRules, kindRules, targetRules, trafficRules, settingRules, effectRules, protectionRules,
		schemaRules, requirementRules, vendors)
	slices.SortFunc(all, func(a, b model.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Rule is the rule of an id.
func (c Catalogue) Rule(id string) (model.Rule, bool) {
	at := slices.IndexFunc(c, func(r model.Rule) bool { return string(r.ID) == id })
	if at < 0 {
		return model.Rule{}, false
	}
	return c[at], true
}

// IDs returns the ids.
func (c Catalogue) IDs() []string {
	var out []string
	for _, r := range c {
		out = append(out, string(r.ID))
	}
	return out
}

// Known reports whether there can be findings of an id.
func (c Catalogue) Known(id string) bool {
	_, documented := c.Rule(id)
	return documented || strings.HasPrefix(id, requirement.CodePrefix) && id != requirement.CodePrefix
}

// Nearest returns the ids that a word may be a typing error of, best first.
func (c Catalogue) Nearest(id string) []string { return form.Nearest(id, c.IDs()) }

// sameTargetCodes returns the codes of problems that say why a policy gives way to another one on
// its target.
func (c Catalogue) sameTargetCodes() []model.Code {
	var out []model.Code
	for _, r := range c {
		if r.SameTarget {
			out = append(out, r.ID)
		}
	}
	return out
}

// With is c followed by a rule for each requirement: that it is not met.
func (c Catalogue) With(requirements []*requirement.Requirement) Catalogue {
	out := slices.Clone(c)
	for _, r := range requirements {
		out = append(out, model.Rule{ID: r.Code(), Severities: []model.Severity{r.Severity},
			Summary: cmp.Or(r.Message(), "the requirement "+r.Name+" is not met"),
			Fix:     "see what is in force with `kubectl dopolicy effective`, and change the policies or the requirement at " + r.Origin.String()})
	}
	return out
}
