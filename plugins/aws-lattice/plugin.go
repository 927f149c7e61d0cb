// Package awslattice describes the policy kinds of the AWS Gateway API Controller for VPC Lattice.
package awslattice

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

const (
	group      = "application-networking.k8s.aws"
	controller = "application-networking.k8s.aws/gateway-api-controller"

	targetGroupPolicy = "TargetGroupPolicy"
	vpcAssociation    = "VpcAssociationPolicy"
	accessLogPolicy   = "AccessLogPolicy"
)

var exportKind = model.GroupKind{Group: group, Kind: "ServiceExport"}

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "aws-lattice", Kinds: kinds, Gates: gates(),
		Reading: descriptor.Reading{
			Normalize: map[string]policy.Normalizer{"aws-lattice.OwnNamespace": ownNamespace, "aws-lattice.ByDestination": byDestination},
			Builtins:  map[string]policy.BuiltinOf{"aws-lattice.RouteVersion": routeVersion, "aws-lattice.RouteProtocol": routeProtocol}},
		Attaching: descriptor.Attaching{
			Links:  []topology.Linker{func(b *topology.Builder) { b.Extend(addExports) }},
			Attach: map[string]policy.Attacher{"aws-lattice.Exports": exports},
			Path:   map[string]policy.Step{"aws-lattice.OwnGateways": ownGateways}},
		Merging: descriptor.Merging{Plans: map[string]func(model.Settings) merge.PlanFunc{
			"aws-lattice.NoVersion":    func(model.Settings) merge.PlanFunc { return noVersion },
			"aws-lattice.Protocol":     func(model.Settings) merge.PlanFunc { return protocol },
			"aws-lattice.Association":  func(model.Settings) merge.PlanFunc { return association },
			"aws-lattice.Destinations": func(model.Settings) merge.PlanFunc { return destinations }}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"aws-lattice.Abroad": abroad, "aws-lattice.ServiceName": serviceName,
				"aws-lattice.VersionOfTCP": versionOfTCP},
			Lints: map[string]policy.Lint{"aws-lattice.CallOrder": callOrder}},
		Status: status.Functions{Writers: map[string]status.Writer{"aws-lattice.Conditions": conditions}}}
}

// addExports adds the ServiceExports, whose target groups policies are for, to the graph.
func addExports(l *topology.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	for _, o := range in.Of(exportKind) {
		l.Add(topology.Backend, o)
	}
	return nil
}
