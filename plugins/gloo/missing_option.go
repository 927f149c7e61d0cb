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
	present presence = iota
	absent
	unread // it, or what may make it, was not read
)

// findMissingOption is the first RouteOption that a filter of a rule names and that is not there,
// and the filter's number.
func findMissingOption(g *topology.Graph, n *topology.Node) (model.Ref, int, presence) {
	if n.Role != topology.Rule || n.Object == nil || n.Ref.Kind != "HTTPRoute" {
		return model.Ref{}, 0, present
	}
	var open model.Ref
	at, state := 0, present
	for i, f := range n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters").Items {
		ref := f.Field("extensionRef")
		if f.Text("type") != "ExtensionRef" || ref.Text("group") != group || ref.Text("kind") != routeOption {
			continue
		}
		switch to := (model.Ref{Group: group, Kind: routeOption, Namespace: n.Ref.Namespace, Name: ref.Text("name")}); {
		case g.FindExistence(to).Presence == model.Present:
		case g.FindExistence(to).Presence == model.NotKnown:
			if state == present {
				open, at, state = to, i, unread
			}
		default:
			return to, i, absent
		}
	}
	return open, at, state
}

// explainWithoutOptions says why no option holds at a rule: a filter names one that does not exist.
// For one that delegates see findDelegatingRules.
func explainWithoutOptions(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	to, filter, missing := findMissingOption(g, n)
	if missing != absent || n.Delegates {
		return nil
	}
	p := model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Hint: "create it, or take the filter out",
		Message: fmt.Sprintf("a filter of %s names %s, which is not found: no RouteOption holds at the rule", n.Ref,
			to)}.At(n.Object, "spec", "rules", strconv.Itoa(n.Index), "filters", strconv.Itoa(filter))
	return &p
}

// findDelegatingRules says of rules that delegate and name an option that does not exist that what
// holds below them is not known: the options of their route do not, those of the routes below do.
func findDelegatingRules(_ *policy.Kind, g *topology.Graph, _ policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if to, _, missing := findMissingOption(g, n); missing == absent && n.Delegates && n.Hop == 0 {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
				"a filter of %s names %s, which is not found: that the options of the route do not hold for what the rule hands over is not evaluated", n.Ref, to)}.At(n.Object))
		}
	}
	return out
}

// markUnresolved marks the HTTPRoutes with a filter that names an option which does not exist, or
// may not be read.
func markUnresolved(r *resolve.Resolution, _ *resolve.Kind) []status.Mark {
	var out []status.Mark
	said := map[model.Ref]bool{}
	g := r.Graph
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		to, _, missing := findMissingOption(g, n)
		if route := n.Ref.WithoutSection(); missing != present && !said[route] {
			said[route] = true
			c := status.Condition{Type: "ResolvedRefs", Status: "False", Reason: "BackendNotFound",
				Message: to.String() + " is not found"}
			if missing == unread {
				c.Status, c.Reason, c.Message = "Unknown", "NotEvaluated", g.FindExistence(to).Why
			}
			out = append(out, status.Mark{Object: route, Controller: controller, Replaces: true, Condition: c})
		}
	}
	return out
}
