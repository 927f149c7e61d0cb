// Package plugins lists the built-in vendors.
package plugins

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins/agc"
	"github.com/dopolicy/kubectl-dopolicy/plugins/agentgateway"
	"github.com/dopolicy/kubectl-dopolicy/plugins/airlock"
	"github.com/dopolicy/kubectl-dopolicy/plugins/apisix"
	"github.com/dopolicy/kubectl-dopolicy/plugins/aws-lattice"
	"github.com/dopolicy/kubectl-dopolicy/plugins/aws-lbc"
	"github.com/dopolicy/kubectl-dopolicy/plugins/envoyaigateway"
	"github.com/dopolicy/kubectl-dopolicy/plugins/envoygateway"
	"github.com/dopolicy/kubectl-dopolicy/plugins/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/plugins/gke"
	"github.com/dopolicy/kubectl-dopolicy/plugins/gloo"
	"github.com/dopolicy/kubectl-dopolicy/plugins/ingressnginx"
	"github.com/dopolicy/kubectl-dopolicy/plugins/istio"
	"github.com/dopolicy/kubectl-dopolicy/plugins/kgateway"
	"github.com/dopolicy/kubectl-dopolicy/plugins/kong"
	"github.com/dopolicy/kubectl-dopolicy/plugins/kuadrant"
	"github.com/dopolicy/kubectl-dopolicy/plugins/kuma"
	"github.com/dopolicy/kubectl-dopolicy/plugins/linkerd"
	"github.com/dopolicy/kubectl-dopolicy/plugins/networkpolicy"
	"github.com/dopolicy/kubectl-dopolicy/plugins/nginx"
	"github.com/dopolicy/kubectl-dopolicy/plugins/ocm"
	"github.com/dopolicy/kubectl-dopolicy/plugins/others"
	"github.com/dopolicy/kubectl-dopolicy/plugins/traefik"
)

// All returns every built-in vendor, in the order in which their descriptors are read.
func All() []plugin.Plugin {
	return []plugin.Plugin{
		gatewayapi.Plugin(), agc.Plugin(), agentgateway.Plugin(), airlock.Plugin(), apisix.Plugin(),
		awslattice.Plugin(), awslbc.Plugin(), envoyaigateway.Plugin(),
		envoygateway.Plugin(), gke.Plugin(), gloo.Plugin(), ingressnginx.Plugin(), istio.Plugin(), kgateway.Plugin(), kong.Plugin(),
		kuadrant.Plugin(), kuma.Plugin(),
		linkerd.Plugin(), networkpolicy.Plugin(), nginx.Plugin(), ocm.Plugin(), others.Plugin(), traefik.Plugin(),
	}
}
