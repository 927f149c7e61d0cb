package kuadrant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rfcConditions are the conditions by which RFC 0009 tells the owners of Gateways and routes
// whether policies on the object, its sections or above it are in force on the paths through it: on
// all of them, on some, or on none. What is attached further down is told there.
func rfcConditions(r *resolve.Resolution, k *resolve.Kind) []status.Mark {
	s := effectSurvey{res: r, kind: k, stacks: map[resolve.StackID][]stackPolicy{},
		found: map[topology.NodeID]*objectEffect{}}
	g := r.Graph
	for _, p := range k.Policies {
		for _, id := range k.TargetsOf(p) {
			s.addTarget(id)
		}
	}
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role != topology.Rule {
			continue
		}
		for _, stack := range k.Contexts(id) {
			for _, path := range k.Paths(id, stack) {
				s.addPath(path, s.readStack(stack))
			}
		}
	}
	var out []status.Mark
	for _, id := range g.Order(topology.Traffic) {
		if f := s.found[id]; f != nil && f.concerned {
			m := status.Mark{Object: g.Node(id).Ref, Condition: f.toCondition(g, id, k.GroupKind.Kind)}
			if g.Node(id).Role == topology.Route {
				m.Controller = controller
			}
			out = append(out, m)
		}
	}
	return out
}

// stackPolicy is a policy of a stack, where it stands, and whether it has a part in the result.
type stackPolicy struct {
	node    topology.NodeID
	name    string
	inForce bool
}

// objectEffect is what was seen on the paths through one object.
type objectEffect struct {
	concerned       bool // a policy is attached to the object, to a section of it, or above it
	paths, affected int
	by              []string
	sections        map[topology.NodeID]bool
}

type effectSurvey struct {
	res    *resolve.Resolution
	kind   *resolve.Kind
	stacks map[resolve.StackID][]stackPolicy
	found  map[topology.NodeID]*objectEffect
}

func (s *effectSurvey) effectOf(id topology.NodeID) *objectEffect {
	if s.found[id] == nil {
		s.found[id] = &objectEffect{sections: map[topology.NodeID]bool{}}
	}
	return s.found[id]
}

// addTarget notes that a policy is attached to a node: its object is concerned even if no traffic
// reaches it.
func (s *effectSurvey) addTarget(id topology.NodeID) {
	switch s.res.Node(id).Role {
	case topology.Gateway, topology.Route:
		s.effectOf(id).concerned = true
	case topology.Listener, topology.Rule:
		for _, parent := range s.res.Graph.Parents(topology.Traffic, id) {
			s.effectOf(parent).concerned = true
		}
	}
}

func (s *effectSurvey) readStack(id resolve.StackID) []stackPolicy {
	if known, ok := s.stacks[id]; ok {
		return known
	}
	o := s.kind.Verdict(id)
	out := make([]stackPolicy, len(o.Layers))
	for i, l := range o.Layers {
		out[i] = stackPolicy{node: l.Node, name: l.Policy.Ref().FullName()}
	}
	for _, rule := range o.Result.Rules {
		for _, from := range rule.From {
			out[from.Layer].inForce = true
		}
	}
	s.stacks[id] = out
	return out
}

// addPath counts one path for the Gateway and the route on it.
func (s *effectSurvey) addPath(path resolve.Path, policies []stackPolicy) {
	for i, id := range path[:len(path)-1] {
		if role := s.res.Node(id).Role; role != topology.Gateway && role != topology.Route {
			continue
		}
		f := s.effectOf(id)
		f.paths++
		before := f.sections[path[i+1]]
		hit := false
		for _, p := range policies {
			if !slices.Contains(path[:i+2], p.node) {
				continue
			}
			f.concerned = true
			if p.inForce {
				hit = true
				if !slices.Contains(f.by, p.name) {
					f.by = append(f.by, p.name)
				}
			}
		}
		if hit {
			f.affected++
		}
		f.sections[path[i+1]] = before || hit
	}
}

func (f *objectEffect) toCondition(g *topology.Graph, id topology.NodeID, kind string) status.Condition {
	c := status.Condition{Type: "kuadrant.io/" + kind + "Affected", Status: "True", Reason: "Affected"}
	slices.Sort(f.by)
	by := fmt.Sprintf("%s [%s]", kind, strings.Join(f.by, " "))
	switch {
	case f.affected == 0:
		c.Status, c.Reason, c.Message = "False", "Unaffected", "the object is not affected by any "+kind
	case f.affected == f.paths:
		c.Message = "the object is affected by " + by
	default:
		var sections []string
		for _, child := range g.Children(topology.Traffic, id) {
			if f.sections[child] {
				sections = append(sections, g.Node(child).Ref.Section)
			}
		}
		c.Reason = "PartiallyAffected"
		c.Message = fmt.Sprintf("sections of the object are affected by %s: %s", by, strings.Join(sections, ", "))
	}
	return c
}
