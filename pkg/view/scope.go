package view

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// waysOf puts the ways to a target of one kind into the shape of the contract.
func (a *survey) waysOf(k *resolve.Kind, ways []resolve.Path) []Path {
	if k.Scope == nil {
		return a.paths(ways)
	}
	out := make([]Path, 0, len(ways))
	for _, way := range ways {
		p := Path{Direction: k.Scope.Name}
		for i, step := range way {
			n := a.res.Node(step)
			switch {
			case n.Role == topology.MeshRoot:
				p.Mesh = n.Ref.Name
			case i == len(way)-1: // the target
			case n.Role == topology.Proxy:
				p.Dataplane = n.Ref.FullName()
				a.spaces[n.Ref.Namespace] = true
			default:
				p.Destination = destinationName(n)
			}
		}
		out = append(out, p)
	}
	slices.SortFunc(out, comparePaths)
	return slices.CompactFunc(out, func(x, y Path) bool { return comparePaths(x, y) == 0 })
}

// destinationName is how the contract names what a proxy calls: "Kind ns/name port".
func destinationName(n *topology.Node) string {
	s := n.Ref.Kind + " " + n.Ref.FullName()
	if n.Ref.Section != "" {
		s += " " + n.Ref.Section
	}
	return s
}
