package explain

import (
	"cmp"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// DescribeOrder says where a policy stands in the order of those on its target, and what put it
// there, as what follows its name: "is older", "comes first (by annotation weight: 10 before 0)".
func DescribeOrder(d merge.Decision) string {
	age := d.Criterion == merge.CriterionAge
	switch {
	case d.Criterion == merge.CriterionBlock:
		return "overrides it"
	case age && d.Last:
		return "is newer"
	case age:
		return "is older"
	case d.Last:
		return "comes last" + criterionInBrackets(d)
	}
	return "comes first" + criterionInBrackets(d)
}

// DescribeStanding is DescribeOrder, and why the winner wins there: among defaults the last one
// does.
func DescribeStanding(d merge.Decision) string {
	switch {
	case d.Overrides:
		return DescribeOrder(d) + "; its overrides beat defaults"
	case !d.Last || d.Criterion == merge.CriterionBlock:
		return DescribeOrder(d)
	case d.Criterion == merge.CriterionAge:
		return DescribeOrder(d) + "; among defaults the newest wins"
	}
	return DescribeOrder(d) + "; among defaults the last one wins"
}

// describeStrength says what lets a policy set again what another one had set, as what follows
// "which is".
func describeStrength(d merge.Decision) string {
	switch d.Criterion {
	case merge.CriterionLevel, merge.CriterionStrategy, merge.CriterionBlock, "":
		return "more specific"
	}
	return "stronger in the order of the kind" + criterionInBrackets(d)
}

// criterionInBrackets names the criterion, with what it compared, to put behind a word about the
// order.
func criterionInBrackets(d merge.Decision) string {
	by := describeCriterion(d)
	if by == "" {
		return ""
	}
	return " (by " + by + ageDoubts[d.Age] + ")"
}

// ageDoubts says why the age did not decide.
var ageDoubts = map[merge.Age]string{
	merge.AgeUnknown: ": no creation time",
	merge.AgeIgnored: ": not all of the policies have a creation time",
	merge.AgeEqual:   ": created in the same second",
}

func describeCriterion(d merge.Decision) string {
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
		return fmt.Sprintf("%s: %s %s %s", d.KeyName, d.Winner, order, d.Loser)
	case merge.CriterionLabel, merge.CriterionAnnotation:
		return fmt.Sprintf("%s %s: %s %s %s", d.Criterion, d.KeyName, d.Winner, order, d.Loser)
	case merge.CriterionOrder:
		return d.KeyName
	}
	return cmp.Or(d.KeyName, string(d.Criterion))
}
