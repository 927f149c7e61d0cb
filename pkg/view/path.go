package view

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// paths puts ways into the shape of the contract, sorted, each once. The same ways share one list, which is not to be changed.
func (a *collector) paths(ways []resolve.Path) []Path {
	var key []byte
	for _, way := range ways {
		key = a.appendKey(key, way)
	}
	if known, ok := a.ways[string(key)]; ok {
		return known
	}
	out := []Path{}
	for _, way := range ways {
		if p := a.pathOf(way); p.Gateway != "" || p.GatewayClass != "" || p.ListenerSet != "" || p.Destination != "" || p.Binding != "" {
			out = append(out, p)
		}
	}
	out = inOrder(out)
	if a.ways == nil {
		a.ways = map[string][]Path{}
	}
	a.ways[string(key)] = slices.Clip(out)
	return a.ways[string(key)]
}

// appendKey appends what pathOf makes of a way, as numbers of nodes, from 1; 0 ends it.
func (a *collector) appendKey(key []byte, way resolve.Path) []byte {
	for _, step := range way {
		tells := false
		switch n := a.res.Node(step); n.Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Frontend, topology.Binding:
			tells = true
		case topology.Route:
			tells = a.byRoute
		case topology.Rule:
			tells = n.Transit || a.byRule
		}
		if tells {
			key = binary.AppendUvarint(key, uint64(step)+1)
		}
	}
	if a.consumes(way) {
		key = binary.AppendUvarint(key, uint64(a.res.Len())+1)
	}
	return append(key, 0)
}

// pathOf is a way in the shape of the contract.
func (a *collector) pathOf(way resolve.Path) (p Path) {
	for _, step := range way {
		switch n := a.res.Node(step); n.Role {
		case topology.GatewayClass:
			p.GatewayClass = n.Ref.Name
		case topology.Gateway:
			p.Gateway = n.Ref.FullName()
			a.spaces[n.Ref.Namespace] = true
		case topology.ListenerSet:
			p.ListenerSet = n.Ref.FullName()
			a.spaces[n.Ref.Namespace] = true
		case topology.Listener:
			p.Listener = n.Ref.Section
		case topology.Route:
			if a.byRoute {
				p.Route = n.Ref.Kind + " " + n.Ref.FullName()
			}
		case topology.Rule:
			if a.byRule {
				p.Route = n.Ref.Kind + " " + n.Ref.FullName() + " " + n.Ref.Section
			}
			if n.Transit {
				p.DelegatedFrom, p.DelegatedRules = append(p.DelegatedFrom, n.Ref.FullName()), append(p.DelegatedRules, n.Ref.Section)
			}
		case topology.Binding:
			p.Binding = bindingName(n.Ref)
			a.spaces[n.Ref.Namespace] = true
		case topology.Frontend:
			p.Destination, p.Direction = targetName(n.Ref), directionProducer
			a.spaces[n.Ref.Namespace] = true
		}
	}
	if a.consumes(way) {
		p.Direction = directionConsumer
	}
	return p
}

// inOrder sorts paths, and leaves each once.
func inOrder(paths []Path) []Path {
	if !slices.IsSortedFunc(paths, comparePaths) { // they mostly are
		slices.SortFunc(paths, comparePaths)
	}
	return slices.CompactFunc(paths, func(x, y Path) bool { return comparePaths(x, y) == 0 })
}

func comparePaths(a, b Path) int {
	return cmp.Or(cmp.Compare(a.Gateway, b.Gateway), cmp.Compare(a.ListenerSet, b.ListenerSet), cmp.Compare(a.Listener, b.Listener),
		cmp.Compare(a.GatewayClass, b.GatewayClass), cmp.Compare(a.Destination, b.Destination), cmp.Compare(a.Direction, b.Direction),
		slices.Compare(a.DelegatedFrom, b.DelegatedFrom), slices.Compare(a.DelegatedRules, b.DelegatedRules),
		cmp.Compare(a.Mesh, b.Mesh), cmp.Compare(a.Dataplane, b.Dataplane), cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Binding, b.Binding), cmp.Compare(a.Route, b.Route))
}

// bindingName is an object that brings policies to targets, with the way of it that is meant: "infra/everywhere (set base)".
func bindingName(ref model.Ref) string {
	if ref.Section == "" {
		return ref.FullName()
	}
	return ref.FullName() + " (" + ref.Section + ")"
}
