package view

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

// Collapse draws the topology with fewer nodes: nodes that stand for several objects list them, and edges that stand for several count
// them. What the drawing is about keeps its own nodes. The topology itself stays as it is. CollapseAuto goes on until fits, which knows the shape
// of the picture, is content as well; nil always is.
func (t *Topology) Collapse(level string, fits func(*Topology) bool) *Topology {
	enough := func(t *Topology) bool { return t.readable() && (fits == nil || fits(t)) }
	switch level {
	case CollapseNone:
		return t
	case CollapseRules:
		return t.foldRules()
	case CollapseRoute:
		return t.foldRules().joinSimilar(CollapseRoute, similarRoutes())
	case CollapseNamespace:
		return t.foldRules().foldNamespaces((*Topology).readable)
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

// readable reports whether the picture is small enough.
func (t *Topology) readable() bool {
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

// foldRules draws routes for their rules. A rule that is not there, or that the drawing is about, keeps its node.
func (t *Topology) foldRules() *Topology {
	return t.foldParts(topology.Rule, CollapseRules, func(_ *folding, g *GraphNode, parts []int32) {
		withLabel(g.Labels, labelRules, count(len(parts)))
	})
}

// foldListeners draws Gateways for their listeners.
func (t *Topology) foldListeners() *Topology {
	return t.foldParts(topology.Listener, CollapseNamespace, func(f *folding, g *GraphNode, parts []int32) {
		var ports []string
		for _, i := range parts {
			n := &f.from.Nodes[i]
			ports = append(ports, strings.Join(words(n.Ref.Section, n.Labels["port"], n.Labels["protocol"]), " "))
		}
		slices.Sort(ports)
		withLabel(g.Labels, labelListens, strings.Join(slices.Compact(ports), ", "))
	})
}

// foldParts draws objects for those of their parts that have a role; describe has the parts.
func (t *Topology) foldParts(role topology.Role, level string, describe func(f *folding, g *GraphNode, parts []int32)) *Topology {
	f := newFolding(t)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if topology.Role(n.Kind) != role || f.kept[i] || n.Labels["state"] != "" {
			continue
		}
		if whole, drawn := f.index[refID(n.Ref.WithoutSection())]; drawn {
			f.into[i] = int32(whole)
		}
	}
	return f.topology(level, func(g *GraphNode, members []int32) {
		describe(f, g, slices.DeleteFunc(members, func(i int32) bool { return f.from.Nodes[i].ID == g.ID }))
	})
}

// foldNamespaces draws one node for each namespace, and as many for all that look alike if these are too many: first for namespaces alone, then
// for Gateways too, in the end for all of one kind.
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
		f.into[i] = heads[space]
		f.renamed[heads[space]] = true
	}
	out := f.topology(CollapseNamespace, func(g *GraphNode, members []int32) { f.asNamespace(g, members) })
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

// namespaceOf is the namespace that draws a node, false for one that is drawn by itself: what has no namespace, Gateways with their parts,
// policies on those, and what the drawing is about.
func (f *folding) namespaceOf(i int) (string, bool) {
	n := &f.from.Nodes[i]
	if f.kept[i] {
		return "", false
	}
	if topology.Role(n.Kind) == topology.Namespace {
		return n.Ref.Name, true
	}
	if n.Ref.Namespace == "" || ofGateways(n) {
		return "", false
	}
	if n.Kind == policyKind {
		for _, e := range f.out(i) {
			to := &f.from.Nodes[f.index[e.To]]
			if e.Kind == EdgeTargets && (ofGateways(to) || to.Ref.Namespace == "" && topology.Role(to.Kind) != topology.Namespace) {
				return "", false
			}
		}
	}
	return n.Ref.Namespace, true
}

// policyKind is the kind of the nodes of policies.
const policyKind = "policy"

// ofGateways reports whether a node is where traffic comes in.
func ofGateways(n *GraphNode) bool {
	return slices.Contains([]topology.Role{topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener}, topology.Role(n.Kind))
}
