// Package gloo describes the policy kinds of Gloo Gateway with the Kubernetes Gateway API: options
// for routes and listeners.
package gloo

import (
	"embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

const (
	group       = "gateway.solo.io"
	routeOption = "RouteOption"
	controller  = "solo.io/gloo-gateway"
)

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gloo", Kinds: kinds, Schemas: schemas, Gates: gateFunctions(),
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"gloo.References": limitTargetRefs}},
		Attaching: descriptor.Attaching{
			Links:  []build.Linker{addToGraph},
			Attach: map[string]policy.Attacher{"gloo.BehindTheGateway": attachToListenerSets}},
		Merging: descriptor.Merging{Strategies: map[string]policy.StrategyParser{
			"gloo.ParentFirst": newParentFirstStrategy}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"gloo.UnreadReferences": checkUnreadTargetRefs},
			Lints: map[string]policy.Lint{"gloo.Annotations": findIdleAnnotations,
				"gloo.BesideFilters": findFilterOverlaps, "gloo.Releases": findReleaseProblems,
				"gloo.HandingOver": findDelegatingRules},
			Voids: map[string]policy.VoidFunc{"gloo.WithoutOptions": explainWithoutOptions}},
		Status: status.Functions{KindWriters: map[string]status.KindWriter{"gloo.Statuses": optionStatuses},
			Markers: map[string]status.Marker{"gloo.Unresolved": markUnresolved}}}
}

// addToGraph registers how routes delegate to routes.
func addToGraph(b *build.Builder) {
	b.AddDelegation(build.Delegation{Controllers: []string{controller},
		LabelGroup: "delegation.gateway.solo.io", LabelKind: "label", LabelKey: "delegation.gateway.solo.io/label",
		AllNamespaces: "all",
		InheritKey:    "delegation.gateway.solo.io/inherit-parent-matcher", InheritValues: []string{"true",
			"yes", "enabled"}})
	b.AddBackendKinds(model.GroupKind{Group: "gloo.solo.io", Kind: "Upstream"})
	b.AddGatewayObjects(build.GatewayObjects{Controllers: []string{controller},
		Classes: map[string]string{"gloo-gateway": controller},
		Names:   func(gateway *model.Object, _ string) []string { return []string{"gloo-proxy-" + gateway.Ref.Name} }})
}
