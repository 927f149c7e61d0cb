package attach

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// defeat is how a policy lost its place to another one.
type defeat struct {
	by       *policy.Policy
	decision merge.Decision
}

// DecisionBetween says what puts one of two policies of a place before the other. What filters name
// stands in their order, whatever the comparator says.
func DecisionBetween(k *policy.Kind, winner, loser policy.Attached, ageIgnored bool) merge.Decision {
	if winner.Level == policy.FilterLevel && loser.Level == policy.FilterLevel {
		return merge.Decision{Criterion: merge.CriterionPosition, KeyName: "the order of the filters",
			Last: winner.Index > loser.Index}
	}
	return k.Decide(winner, loser, ageIgnored)
}
