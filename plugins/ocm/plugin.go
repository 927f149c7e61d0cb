// Package ocm describes the policies of Open Cluster Management, which a hub propagates to managed clusters.
package ocm

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

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "ocm", Kinds: kinds, Status: status.Functions{Blocks: map[string]status.Blocks{"ocm.Blocks": blocks}},
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"ocm.Replica": replica}},
		Attaching: descriptor.Attaching{
			Links:  []topology.Linker{func(b *topology.Builder) { b.Extend(clusters) }},
			Search: map[string]policy.Search{"ocm.Placed": placed, "ocm.Overrides": overrides, "ocm.Members": members}},
		Merging: descriptor.Merging{Compare: map[string]policy.Comparator{"ocm.BindingsFirst": bindingsFirst}}}
}
