// Package envoygateway describes the policy kinds of Envoy Gateway.
package envoygateway

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "envoygateway", Kinds: kinds, Findings: []plugin.Finding{{Rule: mergeWithoutParent, Find: merging}, {Rule: mergeSkipsRoute}}, Audit: proxies(), Gates: gates(),
		Reading:   descriptor.Reading{Normalize: map[string]policy.Normalizer{"envoygateway.Typed": typed}},
		Attaching: descriptor.Attaching{Links: []topology.Linker{link}},
		Merging:   descriptor.Merging{Plans: plans()},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"envoygateway.LuaDisabled": luaDisabled,
				"envoygateway.SecurityInvalid": securityInvalid, "envoygateway.RoutingTypeMissed": routingTypeMissed},
			Sites: map[string]policy.SiteCheck{"envoygateway.SamePort": samePort},
			Lints: map[string]policy.Lint{"envoygateway.SameName": sameName}},
		Status: status.Functions{Boards: map[string]status.Board{"envoygateway.Conditions": conditions,
			"envoygateway.ClientConditions": clientConditions, "envoygateway.PatchConditions": patchConditions, "envoygateway.TLSConditions": tlsConditions}}}
}

// link tells what the controller does at its Gateways.
func link(b *topology.Builder) {
	b.NumberPorts(backendKind)
	b.Implement(topology.Implementation{Name: "envoygateway", Controllers: []string{b.Setting("envoygateway.controllerName")}, Group: policyGroup,
		OwnHosts: true, TCPOverTLS: true, WholeKinds: true, OpenToSets: true, SilentOnSets: true, NoneWinsInSet: true})
}

// plans are the functions that resolve policies.
func plans() map[string]func(model.Settings) merge.PlanFunc {
	out := clientPlans()
	out["envoygateway.RoutingType"] = routingType
	out["envoygateway.RateLimit"] = rateLimit
	out["envoygateway.TCPAuthorization"] = tcpAuthorization
	return out
}
