package graph

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// How much a picture leaves out. Every level leaves out what the one before it does.
const (
	CollapseAuto      = "auto"      // the first of the others with which the picture can be read
	CollapseNone      = "none"      // nothing
	CollapseRules     = "rules"     // rules are drawn as their route
	CollapseRoute     = "route"     // and routes that look alike as one node, with their policies and Services
	CollapseNamespace = "namespace" // everything of a namespace but Gateways and the policies on them is one node
)

// CollapseLevels are the levels, auto first.
func CollapseLevels() []string {
	return []string{CollapseAuto, CollapseNone, CollapseRules, CollapseRoute, CollapseNamespace}
}

// A picture can be read if it has no more boxes and rows in boxes than this.
const (
	readableBoxes = 80
	readableRows  = 240
)

// Collapse returns the topology with fewer nodes: nodes that stand for several objects list them,
// and edges that stand for several count them. What the topology is about keeps its own nodes. The
// topology itself stays as it is. CollapseAuto leaves out more until the result can be read and
// fits, which knows the shape of the picture, accepts it; a nil fits accepts all.
func (t *Topology) Collapse(level string, fits func(*Topology) bool) *Topology {
	enough := func(t *Topology) bool { return t.isReadable() && (fits == nil || fits(t)) }
	switch level {
	case CollapseNone:
		return t
	case CollapseRules:
		return t.foldRules()
	case CollapseRoute:
		return t.foldRules().joinSimilar(CollapseRoute, similarRoutes())
	case CollapseNamespace:
		return t.foldRules().foldNamespaces((*Topology).isReadable)
	}
	if enough(t) {
		return t
	}
	less := t.foldRules()
	if enough(less) {
		return less
	}
	if routes := less.joinSimilar(CollapseRoute, similarRoutes()); enough(routes) {
		return routes
	}
	return less.foldNamespaces(enough)
}

// isReadable reports whether the picture is small enough to be read.
func (t *Topology) isReadable() bool {
	boxes, rows := 0, 0
	for i := range t.Nodes {
		switch topology.Role(t.Nodes[i].Kind) {
		case topology.Rule, topology.Listener:
			rows++
		default:
			boxes++
		}
	}
	return boxes <= readableBoxes && rows <= readableRows
}

// foldRules lets routes stand for their rules. A rule that is not there, or that the topology is
// about, keeps its node.
func (t *Topology) foldRules() *Topology {
	return t.foldParts(topology.Rule, CollapseRules, func(_ *folding, g *GraphNode, parts []int32) {
		setLabel(g.Labels, labelRules, formatLabelCount(len(parts)))
	})
}

// foldListeners lets Gateways stand for their listeners.
func (t *Topology) foldListeners() *Topology {
	return t.foldParts(topology.Listener, CollapseNamespace, func(f *folding, g *GraphNode, parts []int32) {
		var ports []string
		for _, i := range parts {
			n := &f.from.Nodes[i]
			ports = append(ports, strings.Join(dropEmpty(n.Ref.Section, n.Labels["port"], n.Labels["protocol"]), " "))
		}
		slices.Sort(ports)
		setLabel(g.Labels, labelListeners, strings.Join(slices.Compact(ports), ", "))
	})
}

// foldParts lets objects stand for those of their parts that have a role; describe gets the parts.
func (t *Topology) foldParts(role topology.Role, level string, describe func(f *folding, g *GraphNode,
	parts []int32)) *Topology {
	f := newFolding(t)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if topology.Role(n.Kind) != role || f.kept[i] || n.Labels["state"] != "" {
			continue
		}
		if whole, drawn := f.index[refID(n.Ref.WithoutSection())]; drawn {
			f.foldedInto[i] = int32(whole)
		}
	}
	return f.buildTopology(level, func(g *GraphNode, members []int32) {
		describe(f, g, slices.DeleteFunc(members, func(i int32) bool { return f.from.Nodes[i].ID == g.ID }))
	})
}

// foldNamespaces makes one node for each namespace. If these are too many, it joins those that look
// alike: first namespaces alone, then Gateways too, in the end everything of one kind.
func (t *Topology) foldNamespaces(enough func(*Topology) bool) *Topology {
	f := newFolding(t)
	heads := map[string]int32{}
	for i := range t.Nodes {
		space, folds := f.namespaceOf(i)
		if !folds {
			continue
		}
		if _, known := heads[space]; !known {
			heads[space] = int32(i)
		}
		f.foldedInto[i] = heads[space]
		f.renamed[heads[space]] = true
	}
	out := f.buildTopology(CollapseNamespace, func(g *GraphNode, members []int32) { f.describeNamespace(g, members) })
	if !enough(out) {
		out = out.joinSimilar(CollapseNamespace, similarNamespaces())
	}
	if !enough(out) {
		out = out.foldListeners().joinSimilar(CollapseNamespace, similarGateways())
	}
	if !enough(out) {
		out = out.joinSimilar(CollapseNamespace, similarKinds())
	}
	return out
}

// namespaceOf returns the namespace whose node stands for a node; false for a node that keeps its
// own: what has no namespace, Gateways with their parts, policies on those, and what the topology
// is about.
func (f *folding) namespaceOf(i int) (string, bool) {
	n := &f.from.Nodes[i]
	if f.kept[i] {
		return "", false
	}
	if topology.Role(n.Kind) == topology.Namespace {
		return n.Ref.Name, true
	}
	if n.Ref.Namespace == "" || isGatewayPart(n) {
		return "", false
	}
	if n.Kind == policyKind {
		for _, e := range f.edgesFrom(i) {
			to := &f.from.Nodes[f.index[e.To]]
			if e.Kind == EdgeTargets && (isGatewayPart(to) || to.Ref.Namespace == "" &&
				topology.Role(to.Kind) != topology.Namespace) {
				return "", false
			}
		}
	}
	return n.Ref.Namespace, true
}

// policyKind is the kind of the nodes of policies.
const policyKind = "policy"

// isGatewayPart reports whether a node is where traffic comes in: a GatewayClass, a Gateway, a
// ListenerSet or a listener.
func isGatewayPart(n *GraphNode) bool {
	return slices.Contains([]topology.Role{topology.GatewayClass, topology.Gateway, topology.ListenerSet,
		topology.Listener}, topology.Role(n.Kind))
}
