// Package kuma describes the policy kinds of Kuma.
package kuma

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kuma", Kinds: kinds, Gates: gateFunctions(), Points: newLayer,
		Findings: []plugin.Finding{{Rule: builtinPolicyWins, Find: findBuiltinWins}, {Rule: appendWithoutEffect,
			Find: findIdleAppends}},
		Reading: descriptor.Reading{
			Labels: map[string]policy.Labeler{"kuma.Labels": newLabeler},
			Typed:  map[string]policy.PartNormalizer{"kuma.Typed": toTyped}},
		Attaching: descriptor.Attaching{
			Links: []build.Linker{addToGraph},
			Legs: map[string]policy.PointSearch{"kuma.Proxies": newProxyFinder, "kuma.Selected": newSelectionFinder,
				"kuma.TagProxies": newTagProxyFinder, "kuma.Destinations": newDestinationFinder}},
		Merging: descriptor.Merging{
			Compare: map[string]policy.Comparator{"kuma.Reference": compareReferences,
				"kuma.Destination": compareDestinations},
			Folds: map[string]merge.PlanFunc{"kuma.Merged": foldConfs, "kuma.Items": foldItemOrder,
				"kuma.InboundRules": foldInboundRules,
				"kuma.RouteTable":   foldRouteTable, "kuma.FromTags": foldFromTags, "kuma.ToTags": foldToTags,
				"kuma.FirstRule": foldFirstRule},
			Splits: map[string]policy.Splitter{"kuma.Hostnames": newHostnameReader}}}
}

// addToGraph registers what the vendor adds to the graph, and the kinds of backends that the control
// plane makes of Services.
func addToGraph(b *build.Builder) {
	b.AddExtension(extendGraph)
	for _, kind := range []string{"MeshService", "MeshExternalService", "MeshMultiZoneService"} {
		b.AddBackendKinds(model.GroupKind{Group: group, Kind: kind})
	}
}
