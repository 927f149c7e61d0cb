package kgateway

import (
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var ruleReplaced = model.Rule{ID: "RuleReplaced", Severities: []model.Severity{model.Warning},
	Summary: "the implementation answers a route rule with an error, whatever the policies say",
	Fix:     "fix what the message names"}

// explainReplaced says why kgateway answers the requests of a rule with an error, whatever policies
// there are: a filter names a policy that does not exist, a DirectResponse stands where the rule
// does something else already, or the rule does nothing at all.
func explainReplaced(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	if n.Role != topology.Rule || n.Object == nil || n.Ref.Kind != "HTTPRoute" && n.Ref.Kind != "GRPCRoute" {
		return nil
	}
	at := []string{"spec", "rules", strconv.Itoa(n.Index)}
	rule := n.Object.Body.At(at...)
	problem := func(key, format string, args ...any) *model.Problem {
		p := ruleReplaced.NewProblem("rule %s of %s answers with status 500: %s", n.Ref.Section,
			n.Ref.WithoutSection(), fmt.Sprintf(format, args...)).At(n.Object, append(at, key)...)
		return &p
	}
	answers, redirects := 0, false
	for _, f := range rule.Field("filters").Items {
		ref := f.Field("extensionRef")
		if n.Ref.Kind != "HTTPRoute" { // of other routes no filter answers
			break
		}
		redirects = redirects || f.Text("type") == "RequestRedirect"
		if f.Text("type") != "ExtensionRef" || ref.Text("group") != group {
			continue
		}
		to := model.Ref{Group: group, Kind: ref.Text("kind"), Namespace: n.Ref.Namespace, Name: ref.Text("name")}
		if g.FindExistence(to).IsAbsent() {
			return problem("filters", "a filter names %s, which is not found", to)
		}
		if to.Kind == "DirectResponse" {
			answers++
		}
	}
	backends := rule.Field("backendRefs").Len() > 0
	switch {
	case answers > 1:
		return problem("filters", "it has %d DirectResponses", answers)
	case answers == 1 && backends:
		return problem("filters", "it has a DirectResponse and backends")
	case answers == 1 && redirects:
		return problem("filters", "it has a DirectResponse and a redirect")
	case answers == 0 && !redirects && !backends && isOwnRoute(g, n.Ref.WithoutSection()):
		return problem("backendRefs", "it has neither backends nor a response")
	}
	return nil
}

// isOwnRoute reports whether a Gateway that is kgateway's, or may be, accepts a route.
func isOwnRoute(g *topology.Graph, route model.Ref) bool {
	for _, gateway := range g.GatewaysAbove(route) {
		for _, id := range g.Lookup(gateway) {
			name := ""
			for _, class := range g.Parents(topology.Traffic, id) {
				if o := g.Node(class).Object; o != nil {
					name = o.Text("spec", "controllerName")
				}
			}
			if name == "" || name == controller {
				return true
			}
		}
	}
	return false
}
