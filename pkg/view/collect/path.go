package collect

import (
	"encoding/binary"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ConvertPaths puts paths into the shape of the contract, sorted, each once. Equal input shares one
// list, which is not to be changed.
func (a *Collector) ConvertPaths(ways []resolve.Path) []view.Path {
	var key []byte
	for _, way := range ways {
		key = a.appendPathKey(key, way)
	}
	if known, ok := a.pathCache[string(key)]; ok {
		return known
	}
	out := []view.Path{}
	for _, way := range ways {
		if p := a.ConvertPath(way); p.Gateway != "" || p.GatewayClass != "" || p.ListenerSet != "" ||
			p.Destination != "" || p.Binding != "" {
			out = append(out, p)
		}
	}
	out = view.SortPaths(out)
	if a.pathCache == nil {
		a.pathCache = map[string][]view.Path{}
	}
	a.pathCache[string(key)] = slices.Clip(out)
	return a.pathCache[string(key)]
}

// appendPathKey appends the nodes that convertPath reads from a path, as numbers from 1, and 0 at
// the end.
func (a *Collector) appendPathKey(key []byte, way resolve.Path) []byte {
	for _, step := range way {
		tells := false
		switch n := a.Resolution.Node(step); n.Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Frontend,
			topology.Binding:
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
		key = binary.AppendUvarint(key, uint64(a.Resolution.Len())+1)
	}
	return append(key, 0)
}

// ConvertPath puts a path into the shape of the contract.
func (a *Collector) ConvertPath(way resolve.Path) (p view.Path) {
	for _, step := range way {
		switch n := a.Resolution.Node(step); n.Role {
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
				p.Route = view.FormatPathObject(n.Ref)
			}
		case topology.Rule:
			if a.byRule {
				p.Route = view.FormatPathObject(n.Ref)
			}
			if n.Delegates {
				p.DelegatedFrom, p.DelegatedRules = append(p.DelegatedFrom, n.Ref.FullName()), append(p.DelegatedRules,
					n.Ref.Section)
			}
		case topology.Binding:
			p.Binding = view.BindingName(n.Ref)
			a.visitedNamespaces[n.Ref.Namespace] = true
		case topology.Frontend:
			p.Destination, p.Direction = view.FormatPathObject(n.Ref), view.DirectionProducer
			a.visitedNamespaces[n.Ref.Namespace] = true
		}
	}
	if a.isConsumerPath(way) {
		p.Direction = view.DirectionConsumer
	}
	return p
}
