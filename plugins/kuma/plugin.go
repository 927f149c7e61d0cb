// Package kuma describes the policy kinds of Kuma.
package kuma

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kuma", Kinds: kinds, Gates: gates(), Findings: []plugin.Finding{{Rule: builtinPolicyWins, Find: builtinWins}, {Rule: appendWithoutEffect, Find: appended}},
		Reading: descriptor.Reading{
			Labels: map[string]policy.Labeler{"kuma.Labels": labeler},
			Typed:  map[string]policy.PartNormalizer{"kuma.Typed": typed}},
		Attaching: descriptor.Attaching{
			Links: []topology.Linker{func(b *topology.Builder) { b.Extend(dataplanes) }},
			Legs:  map[string]policy.LegMaker{"kuma.Proxies": proxies, "kuma.Selected": selected, "kuma.TagProxies": tagProxies, "kuma.Destinations": destinations}},
		Merging: descriptor.Merging{
			Compare: map[string]policy.Comparator{"kuma.Reference": byReference, "kuma.Destination": byDestination},
			Folds: map[string]merge.PlanFunc{"kuma.Merged": merged, "kuma.Items": itemOrder, "kuma.InboundRules": inboundRules,
				"kuma.RouteTable": routeTable, "kuma.FromTags": fromTags, "kuma.ToTags": toTags, "kuma.FirstRule": firstRule},
			Splits: map[string]policy.Splitter{"kuma.Hostnames": hostnames}}}
}
