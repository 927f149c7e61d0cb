// Package gatewayapi describes the policy kinds of the Gateway API itself.
package gatewayapi

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the kinds over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gatewayapi", Kinds: kinds,
		Status: status.Functions{Writers: map[string]status.Writer{"gatewayapi.BackendTLS": backendTLS, "gatewayapi.Direct": direct}}}
}
