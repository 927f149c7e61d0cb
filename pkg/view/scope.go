package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// waysOf puts the ways to a target of one kind into the shape of the contract. The same ways share one list, which is not to be changed.
func (a *survey) waysOf(k *resolve.Kind, s resolve.StackID, ways []resolve.Path) []Path {
	if k.Scope == nil {
		return a.paths(ways)
	}
	if len(ways) == 0 {
		return []Path{}
	}
	name := k.NameOf(s)
	key := scopedWays{k.Scope.Name, name, &ways[0], len(ways)}
	if known, ok := a.scoped[key]; ok {
		return known
	}
	out := make([]Path, 0, len(ways))
	for _, way := range ways {
		p := Path{Direction: k.Scope.Name, Hostname: name}
		for _, step := range way {
			switch n := a.res.Node(step); n.Role {
			case topology.MeshRoot:
				p.Mesh = n.Ref.Name
			case topology.Proxy:
				p.Dataplane = n.Ref.FullName()
				a.spaces[n.Ref.Namespace] = true
			case topology.Namespace, topology.Workload: // the target itself says where it is
			default:
				p.Destination = destinationName(n)
			}
		}
		out = append(out, p)
	}
	out = inOrder(out)
	if a.scoped == nil {
		a.scoped = map[scopedWays][]Path{}
	}
	a.scoped[key] = out
	return out
}

// scopedWays tells lists of ways apart.
type scopedWays struct {
	scope string
	name  string
	first *resolve.Path
	n     int
}

// destinationName is how the contract names what a proxy calls: "Kind ns/name port".
func destinationName(n *topology.Node) string {
	s := n.Ref.Kind + " " + n.Ref.FullName()
	if n.Ref.Section != "" {
		s += " " + n.Ref.Section
	}
	return s
}
