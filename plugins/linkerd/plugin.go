// Package linkerd describes the policy kinds of Linkerd.
package linkerd

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "linkerd", Kinds: kinds, Findings: listFindings(),
		Status: status.Functions{KindWriters: map[string]status.KindWriter{
			"linkerd.LimitAccepted": limitConditions, "linkerd.EgressAccepted": egressConditions}},
		Points: newLayer,
		Gates:  gateFunctions(),
		Attaching: descriptor.Attaching{
			Links: []build.Linker{addToGraph},
			Legs: map[string]policy.PointSearch{"linkerd.Ports": newServerFinder,
				"linkerd.Authorized": newAuthorizationFinder, "linkerd.OldAuthorized": newOldAuthorizationFinder,
				"linkerd.Limited": newLimitFinder, "linkerd.Itself": newSelfFinder, "linkerd.Nowhere": newEmptyFinder}},
		Merging: descriptor.Merging{Situations: map[string]policy.SituationMaker{"linkerd.Governed": newPortSituator,
			"linkerd.Grants": newGrantSituator, "linkerd.Limits": newLimitSituator,
			"linkerd.Egress": newEgressSituator, "linkerd.Outbound": newOutboundSituator}}}
}
