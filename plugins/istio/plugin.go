// Package istio describes the policy kinds of Istio.
package istio

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "istio", Kinds: kinds, Words: map[string]plugin.Word{"istio.PathNormalization": pathNormalization}, Audit: gatewayProxies(),
		Status:     status.Functions{Boards: map[string]status.Board{"istio.CoreConditions": coreConditions, "istio.WaypointAccepted": waypointAccepted}},
		Evaluators: request.Evaluators{"istio.Authorize": authorized}, Gates: gates(),
		Attaching: descriptor.Attaching{
			Links: []topology.Linker{link},
			Legs: map[string]policy.LegMaker{"istio.Attached": leg(proxied(attached)), "istio.Asked": leg(asked), "istio.Peers": leg(peers), "istio.Configured": leg(proxied(configured)),
				"istio.Filtered": leg(proxied(filtered)), "istio.Extended": leg(proxied(extended)), "istio.Observed": leg(proxied(observed)), "istio.Destinations": destinations}},
		Merging: descriptor.Merging{
			Compare: map[string]policy.Comparator{"istio.NameFirst": byDottedName},
			Situations: map[string]policy.Situator{"istio.Authorization": situator(authorization), "istio.Authentication": situator(authentication),
				"istio.MutualTLS": situator(mutualTLS), "istio.Configuration": situator(configuration), "istio.Patching": situator(patching),
				"istio.Extensions": situator(extensions), "istio.Telemetry": situator(telemetry), "istio.Destination": destination}},
		Judging: descriptor.Judging{Checks: map[string]policy.Check{"istio.OptedOut": optedOut}}}
}

// link tells what the vendor adds to the graph, and what its Gateways take.
func link(b *topology.Builder) {
	b.Extend(proxies)
	b.Implement(topology.Implementation{Name: "istio", Controllers: []string{"istio.io/gateway-controller", "istio.io/unmanaged-gateway"}, TCPOverTLS: true})
}
