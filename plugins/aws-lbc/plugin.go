// Package awslbc describes the configurations of the AWS Load Balancer Controller for the Gateway
// API.
package awslbc

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

const (
	name         = "aws-lbc"
	group        = "gateway.k8s.aws"
	gatewayGroup = "gateway.networking.k8s.io"
)

var (
	loadBalancerConfiguration = model.GroupKind{Group: group, Kind: "LoadBalancerConfiguration"}
	targetGroupConfiguration  = model.GroupKind{Group: group, Kind: "TargetGroupConfiguration"}
	listenerRuleConfiguration = model.GroupKind{Group: group, Kind: "ListenerRuleConfiguration"}
)

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: name, Kinds: kinds, Gates: gateFunctions(),
		Reading: descriptor.Reading{
			Normalize: map[string]policy.Normalizer{"aws-lbc.Reference": normalizeReference},
			Entries:   map[string]policy.EntryFunc{"aws-lbc.EntryFor": findEntry}},
		Attaching: descriptor.Attaching{Links: []build.Linker{func(b *build.Builder) {
			b.AddImplementation(build.Implementation{Name: name, Group: group,
				Controllers: []string{"gateway.k8s.aws/alb", "gateway.k8s.aws/nlb"}, Backends: []model.GroupKind{
					{Group: gatewayGroup, Kind: "Gateway"}}})
		}}},
		Merging: descriptor.Merging{Plans: map[string]func(model.Settings) merge.PlanFunc{
			"aws-lbc.Listeners": func(model.Settings) merge.PlanFunc { return foldListeners },
			"aws-lbc.Alone":     func(model.Settings) merge.PlanFunc { return foldSingle },
			"aws-lbc.Defaults":  func(model.Settings) merge.PlanFunc { return foldDefaults }}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"aws-lbc.GatewayAsBackend": checkGatewayBackend},
			Lints:  map[string]policy.Lint{"aws-lbc.Listeners": findUnusedEntries, "aws-lbc.Twice": findDuplicates},
			Voids: map[string]policy.VoidFunc{"aws-lbc.Unreconciled": explainUnreconciled,
				"aws-lbc.OneConfiguration": explainUnanswered}}}
}
