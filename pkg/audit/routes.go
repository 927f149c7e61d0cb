package audit

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Routes finds rules by what proxies call them.
type Routes struct {
	Graph *topology.Graph

	gateways           []topology.NodeID                     // of the proxy
	rules              map[model.Ref]map[int]topology.NodeID // by route and position
	rulesByName        map[model.Ref]map[string]topology.NodeID
	routesByPath       map[string]model.Ref   // by lower case kind/namespace/name
	routesByDashedName map[string][]model.Ref // by kind-name-namespace, which may mean several
	listenersByRule    map[topology.NodeID][]topology.NodeID
	contents           map[topology.NodeID]map[string]any
}

func newRoutes(g *topology.Graph) *Routes {
	rs := &Routes{Graph: g, rules: map[model.Ref]map[int]topology.NodeID{},
		rulesByName: map[model.Ref]map[string]topology.NodeID{}, routesByPath: map[string]model.Ref{},
		routesByDashedName: map[string][]model.Ref{}, listenersByRule: map[topology.NodeID][]topology.NodeID{},
		contents: map[topology.NodeID]map[string]any{}}
	for id := topology.NodeID(0); int(id) < g.Len(); id++ {
		n := g.Node(id)
		if n.Role != topology.Rule || n.Object == nil {
			continue
		}
		route := n.Ref.WithoutSection()
		if rs.rules[route] == nil {
			rs.rules[route], rs.rulesByName[route] = map[int]topology.NodeID{}, map[string]topology.NodeID{}
			kind := strings.ToLower(route.Kind)
			rs.routesByPath[kind+"/"+route.Namespace+"/"+route.Name] = route
			key := kind + "-" + route.Name + "-" + route.Namespace
			rs.routesByDashedName[key] = append(rs.routesByDashedName[key], route)
		}
		if _, known := rs.rules[route][n.Index]; !known { // the first is the rule as its route has it
			rs.rules[route][n.Index] = id
			rs.rulesByName[route][n.Ref.Section] = id
		}
	}
	return rs
}

// FindByDashedName returns the routes that kind-name-namespace may mean, the kind in lower case.
func (rs *Routes) FindByDashedName(name string) []model.Ref { return rs.routesByDashedName[name] }

// FindRoute returns the route of a name: kind/namespace/name, the kind in lower case.
func (rs *Routes) FindRoute(name string) (model.Ref, bool) {
	ref, ok := rs.routesByPath[name]
	return ref, ok
}

// FindRule returns the rule of a route at a position.
func (rs *Routes) FindRule(route model.Ref, index int) (topology.NodeID, bool) {
	id, ok := rs.rules[route][index]
	return id, ok
}

// RuleContent is a rule as its route has it.
func (rs *Routes) RuleContent(rule topology.NodeID) map[string]any {
	if content, ok := rs.contents[rule]; ok {
		return content
	}
	n := rs.Graph.Node(rule)
	var out map[string]any
	for i, v := range n.Object.Body.Field("spec").Field("rules").Items {
		if i == n.Index {
			out, _ = v.Value().(map[string]any)
		}
	}
	rs.contents[rule] = out
	return out
}

// FindNamedRule returns the rule of a route with a name.
func (rs *Routes) FindNamedRule(route model.Ref, name string) (topology.NodeID, bool) {
	id, ok := rs.rulesByName[route][name]
	return id, ok
}

// FindNamedRules returns the rules of all routes with a name.
func (rs *Routes) FindNamedRules(name string) []topology.NodeID {
	var out []topology.NodeID
	for _, route := range rs.AllRoutes() {
		if id, ok := rs.rulesByName[route][name]; ok {
			out = append(out, id)
		}
	}
	return out
}

// AllRoutes are the routes, in the order of their references.
func (rs *Routes) AllRoutes() []model.Ref {
	out := make([]model.Ref, 0, len(rs.rules))
	for ref := range rs.rules {
		out = append(out, ref)
	}
	slices.SortFunc(out, model.Ref.Compare)
	return out
}

// Listeners are those of the Gateways that the proxy serves, and of the sets on them.
func (rs *Routes) Listeners() []topology.NodeID {
	var out []topology.NodeID
	for _, gateway := range rs.gateways {
		out = append(out, rs.Graph.Parts(gateway)...)
		for _, set := range rs.Graph.ListenerSetsOf(gateway) {
			out = append(out, rs.Graph.Parts(set)...)
		}
	}
	return out
}

// FindListener returns the listener of a name on a Gateway or a ListenerSet (namespace/name) of the
// proxy.
func (rs *Routes) FindListener(owner, name string) topology.NodeID {
	for _, id := range rs.Listeners() {
		if n := rs.Graph.Node(id); n.Ref.Section == name && n.Ref.FullName() == owner {
			return id
		}
	}
	return topology.None
}

// ServingListeners are the listeners through which traffic comes to a rule, at the Gateways of the
// proxy.
func (rs *Routes) ServingListeners(rule topology.NodeID) []topology.NodeID {
	if out, ok := rs.listenersByRule[rule]; ok {
		return out
	}
	mine := map[topology.NodeID]bool{}
	for _, id := range rs.Listeners() {
		mine[id] = true
	}
	n := rs.Graph.Node(rule)
	var out []topology.NodeID
	seen := map[topology.NodeID]bool{}
	var up func(id topology.NodeID)
	up = func(id topology.NodeID) {
		if seen[id] {
			return
		}
		seen[id] = true
		if mine[id] {
			out = append(out, id)
			return
		}
		for _, parent := range rs.Graph.Parents(topology.Traffic, id) {
			up(parent)
		}
	}
	for _, id := range rs.Graph.Lookup(n.Ref) {
		up(id)
	}
	slices.Sort(out)
	rs.listenersByRule[rule] = out
	return out
}

// rulesOfRoute returns the rules of a route, by position.
func (rs *Routes) rulesOfRoute(route model.Ref) []topology.NodeID {
	out := make([]topology.NodeID, 0, len(rs.rules[route]))
	for _, id := range rs.rules[route] {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
