// Package networkpolicy describes the policy kinds of the Network Policy API, and the
// NetworkPolicies that stand between them.
package networkpolicy

import (
	"embed"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "networkpolicy", Kinds: kinds, Schemas: schemas,
		Types:  map[string]any{"NetworkPolicy.networking.k8s.io": networkingv1.NetworkPolicy{}},
		Points: newLayer,
		Reading: descriptor.Reading{Typed: map[string]policy.PartNormalizer{
			"networkpolicy.OfIngress": newPartNormalizer(ingress), "networkpolicy.OfEgress": newPartNormalizer(egress),
			"networkpolicy.IsolatesIngress": newPartNormalizer(ingress),
			"networkpolicy.IsolatesEgress":  newPartNormalizer(egress)}},
		Attaching: descriptor.Attaching{
			Links:  []build.Linker{func(b *build.Builder) { b.AddExtension(findProblems) }},
			Attach: map[string]policy.Attacher{"networkpolicy.Pods": attachToPods}},
		Merging: descriptor.Merging{
			Compare: map[string]policy.Comparator{"networkpolicy.Tier": compareTiers,
				"networkpolicy.Priority": comparePriorities},
			Folds: map[string]merge.PlanFunc{"networkpolicy.Ingress": newListPlan(ingress),
				"networkpolicy.Egress": newListPlan(egress)}}}
}
