// Package envoygateway describes the policy kinds of Envoy Gateway.
package envoygateway

import (
	"embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
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

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "envoygateway", Kinds: kinds, Proxies: findProxies, Schemas: schemas,
		Findings: []plugin.Finding{{Rule: mergeWithoutParent,
			Find: findMergeProblems}, {Rule: mergeSkipsRoute}}, Audit: proxyMapping(), Gates: gateFunctions(),
		Effects: findEffects, Equivalents: equivalents,
		Reading: descriptor.Reading{
			Auto:      map[string]descriptor.AutoFunc{"envoygateway.PatchPolicies": choosePatchPolicies},
			Normalize: map[string]policy.Normalizer{"envoygateway.Typed": toTyped}},
		Attaching: descriptor.Attaching{Links: []build.Linker{addToGraph},
			Path: map[string]policy.StepFunc{"envoygateway.ListenerTaken": checkListenerStep}},
		Merging: descriptor.Merging{Plans: planFunctions()},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"envoygateway.LuaDisabled": checkLuaDisabled,
				"envoygateway.BackendTLSInvalid": checkBackendTLS,
				"envoygateway.SecurityInvalid":   checkSecurity, "envoygateway.RoutingTypeMissed": checkRoutingType},
			Sites: map[string]policy.CheckMaker{"envoygateway.SamePort": checkSamePort},
			Lints: map[string]policy.Lint{"envoygateway.SameName": findSameNames}},
		Status: status.Functions{KindWriters: map[string]status.KindWriter{"envoygateway.Conditions": routeConditions,
			"envoygateway.ClientConditions": clientConditions, "envoygateway.PatchConditions": patchConditions,
			"envoygateway.TLSConditions": backendTLSConditions},
			Revisers: []status.Reviser{reviseRoutes}}}
}

// addToGraph registers what the controller does at its Gateways.
func addToGraph(b *build.Builder) {
	b.DefineNumberedPorts(backendKind)
	b.AddBackendKinds(backendKind)
	b.AddImplementation(build.Implementation{Name: "envoygateway",
		Controllers: []string{b.Setting("envoygateway.controllerName")}, Group: policyGroup,
		ExclusiveHostnames: true, TCPOverTLS: true, RefusesWrongKinds: true, TakesSetsAlways: true,
		NoStatusOnSets: true, NoneWinsInSet: true, NeedsCertificates: true, MergesGateways: isMerged, JudgesBackends: newBackendJudge,
		ReadsFilters: newFilterReader})
	b.AddGatewayObjects(build.GatewayObjects{Controllers: []string{b.Setting("envoygateway.controllerName")},
		Names: nameInGatewayNamespace, Elsewhere: nameInOwnNamespace})
	b.AddMaker(findNamedByProxies)
}

// planFunctions are the functions that resolve policies.
func planFunctions() map[string]func(model.Settings) merge.PlanFunc {
	out := clientPlans()
	out["envoygateway.RoutingType"] = newRoutingTypePlan
	out["envoygateway.RateLimit"] = newRateLimitPlan
	out["envoygateway.Connections"] = newConnectionPlan
	out["envoygateway.TCPAuthorization"] = newTCPAuthorizationPlan
	return out
}
