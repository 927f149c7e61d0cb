// Package linkerd describes the policy kinds of Linkerd.
package linkerd

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "linkerd", Kinds: kinds, Findings: findings(),
		Status:     status.Functions{Boards: map[string]status.Board{"linkerd.LimitAccepted": limitAccepted, "linkerd.EgressAccepted": egressAccepted}},
		Evaluators: request.Evaluators{"linkerd.Verdict": verdict, "linkerd.Together": together}, Gates: gates(),
		Attaching: descriptor.Attaching{
			Links: []topology.Linker{link},
			Legs: map[string]policy.LegMaker{"linkerd.Ports": governedPorts, "linkerd.Authorized": authorized, "linkerd.OldAuthorized": oldAuthorized,
				"linkerd.Limited": limited, "linkerd.Itself": itself, "linkerd.Nowhere": nowhere}},
		Merging: descriptor.Merging{Situations: map[string]policy.Situator{"linkerd.Governed": governed, "linkerd.Grants": granted, "linkerd.Limits": limits,
			"linkerd.Egress": egress, "linkerd.Outbound": outbound}}}
}
