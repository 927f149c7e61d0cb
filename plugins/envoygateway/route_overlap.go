package envoygateway

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// routeOverlaps are the routes of which some match is that of another route on the same listener:
// by listener and route the others.
type routeOverlaps map[topology.NodeID]map[model.Ref]map[model.Ref]bool

// findOverlaps finds the routes whose requests another one takes, by equal hostname, path, headers,
// parameters and method. Winners are found as well as losers.
func findOverlaps(r *resolve.Resolution) routeOverlaps {
	type match struct {
		listener topology.NodeID
		key      string
	}
	by := map[match][]model.Ref{}
	connects := findConnectRules(r)
	for _, o := range sortRoutes(r.Snapshot) {
		if o.Ref.Kind != "HTTPRoute" && o.Ref.Kind != "GRPCRoute" ||
			o.Ref.Kind == "GRPCRoute" && isRefusedWhole(r.Snapshot, o) {
			continue
		}
		for _, route := range r.Graph.Lookup(o.Ref) {
			rules := listMatchKeys(r.Graph, route)
			for _, a := range r.Graph.Attachments(route) {
				if a.State != topology.Accepted || a.Listener == topology.None ||
					!takesTraffic(r.Graph.Listener(a.Listener)) {
					continue
				}
				for _, h := range a.Hostnames {
					for _, rule := range rules {
						for _, m := range rule.matches {
							at := match{a.Listener, cmp.Or(h.Effective, "*") + "\x00" +
								m.key(connects[ruleAt{a.Listener, rule.node}])}
							if !slices.Contains(by[at], o.Ref) {
								by[at] = append(by[at], o.Ref)
							}
						}
					}
				}
			}
		}
	}
	out := routeOverlaps{}
	for m, routes := range by {
		for _, route := range routes {
			for _, other := range routes {
				if other == route {
					continue
				}
				if out[m.listener] == nil {
					out[m.listener] = map[model.Ref]map[model.Ref]bool{}
				}
				addToSet(out[m.listener], route, other)
			}
		}
	}
	return out
}

// takesTraffic reports whether a listener is in the proxy's configuration.
func takesTraffic(f topology.ListenerFacts) bool {
	return f.Accepted && !f.InvalidKinds && f.WithoutCertificate == ""
}

// conditionFor is the condition of a route for one of its parents; not ok if it overlaps with none
// there.
func (o routeOverlaps) conditionFor(r *resolve.Resolution, route topology.NodeID,
	a *status.Ancestor) (status.Condition, bool) {
	others := map[model.Ref]bool{}
	for _, at := range r.Graph.Attachments(route) {
		if at.Parent == *a.Ref && at.Port == a.Port && at.Listener != topology.None {
			for other := range o[at.Listener][r.Node(route).Ref] {
				others[other] = true
			}
		}
	}
	if len(others) == 0 {
		return status.Condition{}, false
	}
	var names []string
	for other := range others {
		names = append(names, other.Kind+" "+other.FullName())
	}
	slices.Sort(names)
	return status.Condition{Type: "RouteRulesOverlap", Status: "True", Reason: "RouteRulesOverlap",
		Message: "Overlapping match conditions with route(s): " + strings.Join(names, ", ")}, true
}
