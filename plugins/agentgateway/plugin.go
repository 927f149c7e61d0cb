// Package agentgateway describes the policy kind of agentgateway.
package agentgateway

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

const (
	group      = "agentgateway.dev"
	controller = "agentgateway.dev/agentgateway"
)

var backendKind = model.GroupKind{Group: group, Kind: "AgentgatewayBackend"}

// Plugin hands the kind over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "agentgateway", Kinds: kinds, Gates: gates(),
		Findings: []plugin.Finding{{Rule: settingNeverRead, Find: unread}, {Rule: unexpectedPrecedence, Find: surprises}, {Rule: routeSettingOverridden}},
		Reading: descriptor.Reading{
			Normalize: map[string]policy.Normalizer{"agentgateway.Units": units},
			Builtins: map[string]policy.BuiltinOf{
				"agentgateway.RequestHeaders":  filterOf("RequestHeaderModifier", "requestHeaderModifier"),
				"agentgateway.ResponseHeaders": filterOf("ResponseHeaderModifier", "responseHeaderModifier"),
				"agentgateway.CORS":            filterOf("CORS", "cors"), "agentgateway.ExternalAuth": filterOf("ExternalAuth", "externalAuth"),
				"agentgateway.Backend": ownPolicies, "agentgateway.Part": partPolicies}},
		Attaching: descriptor.Attaching{Links: []topology.Linker{link}},
		Judging:   descriptor.Judging{Sites: map[string]policy.SiteCheck{"agentgateway.Check": check}},
		Status:    status.Functions{Boards: map[string]status.Board{"agentgateway.Attached": attached}}}
}

// link tells how routes hand over to routes, and what an AgentgatewayBackend is made of.
func link(b *topology.Builder) {
	b.Delegate(topology.Delegation{Controllers: []string{controller}, NamesLabel: true, Granted: b.Setting("agentgateway.backendRefGrantMode") != "none"})
	b.DivideBackends(backendKind, parts)
}
