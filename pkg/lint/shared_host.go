package lint

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// FindSharedHosts finds the hosts of Ingresses that Gateways serve as well, each once. Hosts that have no
// name are left out: they get what nobody else takes.
func FindSharedHosts(r *resolve.Resolution, proxies []*ingress.Proxy) []model.Problem {
	if len(proxies) == 0 {
		return nil
	}
	served := listServedHosts(r.Graph)
	var out []model.Problem
	for _, p := range proxies {
		for _, host := range p.Hosts {
			if host == "" {
				continue
			}
			if problem := findSharedHost(p, host, served); problem != nil {
				out = append(out, *problem)
			}
		}
	}
	return out
}

// servedHost is a name or wildcard by which requests come to a route through a Gateway.
type servedHost struct {
	host    string
	route   *model.Object
	gateway model.Ref
}

// listServedHosts lists the hosts of the HTTPRoutes that are attached to Gateways.
func listServedHosts(g *topology.Graph) []servedHost {
	var out []servedHost
	for _, id := range g.Order(topology.All) {
		n := g.Node(id)
		if n.Role != topology.Route || n.Object == nil || n.Hop > 0 || n.Ref.GroupKind() != gatewayapi.HTTPRouteKind {
			continue
		}
		for _, a := range g.Attachments(id) {
			if a.State != topology.Accepted || a.Parent.GroupKind() != gatewayKind &&
				!gatewayapi.IsListenerSet(a.Parent.GroupKind()) {
				continue
			}
			for _, h := range a.Hostnames {
				if h.Effective != "" {
					out = append(out, servedHost{h.Effective, n.Object, a.Parent.WithoutSection()})
				}
			}
		}
	}
	return out
}

// findSharedHost says which routes serve a host of Ingresses as well; nil: none.
func findSharedHost(p *ingress.Proxy, host string, served []servedHost) *model.Problem {
	var first *servedHost
	routes := map[model.Ref]bool{}
	for i := range served {
		if s := &served[i]; shareHosts(host, s.host) {
			if first == nil {
				first = s
			}
			routes[s.route.Ref] = true
		}
	}
	if first == nil {
		return nil
	}
	name := first.route.Ref.String()
	if first.host != host {
		name += " (as " + first.host + ")"
	}
	name += " at " + first.gateway.String()
	if n := len(routes) - 1; n > 0 {
		name += fmt.Sprintf(", and of other routes (%d)", n)
	}
	problem := model.Problem{Severity: model.Info, Code: model.HostAlsoIngress,
		Message: fmt.Sprintf("the host %s is also one of %s: DNS decides where a request goes", host, name),
		Hint:    "nothing to do while you move; then remove the host from one of them"}.At(first.route)
	for i := range p.Locations {
		if l := &p.Locations[i]; l.Host == host && l.Ingress != (model.Ref{}) {
			problem.Ref, problem.Origin = &l.Ingress, &l.Origin
			break
		}
	}
	return &problem
}

// shareHosts reports whether there are hosts that are both one of an Ingress and one of a route. A wildcard
// of an Ingress stands for one label, one of a route for one or more.
func shareHosts(ofIngress, ofRoute string) bool {
	if gatewayapi.CoversHostname(ofRoute, ofIngress) {
		return true
	}
	suffix, isWildcard := strings.CutPrefix(ofIngress, "*")
	label, isBelow := strings.CutSuffix(ofRoute, suffix)
	return isWildcard && isBelow && label != "" && label != "*" && !strings.Contains(label, ".")
}
