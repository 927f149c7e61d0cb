// Package gatewayapi describes the policy kinds of the Gateway API itself.
package gatewayapi

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the Gateway API's own kinds to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gatewayapi", Kinds: kinds,
		Status: status.Functions{Writers: map[string]status.Writer{"gatewayapi.BackendTLS": backendTLSAncestors,
			"gatewayapi.Direct": directAncestors}}}
}
