package explain

import (
	"cmp"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// Order says where a policy stands in the order of those on its target, and what put it there, as what follows its name: "is older", "comes
// first (by annotation weight: 10 before 0)".
func Order(d merge.Decision) string {
	age := d.Criterion == merge.CriterionAge
	switch {
	case d.Criterion == merge.CriterionBlock:
		return "overrides it"
	case age && d.Last:
		return "is newer"
	case age:
		return "is older"
	case d.Last:
		return "comes last" + brackets(d)
	}
	return "comes first" + brackets(d)
}

// Standing is Order, and why the winner wins there: among defaults the last one does.
func Standing(d merge.Decision) string {
	switch {
	case d.Overrides:
		return Order(d) + "; its overrides beat defaults"
	case !d.Last || d.Criterion == merge.CriterionBlock:
		return Order(d)
	case d.Criterion == merge.CriterionAge:
		return Order(d) + "; among defaults the newest wins"
	}
	return Order(d) + "; among defaults the last one wins"
}

// strength says what lets a policy set again what another one had set, as what follows "which is".
func strength(d merge.Decision) string {
	switch d.Criterion {
	case merge.CriterionLevel, merge.CriterionStrategy, merge.CriterionBlock, "":
		return "more specific"
	}
	return "stronger in the order of the kind" + brackets(d)
}

// brackets name the criterion, with what it compared, to put behind a word about the order.
func brackets(d merge.Decision) string {
	by := criterion(d)
	if by == "" {
		return ""
	}
	return " (by " + by + passed[d.Age] + ")"
}

// passed says why the age did not decide.
var passed = map[merge.Age]string{
	merge.AgeUnknown: ": no creation time",
	merge.AgeIgnored: ": not all of the policies have a creation time",
	merge.AgeEqual:   ": created in the same second",
}

func criterion(d merge.Decision) string {
	order := "before"
	if d.Last {
		order = "after"
	}
	switch d.Criterion {
	case merge.CriterionAge:
		if d.Last {
			return "age: it is newer"
		}
		return "age: it is older"
	case merge.CriterionSection:
		if d.Winner == "section" {
			return "section: it is for a section"
		}
		return "section: it is for the whole object"
	case merge.CriterionField:
		return fmt.Sprintf("%s: %s %s %s", d.Called, d.Winner, order, d.Loser)
	case merge.CriterionLabel, merge.CriterionAnnotation:
		return fmt.Sprintf("%s %s: %s %s %s", d.Criterion, d.Called, d.Winner, order, d.Loser)
	case merge.CriterionOrder:
		return d.Called
	}
	return cmp.Or(d.Called, string(d.Criterion))
}
