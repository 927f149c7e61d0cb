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

	gateways []topology.NodeID                     // of the proxy
	rules    map[model.Ref]map[int]topology.NodeID // by route and position
	byName   map[model.Ref]map[string]topology.NodeID
	kinds    map[string]model.Ref   // by lower case kind/namespace/name
	dashed   map[string][]model.Ref // by kind-name-namespace, which may mean several
	over     map[topology.NodeID][]topology.NodeID
	contents map[topology.NodeID]map[string]any
}

func newRoutes(g *topology.Graph) *Routes {
	rs := &Routes{Graph: g, rules: map[model.Ref]map[int]topology.NodeID{}, byName: map[model.Ref]map[string]topology.NodeID{}, kinds: map[string]model.Ref{}, dashed: map[string][]model.Ref{}, over: map[topology.NodeID][]topology.NodeID{}, contents: map[topology.NodeID]map[string]any{}}
	for id := topology.NodeID(0); int(id) < g.Len(); id++ {
		n := g.Node(id)
		if n.Role != topology.Rule || n.Object == nil {
			continue
		}
		route := n.Ref.WithoutSection()
		if rs.rules[route] == nil {
			rs.rules[route], rs.byName[route] = map[int]topology.NodeID{}, map[string]topology.NodeID{}
			kind := strings.ToLower(route.Kind)
			rs.kinds[kind+"/"+route.Namespace+"/"+route.Name] = route
			key := kind + "-" + route.Name + "-" + route.Namespace
			rs.dashed[key] = append(rs.dashed[key], route)
		}
		if _, known := rs.rules[route][n.Index]; !known { // the first is the rule as its route has it
			rs.rules[route][n.Index] = id
			rs.byName[route][n.Ref.Section] = id
		}
	}
	return rs
}

// Dashed are the routes that kind-name-namespace may mean, the kind in lower case.
func (rs *Routes) Dashed(name string) []model.Ref { return rs.dashed[name] }

// Route is the route of a name: kind/namespace/name, the kind in lower case.
func (rs *Routes) Route(name string) (model.Ref, bool) {
	ref, ok := rs.kinds[name]
	return ref, ok
}

// Rule is the rule of a route at a position.
func (rs *Routes) Rule(route model.Ref, index int) (topology.NodeID, bool) {
	id, ok := rs.rules[route][index]
	return id, ok
}

// Content is a rule as its route has it.
func (rs *Routes) Content(rule topology.NodeID) map[string]any {
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

// Named is the rule of a route with a name.
func (rs *Routes) Named(route model.Ref, name string) (topology.NodeID, bool) {
	id, ok := rs.byName[route][name]
	return id, ok
}

// AllNamed are the rules of all routes with a name.
func (rs *Routes) AllNamed(name string) []topology.NodeID {
	var out []topology.NodeID
	for _, route := range rs.All() {
		if id, ok := rs.byName[route][name]; ok {
			out = append(out, id)
		}
	}
	return out
}

// All are the routes, in the order of their references.
func (rs *Routes) All() []model.Ref {
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
		for _, set := range rs.Graph.SetsOf(gateway) {
			out = append(out, rs.Graph.Parts(set)...)
		}
	}
	return out
}

// Listener is the listener of a name on a Gateway or a ListenerSet (namespace/name) of the proxy.
func (rs *Routes) Listener(owner, name string) topology.NodeID {
	for _, id := range rs.Listeners() {
		if n := rs.Graph.Node(id); n.Ref.Section == name && n.Ref.FullName() == owner {
			return id
		}
	}
	return topology.None
}

// Serving are the listeners through which traffic comes to a rule, at the Gateways of the proxy.
func (rs *Routes) Serving(rule topology.NodeID) []topology.NodeID {
	if out, ok := rs.over[rule]; ok {
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
	rs.over[rule] = out
	return out
}

// rulesOf are the rules of a route, by position.
func (rs *Routes) rulesOf(route model.Ref) []topology.NodeID {
	out := make([]topology.NodeID, 0, len(rs.rules[route]))
	for _, id := range rs.rules[route] {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
