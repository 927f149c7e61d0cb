// Package apisix describes the policy kinds of the APISIX Ingress Controller for the Gateway API.
package apisix

import (
	_ "embed"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

const group = "apisix.apache.org"

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "apisix", Kinds: kinds, Gates: gateFunctions(),
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"apisix.ByName": nestUnderNames}},
		Judging: descriptor.Judging{
			Sites: map[string]policy.CheckMaker{"apisix.Priorities": checkPriorities},
			Lints: map[string]policy.Lint{"apisix.MapOrder": findUncertainOrder}}}
}

// checkPriorities finds policies for a route that differ in priority from another one for the route
// or for a rule of it: none of them is in force then. No priority is one as well.
func checkPriorities(_ *policy.Kind, _ *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	of := map[model.Ref][]*model.Object{}
	for _, o := range in.OfKind(model.GroupKind{Group: group, Kind: "HTTPRoutePolicy"}) {
		for _, t := range o.Body.At("spec", "targetRefs").Items {
			ref := model.Ref{Group: t.Text("group"), Kind: t.Text("kind"), Namespace: o.Ref.Namespace,
				Name: t.Text("name")}
			of[ref] = append(of[ref], o)
		}
	}
	return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) {
		own := fmt.Sprint(p.Object.Get("spec", "priority"))
		for _, t := range p.Refs {
			route := t.Ref.WithoutSection()
			for _, o := range of[route] {
				if other := fmt.Sprint(o.Get("spec", "priority")); other != own {
					return fmt.Sprintf("it and %s differ in priority, and both are for %s", o.Ref.FullName(), route),
						nil
				}
			}
		}
		return "", nil
	}
}

// findUncertainOrder reports several policies for one Service or port: the controller takes the
// first that it meets in a map.
func findUncertainOrder(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		all := at(id)
		for i := 1; i < len(all); i++ {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.OrderUncertain, Message: fmt.Sprintf(
				"%s and %s are both for %s: the controller takes the one that it meets first in a map; here it is the first by name", all[0].Policy.Ref(), all[i].Policy.Ref(), g.Node(id).Ref),
				Hint: "delete one of them"}.At(all[i].Policy.Object))
		}
	}
	return out
}
