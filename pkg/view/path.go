package view

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// convertPaths puts paths into the shape of the contract, sorted, each once. Equal input shares one
// list, which is not to be changed.
func (a *collector) convertPaths(ways []resolve.Path) []Path {
	var key []byte
	for _, way := range ways {
		key = a.appendPathKey(key, way)
	}
	if known, ok := a.pathCache[string(key)]; ok {
		return known
	}
	out := []Path{}
	for _, way := range ways {
		if p := a.convertPath(way); p.Gateway != "" || p.GatewayClass != "" || p.ListenerSet != "" || p.Destination != "" || p.Binding != "" {
			out = append(out, p)
		}
	}
	out = sortPaths(out)
	if a.pathCache == nil {
		a.pathCache = map[string][]Path{}
	}
	a.pathCache[string(key)] = slices.Clip(out)
	return a.pathCache[string(key)]
}

// appendPathKey appends the nodes that convertPath reads from a path, as numbers from 1, and 0 at
// the end.
func (a *collector) appendPathKey(key []byte, way resolve.Path) []byte {
	for _, step := range way {
		tells := false
		switch n := a.res.Node(step); n.Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Frontend, topology.Binding:
			tells = true
		case topology.Route:
			tells = a.byRoute
		case topology.Rule:
			tells = n.Delegates || a.byRule
		}
		if tells {
			key = binary.AppendUvarint(key, uint64(step)+1)
		}
	}
	if a.isConsumerPath(way) {
		key = binary.AppendUvarint(key, uint64(a.res.Len())+1)
	}
	return append(key, 0)
}

// convertPath puts a path into the shape of the contract.
func (a *collector) convertPath(way resolve.Path) (p Path) {
	for _, step := range way {
		switch n := a.res.Node(step); n.Role {
		case topology.GatewayClass:
			p.GatewayClass = n.Ref.Name
		case topology.Gateway:
			p.Gateway = n.Ref.FullName()
			a.visitedNamespaces[n.Ref.Namespace] = true
		case topology.ListenerSet:
			p.ListenerSet = n.Ref.FullName()
			a.visitedNamespaces[n.Ref.Namespace] = true
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
			if n.Delegates {
				p.DelegatedFrom, p.DelegatedRules = append(p.DelegatedFrom, n.Ref.FullName()), append(p.DelegatedRules, n.Ref.Section)
			}
		case topology.Binding:
			p.Binding = bindingName(n.Ref)
			a.visitedNamespaces[n.Ref.Namespace] = true
		case topology.Frontend:
			p.Destination, p.Direction = targetName(n.Ref), directionProducer
			a.visitedNamespaces[n.Ref.Namespace] = true
		}
	}
	if a.isConsumerPath(way) {
		p.Direction = directionConsumer
	}
	return p
}

// sortPaths sorts paths and removes duplicates.
func sortPaths(paths []Path) []Path {
	if !slices.IsSortedFunc(paths, comparePaths) { // they mostly are
		slices.SortFunc(paths, comparePaths)
	}
	return slices.CompactFunc(paths, func(x, y Path) bool { return comparePaths(x, y) == 0 })
}

// comparePaths orders paths by their fields, from the Gateway down.
func comparePaths(a, b Path) int {
	return cmp.Or(cmp.Compare(a.Gateway, b.Gateway), cmp.Compare(a.ListenerSet, b.ListenerSet), cmp.Compare(a.Listener, b.Listener),
		cmp.Compare(a.GatewayClass, b.GatewayClass), cmp.Compare(a.Destination, b.Destination), cmp.Compare(a.Direction, b.Direction),
		slices.Compare(a.DelegatedFrom, b.DelegatedFrom), slices.Compare(a.DelegatedRules, b.DelegatedRules),
		cmp.Compare(a.Mesh, b.Mesh), cmp.Compare(a.Dataplane, b.Dataplane), cmp.Compare(a.Hostname, b.Hostname), cmp.Compare(a.Binding, b.Binding), cmp.Compare(a.Route, b.Route))
}

// bindingName names an object that brings policies to targets, with the part of it that is meant:
// "infra/everywhere (set base)".
func bindingName(ref model.Ref) string {
	if ref.Section == "" {
		return ref.FullName()
	}
	return ref.FullName() + " (" + ref.Section + ")"
}
