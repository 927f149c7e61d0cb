package kuadrant

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var hostnameNarrower = model.Rule{ID: "HostnameNarrowerThanRoute", Severities: []model.Severity{model.Warning},
	Summary: "traffic comes from a listener to a route of a wider hostname, and the implementation enforces no policy there",
	Fix:     "name the listener's hostname in the route"}

// checkStep reports whether the operator recognises a step of a path: none to a listener set, which
// it does not know; from a listener to a route with hostnames, only if one of them is within the
// listener's hostname. The Gateway API allows the reverse as well.
func checkStep(g *topology.Graph, parent, child topology.NodeID) *model.Problem {
	listener, route := g.Node(parent), g.Node(child)
	if route.Role == topology.ListenerSet && route.Object != nil {
		p := model.Problem{Severity: model.Info, Code: model.NotReached,
			Message: fmt.Sprintf(
				"the operator does not look at listener sets: no policy is enforced on the ways through %s",
				route.Ref)}.At(route.Object)
		return &p
	}
	if listener.Role != topology.Listener || route.Role != topology.Route || route.Object == nil ||
		listener.Object == nil {
		return nil
	}
	own := g.Hostname(parent)
	if own == "" {
		return nil
	}
	hosts := route.Object.Body.Field("spec").Field("hostnames")
	if !hosts.IsList() || hosts.Len() == 0 {
		return nil
	}
	for _, host := range hosts.Items {
		if isHostWithin(host.Text(), own) {
			return nil
		}
	}
	p := hostnameNarrower.NewProblem(
		"no hostname of %s is within %q of %s: traffic is routed, but the operator enforces no policy on this way",
		route.Ref, own, listener.Ref).At(route.Object)
	return &p
}

// isHostWithin reports whether host is host or wildcard inside the wildcard or name that outer is.
func isHostWithin(host, outer string) bool {
	if host == outer || outer == "*" {
		return true
	}
	suffix, wild := strings.CutPrefix(outer, "*")
	return wild && strings.HasSuffix(host, suffix) && len(strings.TrimPrefix(host, "*")) >= len(suffix) &&
		host != suffix
}
