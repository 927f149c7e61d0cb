// Package kgateway describes the policy kinds of kgateway.
package kgateway

import (
	"embed"

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

//go:embed schemas/*/*.zip
var schemas embed.FS

const (
	group      = "gateway.kgateway.dev"
	controller = "kgateway.dev/kgateway"
)

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kgateway", Kinds: kinds, Proxies: findProxies, Schemas: schemas, Audit: proxyMapping(),
		Gates: gateFunctions(), Effects: findEffects, Equivalents: equivalents,
		Findings: []plugin.Finding{{Rule: securityHint}, {Rule: ruleReplaced}, {Rule: portReplacesDefaults}},
		Reading: descriptor.Reading{
			Normalize: map[string]policy.Normalizer{"kgateway.Extensions": setExtensionNamespaces},
			Builtins: map[string]policy.BuiltinFunc{"kgateway.Timeout": readTimeout,
				"kgateway.PathRewrite": readPathRewrite, "kgateway.HostRewrite": readHostRewrite,
				"kgateway.CORS": readCORS}},
		Attaching: descriptor.Attaching{
			Links:     []build.Linker{addToGraph},
			Discovers: map[string]policy.NamespaceDiscovery{"kgateway.Namespaces": readDiscoverySelectors}},
		Merging: descriptor.Merging{
			Strategies: map[string]policy.StrategyParser{"kgateway.Layers": newLayerStrategy,
				"kgateway.GatewayOnly": newGatewayOnlyStrategy, "kgateway.Inherited": newInheritStrategy},
			Plans: map[string]func(model.Settings) merge.PlanFunc{"kgateway.Level": newLevelPlan,
				"kgateway.Idle": newIdlePlan}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"kgateway.Traffic": checkTrafficPolicy,
				"kgateway.Backend": checkBackendPolicy, "kgateway.Older": checkOlderKind,
				"kgateway.Listener": checkListenerPolicy, "kgateway.Ignored": checkIgnoredAnnotations},
			Sites: map[string]policy.CheckMaker{"kgateway.MixedOrder": checkMixedOrder},
			Lints: map[string]policy.Lint{"kgateway.Annotations": findAnnotationProblems,
				"kgateway.Listeners": findListenerHints, "kgateway.PortDefaults": findPortDefaults},
			Voids: map[string]policy.VoidFunc{"kgateway.Replaced": explainReplaced}},
		Status: status.Functions{KindWriters: map[string]status.KindWriter{"kgateway.Attached": writeAttached},
			Writers: map[string]status.Writer{"kgateway.Backends": backendAncestors}}}
}

// addToGraph registers how routes delegate to routes, and that listeners without TLS share their
// port.
func addToGraph(b *build.Builder) {
	b.AddSharedPorts(build.SharedPorts{Controllers: []string{controller}, Protocol: "HTTP"})
	b.AddDelegation(build.Delegation{Controllers: []string{controller},
		LabelGroup: "delegation.kgateway.dev", LabelKind: "label", LabelKey: "delegation.kgateway.dev/label",
		AllNamespaces: "all",
		InheritKey:    "delegation.kgateway.dev/inherit-parent-matcher", InheritValues: []string{"true",
			"yes", "enabled"}})
	b.AddBackendKinds(model.GroupKind{Group: group, Kind: "Backend"})
	b.AddImplementation(build.Implementation{Name: "kgateway", Controllers: []string{controller},
		Refs: gatewayapi.RefReading{CoreNames: []string{"core"}}})
	b.AddGatewayObjects(build.GatewayObjects{Controllers: []string{controller},
		Classes: map[string]string{"kgateway": controller, "kgateway-waypoint": controller},
		Names:   func(gateway *model.Object, _ string) []string { return []string{gateway.Ref.Name} }})
}
