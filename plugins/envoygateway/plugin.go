// Package envoygateway describes the policy kinds of Envoy Gateway.
package envoygateway

import (
	_ "embed" // kinds.yaml

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

//go:embed kinds.yaml
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "envoygateway", Kinds: kinds,
		Status: status.Functions{Boards: map[string]status.Board{"envoygateway.Conditions": conditions}}}
}
