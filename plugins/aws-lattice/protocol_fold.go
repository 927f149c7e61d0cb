package awslattice

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// readRouteVersion is the protocol version that a route prescribes.
func readRouteVersion(n *topology.Node) (any, []string) {
	if n.Ref.Kind == "GRPCRoute" {
		return "GRPC", []string{"kind"}
	}
	return nil, nil
}

// readRouteProtocol is the protocol that a route prescribes.
func readRouteProtocol(n *topology.Node) (any, []string) {
	if n.Ref.Kind == "TLSRoute" {
		return "TCP", []string{"kind"}
	}
	return nil, nil
}

// foldProtocol is the protocol of a target group with its version, which TCP has none of.
func foldProtocol(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	tcp := false
	for _, u := range listUnits(s) {
		tcp = tcp || u.Path[0].Name == "protocol" && merge.Unpack(u.Value) == "TCP"
	}
	return filterUnits(s, func(u merge.Unit) bool { return !tcp || u.Path[0].Name != "protocolVersion" })
}

// foldWithoutVersion leaves out the version of a protocol behind a TLSRoute, which prescribes TCP.
func foldWithoutVersion(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	return filterUnits(s, func(merge.Unit) bool { return false })
}

// foldAssociation is what a VpcAssociationPolicy does; one that ends the association has no
// security groups.
func foldAssociation(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	ends := false
	for _, u := range listUnits(s) {
		ends = ends || len(u.Path) > 0 && u.Path[0].Name == "associateWithVpc" && merge.Unpack(u.Value) == false
	}
	return filterUnits(s, func(u merge.Unit) bool {
		return !ends || len(u.Path) == 0 ||
			u.Path[0].Name != "securityGroupIds"
	})
}

// foldDestinations are the destinations of all policies of a target; the only one stands as it is
// written.
func foldDestinations(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	units, effects := filterUnits(s, func(merge.Unit) bool { return true })
	if len(units) == 1 && len(units[0].Path) == 2 {
		effects[0].Action = merge.Renamed
		units[0].Path = units[0].Path[:1]
		effects = append(effects, newEffect(units[0], merge.Taken))
	}
	return units, effects
}

func listUnits(s merge.Stack) []merge.Unit {
	var out []merge.Unit
	for _, l := range s.Layers {
		for _, b := range l.Blocks {
			if b.Strategy.Func == nil { // else the policy is in error here
				out = append(out, b.Units...)
			}
		}
	}
	return out
}

// filterUnits is the units that count; the others play no part.
func filterUnits(s merge.Stack, counts func(merge.Unit) bool) ([]merge.Unit, []merge.Effect) {
	var units []merge.Unit
	var effects []merge.Effect
	for _, l := range s.Layers {
		for _, b := range l.Blocks {
			if b.Strategy.Func != nil {
				_, lost := b.Strategy.Func(b.Units, nil)
				effects = append(effects, lost...)
			}
		}
	}
	for _, u := range listUnits(s) {
		if counts(u) {
			units, effects = append(units, u), append(effects, newEffect(u, merge.Taken))
			continue
		}
		e := newEffect(u, merge.Dropped)
		e.Reason = merge.Ignored
		effects = append(effects, e)
	}
	return units, effects
}

func newEffect(u merge.Unit, o merge.Action) merge.Effect {
	return merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o}
}

// findUncertainOrder reports AccessLogPolicies of one age that want one type of destination: which
// of them AWS hears of first is chance.
func findUncertainOrder(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		first := map[string]policy.Attached{}
		for _, a := range at(id) {
			what := parseDestinationType(a.Policy.Object.Text("spec", "destinationArn"))
			b, met := first[what]
			switch {
			case !met:
				first[what] = a
			case b.Policy.Object.Created.Equal(a.Policy.Object.Created) && !a.Policy.Object.Created.IsZero():
				out = append(out, model.Problem{Severity: model.Warning, Code: model.OrderUncertain,
					Message: fmt.Sprintf(
						"%s and %s are of one age and send logs of %s to the same type of destination (%s): the one that AWS hears of first stays, here the first by name",
						b.Policy.Ref(), a.Policy.Ref(), g.Node(id).Ref, what)}.At(a.Policy.Object, "spec",
					"destinationArn"))
			}
		}
	}
	return out
}
