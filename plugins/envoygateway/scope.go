package envoygateway

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// scopes is what the controller notes about which targets lie below which. A scope is a target: a Gateway, a ListenerSet, a
// listener of either, a route.
type scopes struct {
	res     *resolve.Resolution
	kind    *resolve.Kind
	edges   map[model.Ref]map[model.Ref]bool          // from a scope to those of policies below it
	inside  map[model.Ref][]model.Ref                 // the scopes that a scope contains
	merged  map[model.Ref]map[model.Ref]bool          // by scope: the routes whose policies are merged with the one there
	rules   map[model.Ref]map[string]bool             // by route: its rules with a policy of their own
	holders map[topology.NodeID]*policy.Policy        // by target: who has it
	pairs   map[*policy.Policy]map[model.Ref]*pairing // by child: its parents, by listener ancestor
}

// pairing is a child's parent on one listener.
type pairing struct {
	parent *policy.Policy
	scope  model.Ref // of the parent
	route  model.Ref
}

// survey reads the scopes off the places.
func survey(r *resolve.Resolution, k *resolve.Kind, all []place) *scopes {
	s := &scopes{res: r, kind: k, edges: map[model.Ref]map[model.Ref]bool{}, inside: map[model.Ref][]model.Ref{}, merged: map[model.Ref]map[model.Ref]bool{},
		rules: map[model.Ref]map[string]bool{}, pairs: map[*policy.Policy]map[model.Ref]*pairing{}, holders: map[topology.NodeID]*policy.Policy{}}
	for _, p := range all {
		if p.node != topology.None && p.holder == nil {
			s.holders[p.node] = p.policy
		}
	}
	for i := range all {
		p := &all[i]
		switch n := r.Node(p.object); n.Role {
		case topology.Route:
			s.route(p)
		case topology.ListenerSet:
			gateway := r.Node(r.Graph.Set(p.object).Gateway).Ref
			s.contain(gateway, n.Ref)
			if p.target.Section == "" {
				note(s.edges, gateway, n.Ref)
			}
			s.section(p, n.Ref)
		case topology.Gateway:
			s.section(p, n.Ref)
		}
	}
	return s
}

func note[V comparable](m map[model.Ref]map[V]bool, at model.Ref, what V) {
	if m[at] == nil {
		m[at] = map[V]bool{}
	}
	m[at][what] = true
}

func (s *scopes) contain(outer, inner model.Ref) {
	if !slices.Contains(s.inside[outer], inner) {
		s.inside[outer] = append(s.inside[outer], inner)
	}
}

// section notes a policy for a listener.
func (s *scopes) section(p *place, owner model.Ref) {
	if p.target.Section == "" || p.node == topology.None {
		return
	}
	s.contain(owner, p.target)
	note(s.edges, owner, p.target)
}

// route notes a policy for a route or a rule, and with whom it is merged.
func (s *scopes) route(p *place) {
	route := p.target.WithoutSection()
	for _, parent := range parents(s.res, s.kind, p.object) {
		if parent.ref.Section != "" {
			s.contain(parent.ref.WithoutSection(), parent.ref)
		}
		if s.res.Node(parent.owner).Role == topology.ListenerSet {
			s.contain(s.res.Node(s.res.Graph.Set(parent.owner).Gateway).Ref, parent.ref.WithoutSection())
		}
		note(s.edges, parent.ref, route)
		if p.node != topology.None && p.holder == nil && s.invalid(p, nil) == "" {
			s.join(p, parent)
		}
	}
	if p.target.Section != "" && p.node != topology.None {
		note(s.rules, route, p.target.Section)
	}
}

// join notes the policies that a route's policy with mergeType is merged with, listener by listener.
func (s *scopes) join(p *place, at parent) {
	if mergeType(p.policy) == "" {
		return
	}
	for _, listener := range at.listeners {
		levels := []topology.NodeID{listener, at.owner}
		if s.res.Node(at.owner).Role == topology.ListenerSet {
			levels = append(levels, s.res.Graph.Set(at.owner).Gateway)
		}
		for _, level := range levels {
			above := s.holders[level]
			if above == nil {
				continue
			}
			if s.pairs[p.policy] == nil {
				s.pairs[p.policy] = map[model.Ref]*pairing{}
			}
			m := &pairing{parent: above, scope: s.res.Node(level).Ref, route: p.target.WithoutSection()}
			s.pairs[p.policy][s.res.Node(listener).Ref] = m
			if s.fault(p, above) == "" {
				note(s.merged, m.scope, m.route)
			}
			break
		}
	}
}

// below lists the targets of policies below a scope.
func (s *scopes) below(scope model.Ref) map[model.Ref]bool {
	out := maps.Clone(s.edges[scope])
	if out == nil {
		out = map[model.Ref]bool{}
	}
	if scope.Section != "" { // routes that name no listener may use this one
		for ref := range s.edges[scope.WithoutSection()] {
			if isRoute(ref.GroupKind()) {
				out[ref] = true
			}
		}
		return out
	}
	for _, inner := range s.inside[scope] {
		maps.Copy(out, s.contents(inner))
	}
	return out
}

// contents is below for a scope within another one: only what is noted there or deeper.
func (s *scopes) contents(scope model.Ref) map[model.Ref]bool {
	out := maps.Clone(s.edges[scope])
	if out == nil {
		out = map[model.Ref]bool{}
	}
	for _, inner := range s.inside[scope] {
		maps.Copy(out, s.contents(inner))
	}
	return out
}

// overriding describes the targets below a scope whose policies override the one there, "" if there are none.
func (s *scopes) overriding(scope model.Ref) string {
	var listeners, sets, setListeners, routes []string
	for ref := range s.below(scope) {
		switch {
		case s.merged[scope][ref]:
		case isRoute(ref.GroupKind()):
			routes = append(routes, ref.FullName())
		case topology.IsListenerSet(ref.GroupKind()) && ref.Section != "":
			setListeners = append(setListeners, ref.FullName()+"/"+ref.Section)
		case topology.IsListenerSet(ref.GroupKind()):
			sets = append(sets, ref.FullName())
		default:
			listeners = append(listeners, ref.FullName()+"/"+ref.Section)
		}
	}
	var groups []string
	for _, g := range []struct {
		word  string
		names []string
	}{{"gateway listeners", listeners}, {"listenersets", sets}, {"listenerset listeners", setListeners}, {"routes", routes}} {
		if len(g.names) > 0 {
			groups = append(groups, "these "+g.word+": "+bracketed(g.names))
		}
	}
	return strings.Join(groups, " and ")
}

// merging lists the routes whose policies are merged with the one at a scope.
func (s *scopes) merging(scope model.Ref) []string {
	var out []string
	for ref := range s.merged[scope] {
		out = append(out, ref.FullName())
	}
	return out
}

// bracketed is a list as the controller writes it: sorted, each once.
func bracketed(names []string) string {
	return inBrackets(slices.Compact(slices.Sorted(slices.Values(names))))
}

func inBrackets(names []string) string { return "[" + strings.Join(names, " ") + "]" }

// mergeType is how a policy asks to be merged with what is above its route, "" if it does not.
func mergeType(p *policy.Policy) string { return p.Object.Text("spec", "mergeType") }
