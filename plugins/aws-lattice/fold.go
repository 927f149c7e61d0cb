package awslattice

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// routeVersion is the protocol version that a route prescribes.
func routeVersion(n *topology.Node) (any, []string) {
	if n.Ref.Kind == "GRPCRoute" {
		return "GRPC", []string{"kind"}
	}
	return nil, nil
}

// routeProtocol is the protocol that a route prescribes.
func routeProtocol(n *topology.Node) (any, []string) {
	if n.Ref.Kind == "TLSRoute" {
		return "TCP", []string{"kind"}
	}
	return nil, nil
}

// protocol is the protocol of a target group with its version, which TCP has none of.
func protocol(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	tcp := false
	for _, u := range unitsOf(s) {
		tcp = tcp || u.Path[0].Name == "protocol" && merge.Plain(u.Value) == "TCP"
	}
	return pick(s, func(u merge.Unit) bool { return !tcp || u.Path[0].Name != "protocolVersion" })
}

// noVersion leaves out the version of a protocol behind a TLSRoute, which prescribes TCP.
func noVersion(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	return pick(s, func(merge.Unit) bool { return false })
}

// association is what a VpcAssociationPolicy does; one that ends the association has no security groups.
func association(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	ends := false
	for _, u := range unitsOf(s) {
		ends = ends || len(u.Path) > 0 && u.Path[0].Name == "associateWithVpc" && merge.Plain(u.Value) == false
	}
	return pick(s, func(u merge.Unit) bool { return !ends || len(u.Path) == 0 || u.Path[0].Name != "securityGroupIds" })
}

// destinations are the destinations of all policies of a target; the only one stands as it is written.
func destinations(s merge.Stack) ([]merge.Unit, []merge.Effect) {
	units, effects := pick(s, func(merge.Unit) bool { return true })
	if len(units) == 1 && len(units[0].Path) == 2 {
		effects[0].Action = merge.Renamed
		units[0].Path = units[0].Path[:1]
		effects = append(effects, effect(units[0], merge.Taken))
	}
	return units, effects
}

func unitsOf(s merge.Stack) []merge.Unit {
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

// pick is the units that count; the others play no part.
func pick(s merge.Stack, counts func(merge.Unit) bool) ([]merge.Unit, []merge.Effect) {
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
	for _, u := range unitsOf(s) {
		if counts(u) {
			units, effects = append(units, u), append(effects, effect(u, merge.Taken))
			continue
		}
		e := effect(u, merge.Dropped)
		e.Reason = merge.Ignored
		effects = append(effects, e)
	}
	return units, effects
}

func effect(u merge.Unit, o merge.Action) merge.Effect {
	return merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o}
}

// callOrder reports AccessLogPolicies of one age that want one type of destination: which of them AWS hears of first is chance.
func callOrder(_ *policy.Kind, g *topology.Graph, at policy.At) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		first := map[string]policy.Attached{}
		for _, a := range at(id) {
			what := destinationType(a.Policy.Object.Text("spec", "destinationArn"))
			b, met := first[what]
			switch {
			case !met:
				first[what] = a
			case b.Policy.Object.Created.Equal(a.Policy.Object.Created) && !a.Policy.Object.Created.IsZero():
				out = append(out, model.Problem{Severity: model.Warning, Code: model.OrderUncertain, Message: fmt.Sprintf(
					"%s and %s are of one age and send logs of %s to the same type of destination (%s): the one that AWS hears of first stays, here the first by name",
					b.Policy.Ref(), a.Policy.Ref(), g.Node(id).Ref, what)}.At(a.Policy.Object, "spec", "destinationArn"))
			}
		}
	}
	return out
}
