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

// presence says whether what filters name is there.
type presence int

const (
	there presence = iota
	gone
	unread // a cluster did not let us read it, if it is there
)

// missingOption is the first RouteOption that a filter of a rule names and that is not there, and the filter's number.
func missingOption(g *topology.Graph, n *topology.Node) (model.Ref, int, presence) {
	if n.Role != topology.Rule || n.Object == nil || n.Ref.Kind != "HTTPRoute" {
		return model.Ref{}, 0, there
	}
	var open model.Ref
	at, state := 0, there
	for i, f := range n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters").Items {
		ref := f.Field("extensionRef")
		if f.Text("type") != "ExtensionRef" || ref.Text("group") != group || ref.Text("kind") != routeOption {
			continue
		}
		switch to := (model.Ref{Group: group, Kind: routeOption, Namespace: n.Ref.Namespace, Name: ref.Text("name")}); {
		case g.Has(to):
		case g.Cluster().MissesRef(to):
			if state == there {
				open, at, state = to, i, unread
			}
		default:
			return to, i, gone
		}
	}
	return open, at, state
}

// withoutOptions says why no option holds at a rule: a filter names one that does not exist. For one that hands over see handingOver.
func withoutOptions(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	to, filter, missing := missingOption(g, n)
	if missing != gone || n.Transit {
		return nil
	}
	p := model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Hint: "create it, or take the filter out",
		Message: fmt.Sprintf("a filter of %s names %s, which is not found: no RouteOption holds at the rule", n.Ref, to)}.At(n.Object, "spec", "rules", strconv.Itoa(n.Index), "filters", strconv.Itoa(filter))
	return &p
}

// handingOver says of rules that hand over and name an option that does not exist that what holds below them is not known: the options of their
// route do not, those of the routes below do.
func handingOver(_ *policy.Kind, g *topology.Graph, _ policy.At) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if to, _, missing := missingOption(g, n); missing == gone && n.Transit && n.Hop == 0 {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
				"a filter of %s names %s, which is not found: that the options of the route do not hold for what the rule hands over is not evaluated", n.Ref, to)}.At(n.Object))
		}
	}
	return out
}

// unresolved marks the HTTPRoutes with a filter that names an option which does not exist, or may not be read.
func unresolved(r *resolve.Resolution, _ *resolve.Kind) []status.Mark {
	var out []status.Mark
	said := map[model.Ref]bool{}
	g := r.Graph
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		to, _, missing := missingOption(g, n)
		if route := n.Ref.WithoutSection(); missing != there && !said[route] {
			said[route] = true
			c := status.Condition{Type: "ResolvedRefs", Status: "False", Reason: "BackendNotFound", Message: to.String() + " is not found"}
			if missing == unread {
				c.Status, c.Reason, c.Message = "Unknown", "NotEvaluated", to.String()+" may not be read"
			}
			out = append(out, status.Mark{Object: route, Controller: controller, Replaces: true, Condition: c})
		}
	}
	return out
}
