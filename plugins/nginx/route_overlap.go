package nginx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// configPlace is where a route is written into the configuration: a Gateway, a host, a port and a
// path. How the path is matched plays no part, nor do headers, methods and parameters.
type configPlace struct {
	gateway topology.NodeID
	host    string
	port    int32
	path    string
}

// checkOverlap finds the policies one of whose routes shares a place with a route that the policy
// does not target: settings of a place cannot be told apart by route.
func checkOverlap(_ *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	v := viewOf(g, in)
	at := map[configPlace][]topology.NodeID{}
	of := map[topology.NodeID][]configPlace{}
	for _, id := range g.Order(topology.Traffic) {
		if r := v.routes[id]; r != nil {
			of[id] = listPlaces(r, g.Node(id))
			for _, p := range of[id] {
				at[p] = append(at[p], id)
			}
		}
	}
	return func(p *policy.Policy, targets []topology.NodeID) (string, []model.Problem) {
		own := map[string]bool{} // by namespace and name alone
		for _, id := range targets {
			if v.routes[id] != nil {
				own[g.Node(id).Ref.FullName()] = true
			}
		}
		var pairs []string
		for _, id := range targets {
			var others []string
			for _, p := range of[id] {
				for _, other := range at[p] {
					if ref := g.Node(other).Ref; !own[ref.FullName()] {
						others = append(others, fmt.Sprintf("%s, port %d and path %s with %s", formatHost(p.host),
							p.port, p.path, ref))
					}
				}
			}
			slices.Sort(others)
			for _, other := range slices.Compact(others) {
				pairs = append(pairs, g.Node(id).Ref.String()+" shares "+other)
			}
		}
		if len(pairs) == 0 && slices.ContainsFunc(gatewayapi.RouteKinds(), in.Cluster.HasUnread) {
			return "", []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Message: "routes are forbidden, and one of them may share a place with a target of the policy"}.At(p.Object)}
		}
		if len(pairs) == 0 {
			return "", nil
		}
		return failPolicy(p, "TargetConflict", limitTexts(pairs)+", which the policy does not target",
			"target the other route with the same policy, or give one of them another host or path")
	}
}

// failPolicy finds a policy in error.
func failPolicy(p *policy.Policy, reason, fault, hint string) (string, []model.Problem) {
	if p.Fault == "" {
		p.Reason = reason
	}
	return fault, []model.Problem{model.Problem{Severity: model.Warning, Code: model.PolicyInError,
		Message: "the policy is in error and does not apply: " + fault, Hint: hint}.At(p.Object)}
}

func formatHost(host string) string {
	if host == "" {
		return "every host"
	}
	return "host " + host
}

// limitTexts lists up to five texts, then counts.
func limitTexts(texts []string) string {
	const most = 5
	if rest := len(texts) - most; rest > 0 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("%d more", rest))
	}
	return strings.Join(texts, "; ")
}

// listPlaces lists the places of a route, each once.
func listPlaces(r *routeView, n *topology.Node) []configPlace {
	paths := listPaths(n)
	var out []configPlace
	seen := map[configPlace]bool{}
	for _, parent := range r.parents {
		for _, h := range parent.hosts {
			for _, path := range paths {
				p := configPlace{parent.gateway, h.host, h.port, path}
				if !seen[p] {
					seen[p] = true
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// listPaths lists the paths of a route's matches. What names none has that of the API's default; a
// gRPC method is a path.
func listPaths(route *topology.Node) []string {
	var out []string
	add := func(path string) {
		if path == "" {
			path = "/"
		}
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	rules := route.Object.Body.At("spec", "rules")
	if rules.Len() == 0 && route.Ref.Kind == "HTTPRoute" {
		add("")
	}
	for _, rule := range rules.Items {
		matches := rule.Field("matches")
		if matches.Len() == 0 {
			add("")
		}
		for _, m := range matches.Items {
			if route.Ref.Kind != "GRPCRoute" {
				add(m.Text("path", "value"))
				continue
			}
			service, method := m.Text("method", "service"), m.Text("method", "method")
			if service == "" || method == "" {
				add("")
			} else {
				add("/" + service + "/" + method)
			}
		}
	}
	return out
}
