package kuadrant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rfcMarks are the conditions by which RFC 0009 tells the owners of Gateways and routes whether policies on the object, its sections or
// above it are in force on the ways through it: on all of them, on some, or on none. What is attached further down is told there.
func rfcMarks(r *resolve.Resolution, k *resolve.Kind) []status.Mark {
	s := surveyor{res: r, kind: k, in: map[resolve.StackID][]attached{}, found: map[topology.NodeID]*finding{}}
	g := r.Graph
	for _, p := range k.Policies {
		for _, id := range k.TargetsOf(p) {
			s.target(id)
		}
	}
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role != topology.Rule {
			continue
		}
		for _, stack := range k.Contexts(id) {
			for _, path := range k.Paths(id, stack) {
				s.way(path, s.stack(stack))
			}
		}
	}
	var out []status.Mark
	for _, id := range g.Order(topology.Traffic) {
		if f := s.found[id]; f != nil && f.concerned {
			m := status.Mark{Object: g.Node(id).Ref, Condition: f.condition(g, id, k.GroupKind.Kind)}
			if g.Node(id).Role == topology.Route {
				m.Controller = controller
			}
			out = append(out, m)
		}
	}
	return out
}

// attached is a policy of a stack, where it stands, and whether it has a part in the result.
type attached struct {
	node    topology.NodeID
	name    string
	inForce bool
}

// finding is what was seen on the ways through one object.
type finding struct {
	concerned      bool // a policy is attached to it, to a section of it, or above it
	ways, affected int
	by             []string
	sections       map[topology.NodeID]bool
}

type surveyor struct {
	res   *resolve.Resolution
	kind  *resolve.Kind
	in    map[resolve.StackID][]attached
	found map[topology.NodeID]*finding
}

func (s *surveyor) of(id topology.NodeID) *finding {
	if s.found[id] == nil {
		s.found[id] = &finding{sections: map[topology.NodeID]bool{}}
	}
	return s.found[id]
}

// target notes that a policy is attached to a node: its object is concerned even if no traffic reaches it.
func (s *surveyor) target(id topology.NodeID) {
	switch s.res.Node(id).Role {
	case topology.Gateway, topology.Route:
		s.of(id).concerned = true
	case topology.Listener, topology.Rule:
		for _, parent := range s.res.Graph.Parents(topology.Traffic, id) {
			s.of(parent).concerned = true
		}
	}
}

func (s *surveyor) stack(id resolve.StackID) []attached {
	if known, ok := s.in[id]; ok {
		return known
	}
	o := s.kind.Verdict(id)
	out := make([]attached, len(o.Layers))
	for i, l := range o.Layers {
		out[i] = attached{node: l.Node, name: l.Policy.Ref().FullName()}
	}
	for _, rule := range o.Result.Rules {
		for _, from := range rule.From {
			out[from.Layer].inForce = true
		}
	}
	s.in[id] = out
	return out
}

// way counts one way for the Gateway and the route on it.
func (s *surveyor) way(path resolve.Path, policies []attached) {
	for i, id := range path[:len(path)-1] {
		if role := s.res.Node(id).Role; role != topology.Gateway && role != topology.Route {
			continue
		}
		f := s.of(id)
		f.ways++
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

func (f *finding) condition(g *topology.Graph, id topology.NodeID, kind string) status.Condition {
	c := status.Condition{Type: "kuadrant.io/" + kind + "Affected", Status: "True", Reason: "Affected"}
	slices.Sort(f.by)
	by := fmt.Sprintf("%s [%s]", kind, strings.Join(f.by, " "))
	switch {
	case f.affected == 0:
		c.Status, c.Reason, c.Message = "False", "Unaffected", "the object is not affected by any "+kind
	case f.affected == f.ways:
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
