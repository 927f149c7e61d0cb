// Package istio describes the policy kinds of Istio.
package istio

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "istio", Kinds: kinds,
		Functions: policy.Functions{Links: []topology.Linker{func(b *topology.Builder) { b.Extend(proxies) }},
			ScopeFunctions: policy.ScopeFunctions{
				Legs:       map[string]policy.LegMaker{"istio.Attached": leg(attached)},
				Situations: map[string]policy.Situator{"istio.Authorization": situator(authorization)},
			}}}
}
