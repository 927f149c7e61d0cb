package kgateway

import (
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// replaced says why kgateway answers the requests of a rule with an error, whatever policies there are: a filter names a policy that does not
// exist, or a DirectResponse stands where the rule does something else already.
func replaced(g *topology.Graph, id topology.NodeID) *model.Problem {
	n := g.Node(id)
	if n.Role != topology.Rule || n.Object == nil || n.Ref.Kind != "HTTPRoute" {
		return nil
	}
	rule := n.Object.Body.At("spec", "rules", strconv.Itoa(n.Index))
	problem := func(format string, args ...any) *model.Problem {
		p := model.Problem{Severity: model.Warning, Code: model.RuleReplaced,
			Message: fmt.Sprintf("rule %s of %s answers with status 500: ", n.Ref.Section, n.Ref.Whole()) + fmt.Sprintf(format, args...)}.At(n.Object)
		origin := n.Object.OriginOf("spec", "rules", strconv.Itoa(n.Index), "filters")
		p.Origin = &origin
		return &p
	}
	answers, redirects := 0, false
	for _, f := range rule.Field("filters").Items {
		redirects = redirects || f.Text("type") == "RequestRedirect"
		ref := f.Field("extensionRef")
		if f.Text("type") != "ExtensionRef" || ref.Text("group") != group {
			continue
		}
		to := model.Ref{Group: group, Kind: ref.Text("kind"), Namespace: n.Ref.Namespace, Name: ref.Text("name")}
		if !g.Has(to) && !g.Cluster().MissesRef(to) {
			return problem("a filter names %s, which is not found", to)
		}
		if to.Kind == "DirectResponse" {
			answers++
		}
	}
	switch {
	case answers > 1:
		return problem("it has %d DirectResponses", answers)
	case answers == 1 && rule.Field("backendRefs").Len() > 0:
		return problem("it has a DirectResponse and backends")
	case answers == 1 && redirects:
		return problem("it has a DirectResponse and a redirect")
	}
	return nil
}
