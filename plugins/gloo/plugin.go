// Package gloo describes the policy kinds of Gloo Gateway with the Kubernetes Gateway API: options for routes and listeners.
package gloo

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

const controller = "solo.io/gloo-gateway"

// Plugin hands the kinds over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gloo", Kinds: kinds,
		Functions: policy.Functions{
			Strategies: map[string]policy.StrategyOf{"gloo.ParentFirst": parentFirst},
			Links:      []topology.Linker{link}}}
}

// link tells how routes hand over to routes.
func link(b *topology.Builder) {
	b.Delegate(topology.Delegation{Controllers: []string{controller},
		LabelGroup: "delegation.gateway.solo.io", LabelKind: "label", LabelKey: "delegation.gateway.solo.io/label", Everywhere: "all",
		InheritKey: "delegation.gateway.solo.io/inherit-parent-matcher", Inherit: []string{"true", "yes", "enabled"}})
}
