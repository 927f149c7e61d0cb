// Package istio describes the policy kinds of Istio.
package istio

import (
	"embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/plugins/istio/authorization"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "istio", Kinds: kinds, Schemas: schemas,
		RequestWords: map[string]plugin.WordFunc{"istio.PathNormalization": findPathNormalization},
		Audit:        proxyMapping(),
		Status: status.Functions{KindWriters: map[string]status.KindWriter{
			"istio.CoreConditions": gatewayAPIAncestors, "istio.WaypointAccepted": waypointAncestors}},
		Evaluators: evaluate.Evaluators{"istio.Authorize": authorization.Evaluate},
		Points:     newLayer,
		Proxies:    findProxies,
		Gates: protect.Functions{"istio.Rules": authorization.NewRuleGates(failsOpen),
			"istio.Tokens": authorization.BuildTokenGates, "istio.Peers": buildPeerGate},
		Attaching: descriptor.Attaching{
			Links: []build.Linker{addToGraph},
			Legs: map[string]policy.PointSearch{"istio.Attached": newLegMaker(excludeZtunnel(findAttached)),
				"istio.Asked": newLegMaker(findAuthorized), "istio.Peers": newLegMaker(findPeers),
				"istio.Configured": newLegMaker(excludeZtunnel(findConfigured)),
				"istio.Filtered":   newLegMaker(excludeZtunnel(findPatched)), "istio.Extended": newLegMaker(
					excludeZtunnel(findExtended)), "istio.Observed": newLegMaker(excludeZtunnel(findObserved)),
				"istio.Destinations": newDestinationFinder}},
		Merging: descriptor.Merging{
			Compare: map[string]policy.Comparator{"istio.NameFirst": compareDottedNames},
			Situations: map[string]policy.SituationMaker{"istio.Authorization": newSituator(authorizationSituation),
				"istio.Authentication": newSituator(authenticationSituation),
				"istio.MutualTLS":      newSituator(peerSituation), "istio.Configuration": newSituator(
					proxyConfigSituation), "istio.Patching": newSituator(patchSituation),
				"istio.Extensions": newSituator(extensionSituation), "istio.Telemetry": newSituator(
					telemetrySituation), "istio.Destination": newDestinationSituator}},
		Judging: descriptor.Judging{Checks: map[string]policy.Check{"istio.OptedOut": checkOptOut}}}
}

// hostnameKind is that of backends which name a host of the mesh. There are no objects of it.
var hostnameKind = model.GroupKind{Group: "networking.istio.io", Kind: "Hostname"}

// addToGraph registers what the vendor adds to the graph, and what its Gateways take.
func addToGraph(b *build.Builder) {
	b.AddExtension(extendGraph)
	b.AddImplementation(build.Implementation{Name: "istio", Controllers: []string{"istio.io/gateway-controller",
		"istio.io/unmanaged-gateway"}, TCPOverTLS: true})
	b.AddBackendKinds(hostnameKind)
	b.AddForeignHosts(func(backend model.Ref) bool { return backend.GroupKind() == hostnameKind })
	b.AddGatewayObjects(gatewayObjects)
}
