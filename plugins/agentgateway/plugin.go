// Package agentgateway describes the policy kind of agentgateway.
package agentgateway

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

const (
	group      = "agentgateway.dev"
	controller = "agentgateway.dev/agentgateway"
)

var backendKind = model.GroupKind{Group: group, Kind: "AgentgatewayBackend"}

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "agentgateway", Kinds: kinds, Gates: gateFunctions(),
		Findings: []plugin.Finding{{Rule: settingNeverRead, Find: findUnreadSettings}, {Rule: unexpectedPrecedence,
			Find: findSurprisingLosses}, {Rule: routeSettingOverridden}},
		Reading: descriptor.Reading{
			Normalize: map[string]policy.Normalizer{"agentgateway.Units": normalizePolicy},
			Builtins: map[string]policy.BuiltinFunc{
				"agentgateway.RequestHeaders":  newFilterReader("RequestHeaderModifier", "requestHeaderModifier"),
				"agentgateway.ResponseHeaders": newFilterReader("ResponseHeaderModifier", "responseHeaderModifier"),
				"agentgateway.CORS": newFilterReader("CORS",
					"cors"), "agentgateway.ExternalAuth": newFilterReader("ExternalAuth", "externalAuth"),
				"agentgateway.Backend": readOwnPolicies, "agentgateway.Part": readPartPolicies}},
		Merging: descriptor.Merging{Compare: map[string]policy.Comparator{
			"agentgateway.Key": newTieBreaker(compareKeys), "agentgateway.Creation": newTieBreaker(compareCreation)}},
		Attaching: descriptor.Attaching{Links: []build.Linker{addToGraph}},
		Judging:   descriptor.Judging{Sites: map[string]policy.CheckMaker{"agentgateway.Check": checkPolicy}},
		Status: status.Functions{KindWriters: map[string]status.KindWriter{
			"agentgateway.Attached": writeConditions}}}
}

// addToGraph registers how routes delegate to routes, and what an AgentgatewayBackend is made of.
func addToGraph(b *build.Builder) {
	b.AddDelegation(build.Delegation{Controllers: []string{controller}, NamesLabel: true,
		NeedsGrant: b.Setting("agentgateway.backendRefGrantMode") != "none"})
	b.DefineBackendSections(backendKind, listPartNames)
	b.AddBackendKinds(backendKind)
	b.AddGatewayObjects(build.GatewayObjects{Controllers: []string{controller},
		Classes: map[string]string{"agentgateway": controller},
		Names:   func(gateway *model.Object, _ string) []string { return []string{gateway.Ref.Name} }})
}
