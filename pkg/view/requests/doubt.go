package requests

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// RulePath is the path of a request to the rule that takes it. Requests with the same one meet the
// same policies.
type RulePath struct{ Gateway, Listener, Rule topology.NodeID }

// RulePathOf returns the path of an answer.
func RulePathOf(a *request.Answer) RulePath { return RulePath{a.Gateway, a.Listener, a.Rule} }

// FindDoubt says why it is not known which rule takes a class; "" if it is known.
func FindDoubt(c *space.Class) string {
	if c.Unknown != "" {
		return c.Unknown
	}
	if c.Answer.RuleUncertain {
		return FindCondition(c.Answer)
	}
	for _, problem := range c.Answer.Problems {
		if problem.Code == model.OrderUncertain {
			return problem.Message
		}
	}
	return ""
}

// HasUncertainOrder reports whether it is not known which of several rules comes first.
func HasUncertainOrder(a *request.Answer) bool {
	return slices.ContainsFunc(a.Problems,
		func(problem model.Problem) bool { return problem.Code == model.OrderUncertain })
}

// FindCondition says on what an answer depends.
func FindCondition(a *request.Answer) string {
	for _, why := range a.Why {
		if rest, found := strings.CutPrefix(why, "it depends: "); found {
			return rest
		}
	}
	return "what becomes of the request is not known"
}

// IsSentToBackend reports whether a backend gets a request.
func IsSentToBackend(a *request.Answer) bool {
	outcome := a.Outcome
	if outcome == request.Conditional && !a.RuleUncertain && a.Rule == topology.None {
		outcome = a.Assumed
	}
	switch outcome {
	case request.NoMatch, request.Misdirected, request.Redirect, request.BackendError:
		return false
	}
	return true
}
