package check

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Rule documents the findings of one id.
type Rule struct {
	ID         string
	Severities []model.Severity // that its findings have, the usual one first
	Summary    string           // when it is found: a clause without a full stop
	Fix        string           // what to do about it: a clause without a full stop
	Clause     string           // of the specification, "" where none speaks of it
}

// Catalogue lists the rules by id.
func Catalogue() []Rule {
	all := slices.Concat(lintRules, schemaRules, requirementRules)
	slices.SortFunc(all, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
