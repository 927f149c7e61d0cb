// Package gke describes the policy kinds of GKE Gateway. All of it is data.
package gke

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin { return plugin.Plugin{Name: "gke", Kinds: kinds} }
