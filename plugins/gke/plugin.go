// Package gke describes the policy kinds of GKE Gateway. All of it is data.
package gke

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin { return plugin.Plugin{Name: "gke", Kinds: kinds} }
