package envoygateway

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// scopeTree is what the controller notes about which targets lie below which. A scope is a target:
// a Gateway, a ListenerSet, a listener of either, a route.
type scopeTree struct {
	res       *resolve.Resolution
	kind      *resolve.Kind
	edges     map[model.Ref]map[model.Ref]bool // from a scope to those of policies below it
	contained map[model.Ref][]model.Ref        // the scopes that a scope contains
	// by scope: the routes whose policies are merged with the one there
	merged     map[model.Ref]map[model.Ref]bool
	rules      map[model.Ref]map[string]bool               // by route: its rules with a policy of their own
	holders    map[topology.NodeID]*policy.Policy          // by target: who has it
	mergePairs map[*policy.Policy]map[model.Ref]*mergePair // by child: its parents, by listener ancestor
}

// mergePair is a child's parent on one listener.
type mergePair struct {
	parent *policy.Policy
	scope  model.Ref // of the parent
	route  model.Ref
}

// buildScopeTree reads the scopes off the targets of policies.
func buildScopeTree(r *resolve.Resolution, k *resolve.Kind, all []policyTarget) *scopeTree {
	s := &scopeTree{res: r, kind: k, edges: map[model.Ref]map[model.Ref]bool{}, contained: map[model.Ref][]model.Ref{},
		merged: map[model.Ref]map[model.Ref]bool{},
		rules:  map[model.Ref]map[string]bool{}, mergePairs: map[*policy.Policy]map[model.Ref]*mergePair{},
		holders: map[topology.NodeID]*policy.Policy{}}
	for _, p := range all {
		if p.node != topology.None && p.holder == nil {
			s.holders[p.node] = p.policy
		}
	}
	for i := range all {
		p := &all[i]
		switch n := r.Node(p.object); n.Role {
		case topology.Route:
			s.addRoutePolicy(p)
		case topology.ListenerSet:
			gateway := r.Node(r.Graph.ListenerSet(p.object).Gateway).Ref
			s.addContained(gateway, n.Ref)
			if p.target.Section == "" {
				addToSet(s.edges, gateway, n.Ref)
			}
			s.addListenerPolicy(p, n.Ref)
		case topology.Gateway:
			s.addListenerPolicy(p, n.Ref)
		}
	}
	return s
}

func addToSet[V comparable](m map[model.Ref]map[V]bool, at model.Ref, what V) {
	if m[at] == nil {
		m[at] = map[V]bool{}
	}
	m[at][what] = true
}

func (s *scopeTree) addContained(outer, inner model.Ref) {
	if !slices.Contains(s.contained[outer], inner) {
		s.contained[outer] = append(s.contained[outer], inner)
	}
}

// addListenerPolicy notes a policy for a listener.
func (s *scopeTree) addListenerPolicy(p *policyTarget, owner model.Ref) {
	if p.target.Section == "" || p.node == topology.None {
		return
	}
	s.addContained(owner, p.target)
	addToSet(s.edges, owner, p.target)
}

// addRoutePolicy notes a policy for a route or a rule, and with whom it is merged.
func (s *scopeTree) addRoutePolicy(p *policyTarget) {
	route := p.target.WithoutSection()
	for _, parent := range listParents(s.res, s.kind, p.object) {
		if parent.ref.Section != "" {
			s.addContained(parent.ref.WithoutSection(), parent.ref)
		}
		if s.res.Node(parent.owner).Role == topology.ListenerSet {
			s.addContained(s.res.Node(s.res.Graph.ListenerSet(parent.owner).Gateway).Ref, parent.ref.WithoutSection())
		}
		addToSet(s.edges, parent.ref, route)
		if p.node != topology.None && p.holder == nil && s.validationFault(p, nil) == "" {
			s.addMergePairs(p, parent)
		}
	}
	if p.target.Section != "" && p.node != topology.None {
		addToSet(s.rules, route, p.target.Section)
	}
}

// addMergePairs notes the policies that a route's policy with mergeType is merged with, listener by
// listener.
func (s *scopeTree) addMergePairs(p *policyTarget, at parent) {
	if mergeTypeOf(p.policy) == "" {
		return
	}
	for _, listener := range at.listeners {
		levels := []topology.NodeID{listener, at.owner}
		if s.res.Node(at.owner).Role == topology.ListenerSet {
			levels = append(levels, s.res.Graph.ListenerSet(at.owner).Gateway)
		}
		for _, level := range levels {
			above := s.holders[level]
			if above == nil {
				continue
			}
			if s.mergePairs[p.policy] == nil {
				s.mergePairs[p.policy] = map[model.Ref]*mergePair{}
			}
			m := &mergePair{parent: above, scope: s.res.Node(level).Ref, route: p.target.WithoutSection()}
			s.mergePairs[p.policy][s.res.Node(listener).Ref] = m
			if s.routeFault(p, above) == "" {
				addToSet(s.merged, m.scope, m.route)
			}
			break
		}
	}
}

// targetsBelow lists the targets of policies below a scope.
func (s *scopeTree) targetsBelow(scope model.Ref) map[model.Ref]bool {
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
	for _, inner := range s.contained[scope] {
		maps.Copy(out, s.targetsWithin(inner))
	}
	return out
}

// targetsWithin is targetsBelow for a scope within another one: only what is noted there or deeper.
func (s *scopeTree) targetsWithin(scope model.Ref) map[model.Ref]bool {
	out := maps.Clone(s.edges[scope])
	if out == nil {
		out = map[model.Ref]bool{}
	}
	for _, inner := range s.contained[scope] {
		maps.Copy(out, s.targetsWithin(inner))
	}
	return out
}

// describeOverriding describes the targets below a scope whose policies override the one there, ""
// if there are none.
func (s *scopeTree) describeOverriding(scope model.Ref) string {
	var listeners, sets, setListeners, routes []string
	for ref := range s.targetsBelow(scope) {
		switch {
		case s.merged[scope][ref]:
		case isRoute(ref.GroupKind()):
			routes = append(routes, ref.FullName())
		case gatewayapi.IsListenerSet(ref.GroupKind()) && ref.Section != "":
			setListeners = append(setListeners, ref.FullName()+"/"+ref.Section)
		case gatewayapi.IsListenerSet(ref.GroupKind()):
			sets = append(sets, ref.FullName())
		default:
			listeners = append(listeners, ref.FullName()+"/"+ref.Section)
		}
	}
	var groups []string
	for _, g := range []struct {
		word  string
		names []string
	}{{"gateway listeners", listeners}, {"listenersets", sets}, {"listenerset listeners", setListeners}, {"routes",
		routes}} {
		if len(g.names) > 0 {
			groups = append(groups, "these "+g.word+": "+formatUnique(g.names))
		}
	}
	return strings.Join(groups, " and ")
}

// listMergedRoutes lists the routes whose policies are merged with the one at a scope.
func (s *scopeTree) listMergedRoutes(scope model.Ref) []string {
	var out []string
	for ref := range s.merged[scope] {
		out = append(out, ref.FullName())
	}
	return out
}

// formatUnique is a list as the controller writes it: sorted, each once.
func formatUnique(names []string) string {
	return formatList(slices.Compact(slices.Sorted(slices.Values(names))))
}

func formatList(names []string) string { return "[" + strings.Join(names, " ") + "]" }

// mergeTypeOf is how a policy asks to be merged with what is above its route, "" if it does not.
func mergeTypeOf(p *policy.Policy) string { return p.Object.Text("spec", "mergeType") }
