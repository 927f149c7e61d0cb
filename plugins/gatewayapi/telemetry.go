package gatewayapi

import (
	"cmp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// telemetryAncestors is what is written about an XTelemetryPolicy: whether it is accepted, and what the
// reference to its collector leads to (apisx/v1alpha1/xtelemetrypolicy_types.go:461-495 @ v1.7.0).
func telemetryAncestors(in status.Input) []status.Ancestor {
	p := in.Outcome.Policy.Object
	ref := p.Body.At("spec", "tracing", "provider", "backendRef")
	if ref.IsNull() {
		return directAncestors(in)
	}
	to := model.Ref{Group: ref.Text("group"), Kind: cmp.Or(ref.Text("kind"), "Service"),
		Namespace: cmp.Or(ref.Text("namespace"), p.Ref.Namespace), Name: ref.Text("name")}
	g := in.Resolution.Graph
	v := g.JudgeBackend(reference.Referrer{Kind: p.Ref.GroupKind(), Namespace: p.Ref.Namespace}, to, g.Object(to) != nil)
	resolved := status.Condition{Type: "ResolvedRefs", Status: "True", Reason: "ResolvedRefs",
		Message: "all references are resolved"}
	switch {
	case v.Reason != "":
		resolved.Status, resolved.Reason, resolved.Message = "False", v.Reason, to.String()+", "+v.Why
	case v.Open != "":
		resolved.Status, resolved.Reason, resolved.Message = "Unknown", "NotEvaluated", v.Open
	}
	return ancestorsPerGateway(in, acceptedCondition, resolved)
}
