package resolve

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// addListenerSets adds the gaps that leave open which listeners ListenerSets add to a Gateway: the
// sets themselves, one of which may have the place of another one's listener, their Gateways, and
// the labels of their namespaces.
func (f *gapFinder) addListenerSets() {
	for _, gk := range gatewayapi.ListenerSetKinds() {
		f.addAny(gk)
	}
	maps.Copy(f.found, f.res.findSetGaps(f.cluster))
}

// findSetGaps returns the gaps that leave open whether Gateways take the sets that were read. They
// are the same for every kind.
func (r *Resolution) findSetGaps(cluster *model.Cluster) map[Gap]bool {
	if r.setGaps != nil {
		return r.setGaps
	}
	r.setGaps = map[Gap]bool{}
	f := gapFinder{res: r, cluster: cluster, found: r.setGaps}
	g := r.Graph
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.ListenerSet || n.Object == nil {
			continue
		}
		switch s := g.ListenerSet(id); {
		case s.State != topology.SetUnknown:
		case s.Missing:
			f.addIn(attach.GatewayKind, g.Node(s.Gateway).Ref.Namespace)
		case f.cluster.IsUnread(attach.NamespaceKind, n.Ref.Namespace):
			f.found[Gap{Kind: attach.NamespaceKind}] = true
		}
	}
	return r.setGaps
}

// reportSetSwitch reports of every Gateway with policies and ListenerSets below which these hold,
// or would, that a setting decides about it (gatewayapi G25). It is reported once for each Gateway:
// that is where somebody can do something about it.
func (r *Resolution) reportSetSwitch() []model.Problem {
	var out []model.Problem
	g := r.Graph
	for _, id := range g.Order(topology.Traffic) {
		if g.Node(id).Role != topology.Gateway || !slices.ContainsFunc(r.Kinds, func(k *Kind) bool {
			along, ok := k.engine.(*pathEngine)
			return ok && along.holdsOverSets(id)
		}) {
			continue
		}
		holds, other := "hold for the listeners of its listener sets as well", "false"
		if slices.ContainsFunc(g.Children(topology.Traffic, id),
			func(c topology.NodeID) bool { return !g.PassesPolicies(id, c) }) {
			holds, other = "do not hold for the listeners of its listener sets", "true"
		}
		ref := g.Node(id).Ref
		p := model.Problem{Severity: model.Info, Code: model.SettingMatters, Ref: &ref,
			Message: fmt.Sprintf("policies that hold at %s %s; implementations differ", ref, holds),
			Hint:    fmt.Sprintf("--vendor-setting %s=%s", gatewayapi.GatewayReachesSets, other)}
		if o := g.Node(id).Object; o != nil {
			p = p.At(o)
		}
		out = append(out, p)
	}
	return out
}

// holdsOverSets reports whether policies of the kind hold at a Gateway and traffic passes a
// ListenerSet of it on the way to an effective target.
func (k *pathEngine) holdsOverSets(gateway topology.NodeID) bool {
	if len(k.Table) == 0 || len(k.nodesHoldingAt(gateway)) == 0 {
		return false
	}
	g := k.res.Graph
	for _, set := range g.Children(k.Family, gateway) {
		if g.Node(set).Role != topology.ListenerSet || !slices.Contains(k.parentsOf(set), gateway) {
			continue
		}
		for _, listener := range g.Children(k.Family, set) {
			passed := func(route topology.NodeID) bool { return len(k.Contexts(route)) > 0 }
			if k.HasResultsAt(topology.ListenerSet) || k.HasResultsAt(topology.Listener) ||
				slices.ContainsFunc(g.Children(k.Family, listener), passed) {
				return true
			}
		}
	}
	return false
}

// stacksBelow returns the stacks that come from a node to the given one right below it: the node's,
// or those from above it where what holds at the node itself ends there, or those of the listeners
// that the route's hosts belong to.
func (k *pathEngine) stacksBelow(from, to topology.NodeID) []StackID {
	g := k.res.Graph
	if owners := g.HostOwners(from, to, k.Controllers); owners != nil {
		var out []StackID
		for _, owner := range owners {
			out = append(out, k.contexts[owner]...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	if g.PassesPolicies(from, to) {
		return k.contexts[from]
	}
	if above := k.inheritedStacks(from); above != nil {
		return above
	}
	return []StackID{0}
}

// pathsTo lists the ways to a node, whatever holds there.
func (k *pathEngine) pathsTo(id topology.NodeID) []Path {
	var out []Path
	for _, s := range k.contexts[id] {
		out = append(out, k.Paths(id, s)...)
	}
	return out
}
