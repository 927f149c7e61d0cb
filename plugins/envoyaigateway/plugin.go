// Package envoyaigateway describes the policy kinds of Envoy AI Gateway, and what its routes make.
package envoyaigateway

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

//go:embed kinds.json
var kinds []byte

const (
	group        = "aigateway.envoyproxy.io"
	gatewayGroup = "gateway.networking.k8s.io"
	envoyGroup   = "gateway.envoyproxy.io"
)

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "envoyaigateway", Kinds: kinds,
		Reading: descriptor.Reading{Generate: []descriptor.Generator{
			{Kind: model.GroupKind{Group: group, Kind: "AIGatewayRoute"}, Make: generateAIRoute},
			{Kind: model.GroupKind{Group: group, Kind: "MCPRoute"}, Make: generateMCPRoute}}},
		Merging: descriptor.Merging{
			Plans: map[string]func(model.Settings) merge.PlanFunc{"envoyaigateway.Unenforced": func(
				model.Settings) merge.PlanFunc {
				return foldUnenforced
			}}},
		Status: status.Functions{Writers: map[string]status.Writer{"envoyaigateway.Reconciled": reconciledCondition}}}
}

// foldUnenforced leaves out settings that the controller translates and nothing enforces.
func foldUnenforced(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	var out []merge.Effect
	for _, l := range s.Layers {
		for _, b := range l.Blocks {
			for _, u := range b.Units {
				out = append(out, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From,
					Action: merge.Dropped, Reason: merge.Ignored})
			}
		}
	}
	return nil, out
}

// reconciledCondition is the one condition that the controller writes: Accepted, or one of the type
// NotAccepted.
func reconciledCondition(in status.Input) []status.Ancestor {
	kind := in.Kind.GroupKind.Kind
	c := status.Condition{Type: "Accepted", Status: "True", Reason: "ReconciliationSucceeded", Message: kind +
		" reconciled successfully"}
	if refs := in.Outcome.Policy.Refs; kind == "QuotaPolicy" && len(refs) > 0 && len(in.Outcome.Targets) == 0 {
		c = status.Condition{Type: "NotAccepted", Status: "False", Reason: "ReconciliationFailed",
			Message: "none of the target AIServiceBackends were found"}
	}
	return []status.Ancestor{{Conditions: []status.Condition{c}}}
}
