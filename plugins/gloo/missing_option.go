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

// missingOption is a RouteOption that a filter of a rule names and that is not there; the zero value
// is none.
type missingOption struct {
	model.Existence
	ref    model.Ref
	filter int // its number
}

// findMissingOption returns the first option that is known not to be there, else the first of which
// it is not known.
func findMissingOption(g *topology.Graph, n *topology.Node) missingOption {
	var unknown missingOption
	if n.Role != topology.Rule || n.Object == nil || n.Ref.Kind != "HTTPRoute" {
		return unknown
	}
	for i, f := range n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters").Items {
		ref := f.Field("extensionRef")
		if f.Text("type") != "ExtensionRef" || ref.Text("group") != group || ref.Text("kind") != routeOption {
			continue
		}
		to := model.Ref{Group: group, Kind: routeOption, Namespace: n.Ref.Namespace, Name: ref.Text("name")}
		switch m := (missingOption{g.FindExistence(to), to, i}); {
		case m.IsAbsent():
			return m
		case m.Presence == model.NotKnown && unknown.Presence == model.Present:
			unknown = m
		}
	}
	return unknown
}

// explainWithoutOptions says why no option holds at a rule: a filter names one that does not exist.
// For one that delegates see findDelegatingRules.
func explainWithoutOptions(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	missing := findMissingOption(g, n)
	if !missing.IsAbsent() || n.Delegates {
		return nil
	}
	p := model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Hint: "create it, or take the filter out",
		Message: fmt.Sprintf("a filter of %s names %s, which is not found: no RouteOption holds at the rule", n.Ref,
			missing.ref)}.At(n.Object, "spec", "rules", strconv.Itoa(n.Index), "filters", strconv.Itoa(missing.filter))
	return &p
}

// findDelegatingRules says of rules that delegate and name an option that does not exist that what
// holds below them is not known: the options of their route do not, those of the routes below do.
func findDelegatingRules(_ *policy.Kind, g *topology.Graph, _ policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if missing := findMissingOption(g, n); missing.IsAbsent() && n.Delegates && n.Hop == 0 {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(
				"a filter of %s names %s, which is not found: that the options of the route do not hold for what the rule hands over is not evaluated", n.Ref, missing.ref)}.At(n.Object))
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
		missing := findMissingOption(g, n)
		if route := n.Ref.WithoutSection(); missing.Presence != model.Present && !said[route] {
			said[route] = true
			c := status.Condition{Type: "ResolvedRefs", Status: "False", Reason: "BackendNotFound",
				Message: missing.ref.String() + " is not found"}
			if missing.Presence == model.NotKnown {
				c.Status, c.Reason, c.Message = "Unknown", "NotEvaluated", missing.Why
			}
			out = append(out, status.Mark{Object: route, Controller: controller, Replaces: true, Condition: c})
		}
	}
	return out
}
