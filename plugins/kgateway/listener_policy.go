package kgateway

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// checkOlderKind says that a kind is of releases before the one that is described here.
func checkOlderKind(p *policy.Policy, _ *model.Snapshot) (string, []model.Problem) {
	return "", []model.Problem{model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: "HTTPListenerPolicy is a kind of older releases: it is read like default.httpSettings of a ListenerPolicy"}.At(p.Object)}
}

// findListenerHints says of ListenerPolicies what their merge does not show: a policy of a listener
// without TLS changes nothing, the settings of a port take the place of the defaults, and how
// clients are known is united over all policies.
func findListenerHints(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Listener || n.Object == nil || !at.HasAny(id) || g.Listener(id).Protocol == "HTTPS" {
			continue
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.InvalidTarget, Message: fmt.Sprintf(
			"%s has no TLS, so that it shares one configuration with all listeners of its port: ListenerPolicies for it alone change nothing, though they are reported as attached", n.Ref)}.At(n.Object))
	}
	return out
}

// checkListenerPolicy finds what puts a ListenerPolicy in error: backends of access logs and
// tracing, and what they refer to.
func checkListenerPolicy(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	c := policyCheck{policy: p, in: in, mode: p.Kind.Settings.Text("kgateway.referenceGrantMode")}
	c.checkBackends(p.Object.Body.Field("spec"), p.Ref())
	fault := strings.Join(c.faults, "; ")
	if fault != "" {
		c.problems = append(c.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf(
				"%s is in error: kgateway answers with status 500 where it is attached, so that policies of other kinds are not in force there either, which is not shown", p.Ref())}.At(p.Object))
	}
	return fault, c.problems
}
