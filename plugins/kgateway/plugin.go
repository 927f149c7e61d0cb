// Package kgateway describes the policy kinds of kgateway.
package kgateway

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

const (
	group      = "gateway.kgateway.dev"
	controller = "kgateway.dev/kgateway"
)

// Plugin hands the kinds over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kgateway", Kinds: kinds, Audit: proxies(), Gates: gates(),
		Findings: []plugin.Finding{{Rule: securityHint}, {Rule: ruleReplaced}, {Rule: portReplacesDefaults}},
		Reading: descriptor.Reading{
			Normalize: map[string]policy.Normalizer{"kgateway.Extensions": extensions},
			Builtins:  map[string]policy.BuiltinOf{"kgateway.Timeout": timeout, "kgateway.PathRewrite": pathRewrite, "kgateway.HostRewrite": hostRewrite, "kgateway.CORS": cors}},
		Attaching: descriptor.Attaching{
			Links:     []topology.Linker{link},
			Discovers: map[string]policy.Discovers{"kgateway.Namespaces": discovered}},
		Merging: descriptor.Merging{
			Strategies: map[string]policy.StrategyOf{"kgateway.Layers": layers, "kgateway.GatewayOnly": gatewayOnly, "kgateway.Inherited": inherited},
			Plans:      map[string]func(model.Settings) merge.PlanFunc{"kgateway.Level": level, "kgateway.Idle": idle}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"kgateway.Traffic": judge, "kgateway.Backend": judgeBackend, "kgateway.Older": older,
				"kgateway.Listener": judgeListener, "kgateway.Ignored": ignored},
			Lints: map[string]policy.Lint{"kgateway.Annotations": annotations, "kgateway.Listeners": listenerHints, "kgateway.PortDefaults": portDefaults},
			Voids: map[string]policy.Void{"kgateway.Replaced": replaced}},
		Status: status.Functions{Boards: map[string]status.Board{"kgateway.Attached": attached},
			Writers: map[string]status.Writer{"kgateway.Backends": backends}}}
}

// link tells how routes hand over to routes, and that listeners without TLS share their port.
func link(b *topology.Builder) {
	b.SharePorts(topology.SharedPorts{Controllers: []string{controller}, Protocol: "HTTP"})
	b.Delegate(topology.Delegation{Controllers: []string{controller},
		LabelGroup: "delegation.kgateway.dev", LabelKind: "label", LabelKey: "delegation.kgateway.dev/label", Everywhere: "all",
		InheritKey: "delegation.kgateway.dev/inherit-parent-matcher", Inherit: []string{"true", "yes", "enabled"}})
}
