// Package awslattice describes the policy kinds of the AWS Gateway API Controller for VPC Lattice.
package awslattice

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
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

var (
	exportKind = model.GroupKind{Group: group, Kind: "ServiceExport"}
	importKind = model.GroupKind{Group: group, Kind: "ServiceImport"}
)

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "aws-lattice", Kinds: kinds, Gates: gateFunctions(),
		Reading: descriptor.Reading{
			Normalize: map[string]policy.Normalizer{"aws-lattice.OwnNamespace": dropTargetNamespace,
				"aws-lattice.ByDestination": nestUnderDestination},
			Builtins: map[string]policy.BuiltinFunc{"aws-lattice.RouteVersion": readRouteVersion,
				"aws-lattice.RouteProtocol": readRouteProtocol}},
		Attaching: descriptor.Attaching{
			Links:  []build.Linker{addToGraph},
			Attach: map[string]policy.Attacher{"aws-lattice.Exports": attachToExports},
			Path:   map[string]policy.StepFunc{"aws-lattice.OwnGateways": checkOwnGateway}},
		Merging: descriptor.Merging{Plans: map[string]func(model.Settings) merge.PlanFunc{
			"aws-lattice.NoVersion":    func(model.Settings) merge.PlanFunc { return foldWithoutVersion },
			"aws-lattice.Protocol":     func(model.Settings) merge.PlanFunc { return foldProtocol },
			"aws-lattice.Association":  func(model.Settings) merge.PlanFunc { return foldAssociation },
			"aws-lattice.Destinations": func(model.Settings) merge.PlanFunc { return foldDestinations }}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"aws-lattice.Abroad": checkNamespace,
				"aws-lattice.ServiceName":  checkServiceName,
				"aws-lattice.VersionOfTCP": checkTCPVersion},
			Lints: map[string]policy.Lint{"aws-lattice.CallOrder": findUncertainOrder}},
		Status: status.Functions{Writers: map[string]status.Writer{"aws-lattice.Conditions": policyConditions}}}
}

// addToGraph registers what the vendor adds to the graph, and how the controller reads backends: it
// looks at no group, and knows no ReferenceGrants.
func addToGraph(b *build.Builder) {
	b.AddExtension(addExports)
	b.AddBackendKinds(importKind)
	b.AddImplementation(build.Implementation{Name: "aws-lattice", Controllers: []string{controller}, Group: group,
		Refs: gatewayapi.RefReading{NoGrants: true,
			KindGroups: map[string]string{"Service": "", importKind.Kind: importKind.Group}}})
}

// addExports adds the ServiceExports, whose target groups policies are for, to the graph.
func addExports(l *build.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	for _, o := range in.OfKind(exportKind) {
		l.AddObject(topology.Backend, o)
	}
	return nil
}
