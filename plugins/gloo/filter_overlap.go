package gloo

import (
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// filterOptions are the options that filters of the Gateway API write as well, by the place of the
// filter's settings.
var filterOptions = []struct {
	at      []string
	options []string
}{
	{[]string{"urlRewrite", "path"}, []string{"prefixRewrite", "regexRewrite"}},
	{[]string{"urlRewrite", "hostname"}, []string{"hostRewrite", "autoHostRewrite", "hostRewritePathRegex",
		"hostRewriteHeader"}},
	{[]string{"requestHeaderModifier"}, []string{"headerManipulation"}},
	{[]string{"responseHeaderModifier"}, []string{"headerManipulation"}},
	{[]string{"requestMirror"}, []string{"shadowing"}},
}

// findFilterOverlaps says of rules where an option and a filter of the rule are about the same, or
// where the rule answers by itself.
func findFilterOverlaps(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Rule || n.Object == nil || n.Delegates || n.Ref.Kind != "HTTPRoute" {
			continue
		}
		filters := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index), "filters")
		if filters.Len() == 0 {
			continue
		}
		for _, p := range listOptionsAbove(g, at, id) {
			if what := explainOverlap(p, filters); what != "" {
				out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
					Message: fmt.Sprintf("%s has %s: which of the two Gloo Gateway applies is not evaluated", n.Ref,
						what)}.At(p.Object))
			}
		}
	}
	return out
}

// listOptionsAbove lists the options at a rule, its route, and the rules and routes that delegate
// to it, each once.
func listOptionsAbove(g *topology.Graph, at policy.AttachedAt, rule topology.NodeID) []*policy.Policy {
	var out []*policy.Policy
	seen := map[*policy.Policy]bool{}
	for next := []topology.NodeID{rule}; len(next) > 0; {
		id := next[0]
		next = next[1:]
		for _, a := range at(id) {
			if !seen[a.Policy] {
				seen[a.Policy] = true
				out = append(out, a.Policy)
			}
		}
		for _, parent := range g.Parents(topology.Traffic, id) {
			if role := g.Node(parent).Role; role == topology.Route || role == topology.Rule {
				next = append(next, parent)
			}
		}
	}
	return out
}

// explainOverlap says what filters of a rule set that the option sets as well, "" if nothing.
func explainOverlap(p *policy.Policy, filters model.Body) string {
	options := p.Object.Body.At("spec", "options")
	for _, f := range filters.Items {
		if ref := f.Field("extensionRef"); f.Text("type") == "ExtensionRef" &&
			ref.Text("group") == "gateway.gloo.solo.io" && ref.Text("kind") == "DirectResponse" {
			return "a DirectResponse, and " + p.Ref().String() + " options for what it forwards"
		}
		for _, w := range filterOptions {
			for _, option := range w.options {
				if !f.At(w.at...).IsNull() && !options.Field(option).IsNull() {
					return fmt.Sprintf("a filter %s, and %s sets %s", f.Text("type"), p.Ref(), option)
				}
			}
		}
	}
	return ""
}
