// Package gloo describes the policy kinds of Gloo Gateway with the Kubernetes Gateway API: options for routes and listeners.
package gloo

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

const (
	group       = "gateway.solo.io"
	routeOption = "RouteOption"
	controller  = "solo.io/gloo-gateway"
)

// Plugin hands the kinds over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gloo", Kinds: kinds, Gates: gates(),
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"gloo.References": references}},
		Attaching: descriptor.Attaching{
			Links:  []topology.Linker{link},
			Attach: map[string]policy.Attacher{"gloo.BehindTheGateway": behindTheGateway}},
		Merging: descriptor.Merging{Strategies: map[string]policy.StrategyOf{"gloo.ParentFirst": parentFirst}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"gloo.UnreadReferences": unreadReferences},
			Lints:  map[string]policy.Lint{"gloo.Annotations": annotations, "gloo.BesideFilters": besideFilters, "gloo.Releases": releases, "gloo.HandingOver": handingOver},
			Voids:  map[string]policy.Void{"gloo.WithoutOptions": withoutOptions}},
		Status: status.Functions{Boards: map[string]status.Board{"gloo.Statuses": statuses},
			Markers: map[string]status.Marker{"gloo.Unresolved": unresolved}}}
}

// link tells how routes hand over to routes.
func link(b *topology.Builder) {
	b.Delegate(topology.Delegation{Controllers: []string{controller},
		LabelGroup: "delegation.gateway.solo.io", LabelKind: "label", LabelKey: "delegation.gateway.solo.io/label", Everywhere: "all",
		InheritKey: "delegation.gateway.solo.io/inherit-parent-matcher", Inherit: []string{"true", "yes", "enabled"}})
}
