package request

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Lint finds what gets no traffic: rules that no request can reach (gatewayapi G52), routes that
// are attached to nothing, and listeners without routes.
func Lint(g *topology.Graph, s model.Settings, p Profiles) []model.Problem {
	m := NewMatcher(g, s).RouteWith(p)
	shadowed := shadowFinder{matcher: m, settings: m.settingsAt(topology.None), seed: maphash.MakeSeed()}
	return slices.Concat(m.findUnattached(), shadowed.findProblems(), m.findMisreadRules(), m.findRefusedPorts())
}

// findUnattached finds routes that are attached to nothing, and listeners without a route.
func (m *Matcher) findUnattached() []model.Problem {
	g := m.graph
	taken := map[topology.NodeID]bool{}
	var out []model.Problem
	for _, id := range g.Order(topology.All) {
		if n := g.Node(id); n.Role != topology.Route || n.Hop > 0 {
			continue
		}
		for _, a := range g.Attachments(id) {
			if a.State == topology.Accepted || a.State == topology.Unknown {
				taken[a.Listener] = true
			}
		}
		if why := g.ExplainUnattached(id); why != "" {
			out = append(out, model.Problem{Severity: model.Info, Code: model.NotReached,
				Message: why}.At(g.Node(id).Object))
		}
	}
	return append(out, m.findUnusedListeners(taken)...)
}

// findUnusedListeners finds the listeners that no route is attached to, with one problem for each
// object that has such listeners.
func (m *Matcher) findUnusedListeners(taken map[topology.NodeID]bool) []model.Problem {
	g := m.graph
	names := map[topology.NodeID][]string{}
	var owners []topology.NodeID
	for _, id := range g.Order(topology.All) {
		n := g.Node(id)
		if n.Role != topology.Listener || taken[id] || g.MayMissRoutes(id) {
			continue
		}
		owner := g.Lookup(n.Ref.WithoutSection())[0]
		if names[owner] == nil {
			owners = append(owners, owner)
		}
		names[owner] = append(names[owner], n.Ref.Section)
	}
	var out []model.Problem
	for _, owner := range owners {
		what := "no route is attached to listener " + names[owner][0]
		if n := len(names[owner]); n > 1 {
			what = fmt.Sprintf("no route is attached to %d listeners: %s", n, strings.Join(names[owner], ", "))
		}
		out = append(out, model.Problem{Severity: model.Info, Code: model.ListenerWithoutRoutes,
			Message: what}.At(g.Node(owner).Object))
	}
	return out
}
