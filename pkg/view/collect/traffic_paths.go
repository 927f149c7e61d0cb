package collect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// TrafficPaths finds the paths on which traffic comes to nodes. It is not safe for concurrent use.
type TrafficPaths struct {
	res   *resolve.Resolution
	known map[topology.NodeID][]resolve.Path
}

// NewTrafficPaths returns a finder for the paths of an input.
func NewTrafficPaths(r *resolve.Resolution) *TrafficPaths {
	return &TrafficPaths{res: r, known: map[topology.NodeID][]resolve.Path{}}
}

// To returns the paths from where traffic comes in down to a node, whether or not a policy kind
// follows them.
func (p *TrafficPaths) To(id topology.NodeID) []resolve.Path {
	if int(id) >= p.res.Graph.Len() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.fromRoots(id)), func(way resolve.Path) bool {
		switch p.res.Node(way[0]).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Frontend:
			return false
		}
		return true
	})
}

// fromRoots returns the paths from the roots to a node. Those to nodes above route rules are kept
// for the next call.
func (p *TrafficPaths) fromRoots(id topology.NodeID) []resolve.Path {
	if known, ok := p.known[id]; ok {
		return known
	}
	g := p.res.Graph
	var out []resolve.Path
	for _, parent := range g.Parents(topology.All, id) {
		for _, way := range p.fromRoots(parent) {
			out = append(out, append(way[:len(way):len(way)], id))
		}
	}
	if out == nil {
		out = []resolve.Path{{id}}
	}
	switch g.Node(id).Role {
	case topology.Rule, topology.Backend, topology.Port:
	default:
		p.known[id] = out
	}
	return out
}
