// Package kuadrant describes the policy kinds of Kuadrant.
package kuadrant

import (
	_ "embed" // kinds.yaml

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

//go:embed kinds.yaml
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin { return plugin.Plugin{Name: "kuadrant", Kinds: kinds} }
