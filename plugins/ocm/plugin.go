// Package ocm describes the policies of Open Cluster Management, which a hub propagates to managed
// clusters.
package ocm

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
	return plugin.Plugin{Name: "ocm", Kinds: kinds,
		Status:  status.Functions{CustomWriters: map[string]status.CustomWriter{"ocm.Blocks": statusBlocks}},
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"ocm.Replica": toReplica}},
		Attaching: descriptor.Attaching{
			Links: []build.Linker{func(b *build.Builder) { b.AddExtension(extendGraph) }},
			Search: map[string]policy.Search{"ocm.Placed": newPlacementFinder, "ocm.Overrides": newOverrideFinder,
				"ocm.Members": newMemberFinder}},
		Merging: descriptor.Merging{Compare: map[string]policy.Comparator{"ocm.BindingsFirst": compareBindingsFirst}}}
}
