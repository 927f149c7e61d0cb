// Package airlock describes the policy kinds of Airlock Microgateway. All of it is data.
package airlock

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin { return plugin.Plugin{Name: "airlock", Kinds: kinds} }
