// Package airlock describes the policy kinds of Airlock Microgateway. All of it is data.
package airlock

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin { return plugin.Plugin{Name: "airlock", Kinds: kinds} }
