package gloo

import (
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// missingOption is the first RouteOption that a filter of a rule names and that does not exist, and the filter's number.
func missingOption(g *topology.Graph, n *topology.Node) (model.Ref, int, bool) {
	if n.Role != topology.Rule || n.Object == nil || n.Ref.Kind != "HTTPRoute" {
		return model.Ref{}, 0, false
	}
	for i, f := range n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters").Items {
		ref := f.Field("extensionRef")
		if f.Text("type") != "ExtensionRef" || ref.Text("group") != group || ref.Text("kind") != routeOption {
			continue
		}
		to := model.Ref{Group: group, Kind: routeOption, Namespace: n.Ref.Namespace, Name: ref.Text("name")}
		if !g.Has(to) && !g.Cluster().MissesRef(to) {
			return to, i, true
		}
	}
	return model.Ref{}, 0, false
}

// withoutOptions says why no option holds at a rule: a filter names one that does not exist. For one that hands over see handingOver.
func withoutOptions(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	to, filter, missing := missingOption(g, n)
	if !missing || n.Transit {
		return nil
	}
	p := model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Hint: "create it, or take the filter out",
		Message: fmt.Sprintf("a filter of %s names %s, which is not found: no RouteOption holds at the rule", n.Ref, to)}.At(n.Object)
	origin := n.Object.OriginOf("spec", "rules", strconv.Itoa(n.Index), "filters", strconv.Itoa(filter))
	p.Origin = &origin
	return &p
}

// handingOver says of rules that hand over and name an option that does not exist that what holds below them is not known: the options of their
// route do not, those of the routes below do.
func handingOver(_ *policy.Kind, g *topology.Graph, _ policy.At) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if to, _, missing := missingOption(g, n); missing && n.Transit && n.Hop == 0 {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
				"a filter of %s names %s, which is not found: that the options of the route do not hold for what the rule hands over is not evaluated", n.Ref, to)}.At(n.Object))
		}
	}
	return out
}

// unresolved marks the HTTPRoutes with a filter that names an option which does not exist.
func unresolved(r *resolve.Resolution, k *resolve.Kind) []status.Mark {
	var out []status.Mark
	said := map[model.Ref]bool{}
	g := r.Graph
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		to, _, missing := missingOption(g, n)
		if route := n.Ref.Whole(); missing && !said[route] {
			said[route] = true
			out = append(out, status.Mark{Object: route, Controller: controller, Condition: status.Condition{Type: "ResolvedRefs", Status: "False", Reason: "BackendNotFound",
				Message: to.String() + " is not found"}})
		}
	}
	return out
}
