package collect

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ConvertTargetPaths puts the paths to a target of one kind into the shape of the contract. Equal
// input shares one list, which is not to be changed.
func (a *Collector) ConvertTargetPaths(k *resolve.Kind, target topology.NodeID, s resolve.StackID,
	ways []resolve.Path) []view.Path {
	if k.Scope == nil {
		a.byRoute, a.byRule = resolve.RouteDependence(k)
		out := a.ConvertPaths(ways)
		a.byRoute, a.byRule = false, false
		return out
	}
	if len(ways) == 0 {
		return []view.Path{}
	}
	name := k.NameOf(s)
	key := scopedPathsKey{k.Scope.Name, name, &ways[0], len(ways)}
	if known, ok := a.scopedPathCache[key]; ok {
		return known
	}
	out := make([]view.Path, 0, len(ways))
	for _, way := range ways {
		p := view.Path{Direction: k.Scope.Name, Hostname: name}
		for i, step := range way {
			switch n := a.Resolution.Node(step); n.Role {
			case topology.Gateway:
				p.Gateway = n.Ref.FullName()
				a.visitedNamespaces[n.Ref.Namespace] = true
			case topology.MeshRoot:
				p.Mesh = n.Ref.Name
			case topology.Proxy:
				p.Dataplane = n.Ref.FullName()
				a.visitedNamespaces[n.Ref.Namespace] = true
			case topology.Namespace, topology.Workload: // the target itself says where it is
			default:
				if i == 0 && step == target {
					continue
				}
				p.Destination = view.FormatPathObject(n.Ref)
			}
		}
		out = append(out, p)
	}
	out = view.SortPaths(out)
	if a.scopedPathCache == nil {
		a.scopedPathCache = map[scopedPathsKey][]view.Path{}
	}
	a.scopedPathCache[key] = out
	return out
}

// scopedPathsKey tells lists of paths apart.
type scopedPathsKey struct {
	scope string
	name  string
	first *resolve.Path
	n     int
}
