// Package plugins lists the built-in vendors.
package plugins

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins/agentgateway"
	"github.com/dopolicy/kubectl-dopolicy/plugins/envoygateway"
	"github.com/dopolicy/kubectl-dopolicy/plugins/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/plugins/gloo"
	"github.com/dopolicy/kubectl-dopolicy/plugins/istio"
	"github.com/dopolicy/kubectl-dopolicy/plugins/kgateway"
	"github.com/dopolicy/kubectl-dopolicy/plugins/kuadrant"
	"github.com/dopolicy/kubectl-dopolicy/plugins/kuma"
	"github.com/dopolicy/kubectl-dopolicy/plugins/linkerd"
	"github.com/dopolicy/kubectl-dopolicy/plugins/networkpolicy"
	"github.com/dopolicy/kubectl-dopolicy/plugins/nginx"
	"github.com/dopolicy/kubectl-dopolicy/plugins/ocm"
	"github.com/dopolicy/kubectl-dopolicy/plugins/others"
)

// All is every built-in vendor, in the order in which their descriptors are read.
func All() []plugin.Plugin {
	return []plugin.Plugin{gatewayapi.Plugin(), agentgateway.Plugin(), envoygateway.Plugin(), gloo.Plugin(), istio.Plugin(), kgateway.Plugin(), kuadrant.Plugin(), kuma.Plugin(), linkerd.Plugin(), networkpolicy.Plugin(), nginx.Plugin(), ocm.Plugin(), others.Plugin()}
}
