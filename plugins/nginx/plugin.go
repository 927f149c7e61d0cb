// Package nginx describes the policy kinds of NGINX Gateway Fabric.
package nginx

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

//go:embed kinds.json
var kinds []byte

const (
	group        = "gateway.nginx.org"
	gatewayGroup = "gateway.networking.k8s.io"
	controller   = "gateway.nginx.org/nginx-gateway-controller"
)

var grantKind = model.GroupKind{Group: gatewayGroup, Kind: "ReferenceGrant"}

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "nginx", Kinds: kinds, Proxies: findProxies, Gates: gateFunctions(), Effects: findEffects, Equivalents: equivalents,
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"nginx.CoreGroup": normalizeCoreGroup,
			"nginx.Named": nestUnderName}},
		Attaching: descriptor.Attaching{Links: []build.Linker{addToGraph}, Steps: map[string]policy.StepMaker{"nginx.Valid": newStepCheck},
			Attach:   map[string]policy.Attacher{"nginx.OtherGateways": attachToOtherGateways},
			Contests: map[string]policy.ContestMaker{"nginx.Contest": newContest}},
		Merging: descriptor.Merging{Plans: map[string]func(model.Settings) merge.PlanFunc{
			"nginx.DryRun":   func(model.Settings) merge.PlanFunc { return foldDryRun },
			"nginx.Limits":   func(model.Settings) merge.PlanFunc { return foldLimits },
			"nginx.Snippets": func(model.Settings) merge.PlanFunc { return foldSnippets }}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"nginx.Buffers": checkBuffers, "nginx.Methods": checkBalancingMethod},
			Sites: map[string]policy.CheckMaker{"nginx.Overlap": checkOverlap, "nginx.Proxy": checkProxy,
				"nginx.Backends": checkProcessorBackends, "nginx.Groups": checkServiceGroups,
				"nginx.Unused": checkUnusedServices},
			Lints: map[string]policy.Lint{"nginx.LimitsInferred": findInferredLimits,
				"nginx.GroupsApart": findGroupsApart}},
		Status: status.Functions{KindWriters: map[string]status.KindWriter{"nginx.Conditions": policyStatuses},
			Markers: map[string]status.Marker{"nginx.Marks": affectedConditions}, Revisers: []status.Reviser{reviseObjects}}}
}

// addToGraph registers that the controller takes core as the name of the group without one, and what
// it makes for Gateways: the Service and the workload, called GATEWAY-CLASS.
func addToGraph(b *build.Builder) {
	b.AddImplementation(build.Implementation{Name: "nginx", Controllers: []string{controller},
		IsolatesHostnames: true, RefusesWrongKinds: true, TakesSetsAlways: true,
		Refs: gatewayapi.RefReading{CoreNames: []string{"core"}}, ReadsFilters: newFilterReader})
	b.AddGatewayObjects(build.GatewayObjects{Controllers: []string{controller},
		Classes: map[string]string{"nginx": controller},
		Names: func(gateway *model.Object, _ string) []string {
			return []string{gateway.Ref.Name + "-" + gateway.Text("spec", "gatewayClassName")}
		}})
}
