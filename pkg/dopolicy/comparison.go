package dopolicy

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/behavior"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// comparisonSide is one side of a comparison.
func (e *Engine) comparisonSide(r *resolve.Resolution) view.Input {
	return view.Input{Resolution: r, Matcher: e.newMatcher(r), Judges: e.judges}
}

// Diff compares the policies in force on two inputs of one engine.
func Diff(before, after *Input, q diff.Query) *diff.EffectivePolicyDiff {
	return diff.Compare(before.engine.comparisonSide(before.Resolution), after.engine.comparisonSide(after.Resolution),
		q)
}

// BehaviorAcross is Behavior where at least one side is the proxy of Ingresses.
func BehaviorAcross(before, after *Input, ends [2]behavior.Endpoint, q behavior.Query) (*behavior.BehaviorDiff, error) {
	return behavior.CompareAcross(before.engine.comparisonSide(before.Resolution),
		after.engine.comparisonSide(after.Resolution), ends, q)
}

// Behavior says for which requests the answer changes between two inputs of one engine.
func Behavior(before, after *Input, q behavior.Query) (*behavior.BehaviorDiff, error) {
	return behavior.Compare(before.engine.comparisonSide(before.Resolution),
		after.engine.comparisonSide(after.Resolution), q)
}
