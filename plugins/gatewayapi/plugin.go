// Package gatewayapi describes the policy kinds of the Gateway API itself.
package gatewayapi

import (
	"embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

// Plugin describes the Gateway API's own kinds to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gatewayapi", Kinds: kinds, Schemas: schemas,
		Status: status.Functions{Writers: map[string]status.Writer{"gatewayapi.BackendTLS": backendTLSAncestors,
			"gatewayapi.Direct": directAncestors}}}
}
