// Package networkpolicy describes the policy kinds of the Network Policy API, and the NetworkPolicies that stand between them.
package networkpolicy

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "networkpolicy", Kinds: kinds,
		Evaluators: request.Evaluators{"networkpolicy.Verdict": verdict},
		Reading: descriptor.Reading{Typed: map[string]policy.PartNormalizer{"networkpolicy.OfIngress": partIf(ingress), "networkpolicy.OfEgress": partIf(egress),
			"networkpolicy.IsolatesIngress": partIf(ingress), "networkpolicy.IsolatesEgress": partIf(egress)}},
		Attaching: descriptor.Attaching{
			Links:  []topology.Linker{func(b *topology.Builder) { b.Extend(notes) }},
			Attach: map[string]policy.Attacher{"networkpolicy.Pods": pods}},
		Merging: descriptor.Merging{
			Compare: map[string]policy.Comparator{"networkpolicy.Tier": byTier, "networkpolicy.Priority": byPriority},
			Folds:   map[string]merge.PlanFunc{"networkpolicy.Ingress": listOf(ingress), "networkpolicy.Egress": listOf(egress)}}}
}
