// Package kong describes what the Kong Ingress Controller attaches to routes and Services of the
// Gateway API.
package kong

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
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
	group            = "configuration.konghq.com"
	controller       = "konghq.com/kic-gateway-controller"
	operator         = "konghq.com/gateway-operator" // the Kong Operator, which runs the same translation
	pluginsOf        = "konghq.com/plugins"
	upstreamPolicyOf = "konghq.com/upstream-policy"
	bindingKind      = "KongPluginBinding"
)

// controllers are the controllerNames of the classes whose Gateways Kong runs.
var controllers = []string{controller, operator}

var (
	pluginKind        = model.GroupKind{Group: group, Kind: "KongPlugin"}
	clusterPluginKind = model.GroupKind{Group: group, Kind: "KongClusterPlugin"}
	consumerKind      = model.GroupKind{Group: group, Kind: "KongConsumer"}
)

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kong", Kinds: kinds, Gates: gateFunctions(),
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"kong.ByType": nestUnderType}},
		Attaching: descriptor.Attaching{Links: []build.Linker{addToGraph}, Search: map[string]policy.Search{
			"kong.ClusterPlugins": newClusterPluginFinder}},
		Judging: descriptor.Judging{
			Sites: map[string]policy.CheckMaker{"kong.Mixed": checkMixedBackends},
			Lints: map[string]policy.Lint{"kong.Duplicates": findDuplicates}},
		Status: status.Functions{Writers: map[string]status.Writer{"kong.Ancestors": upstreamAncestors}}}
}

// addToGraph registers that the controller takes core as the name of the group without one, and what
// to say of plugins of consumers.
func addToGraph(b *build.Builder) {
	b.AddExtension(findPluginsApart)
	b.AddImplementation(build.Implementation{Name: "kong", Controllers: controllers,
		Refs: gatewayapi.RefReading{CoreNames: []string{"core"}}})
}
