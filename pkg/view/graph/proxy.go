package graph

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ProxyDiffers is what an edge says of a proxy that does not do what is predicted.
const ProxyDiffers = "different"

// labelProxy says what a proxy does at a target otherwise than predicted, where that is no
// policy's.
const labelProxy = "proxy"

// ProxyFact is something that a proxy does otherwise than predicted.
type ProxyFact struct {
	Target   model.Ref
	Policies []model.Ref // whose settings are done otherwise; none: it is about the target itself
	Word     string      // of the target itself: what the proxy does, in a few words
	Paths    []view.Path // of a target without a route: the ways on which it has none
}

// edgeEnds is the two nodes that an edge joins.
type edgeEnds struct{ from, to int32 }

// proxyMarker marks what proxies do otherwise: the edges from a policy to where it should be in
// force, and to its targets above; and what is about a target itself as a label there.
type proxyMarker struct {
	*topologyBuilder
	policyByRef  map[model.Ref]*policy.Policy
	kindByPolicy map[*policy.Policy]*resolve.Kind
	policyEdges  map[edgeEnds]bool // that are not as predicted
	targetEdges  map[edgeEnds]bool
	trafficEdges map[edgeEnds]bool // of traffic
	labelsByNode map[int32][]string
}

func (d *topologyBuilder) markProxies() {
	if len(d.query.Proxies) == 0 {
		return
	}
	w := proxyMarker{topologyBuilder: d, policyByRef: map[model.Ref]*policy.Policy{},
		kindByPolicy: map[*policy.Policy]*resolve.Kind{},
		policyEdges:  map[edgeEnds]bool{}, targetEdges: map[edgeEnds]bool{}, trafficEdges: map[edgeEnds]bool{},
		labelsByNode: map[int32][]string{}}
	for _, k := range d.kinds {
		for _, p := range k.Policies {
			w.policyByRef[p.Ref()], w.kindByPolicy[p] = p, k
		}
	}
	for i := range d.query.Proxies {
		w.addFact(&d.query.Proxies[i])
	}
	for at, list := range w.labelsByNode {
		slices.Sort(list)
		d.nodes[at].Labels[labelProxy] = strings.Join(slices.Compact(list), ", ")
	}
	for i := range d.edges {
		e := &d.edges[i]
		at := edgeEnds{e.from, e.to}
		switch e.kind {
		case enforcementEdge:
			e.differs = e.won && w.policyEdges[at]
		case targetsEdge:
			e.differs = !e.dangling && w.targetEdges[at]
		default:
			e.differs = w.trafficEdges[at]
		}
	}
}

func (w *proxyMarker) addFact(f *ProxyFact) {
	for _, id := range w.res.Lookup(f.Target) {
		if int(id) >= len(w.numberByNode) || w.numberByNode[id] < 0 {
			continue
		}
		at := w.numberByNode[id]
		if f.Word != "" {
			w.labelsByNode[at] = append(w.labelsByNode[at], f.Word)
		}
		for _, p := range f.Paths {
			w.markPath(p, id)
		}
		for _, ref := range f.Policies {
			p := w.policyByRef[ref]
			if p == nil || !w.chosenPolicies[p] {
				continue
			}
			from := w.addPolicyNode(p)
			w.policyEdges[edgeEnds{from, at}] = true
			for _, above := range w.nodesAbove(w.kindByPolicy[p], id) {
				if int(above) < len(w.numberByNode) && w.numberByNode[above] >= 0 {
					w.targetEdges[edgeEnds{from, w.numberByNode[above]}] = true
				}
			}
		}
	}
}

// markPath marks the path of traffic from a listener to a rule, as far as it is the rule's own: the
// edge to it, and with it that from the listener to its route.
func (w *proxyMarker) markPath(p view.Path, rule topology.NodeID) {
	for _, route := range w.res.Graph.Parents(topology.Traffic, rule) {
		if w.numberByNode[route] < 0 {
			continue
		}
		w.trafficEdges[edgeEnds{w.numberByNode[route], w.numberByNode[rule]}] = true
		for _, l := range w.res.Graph.Parents(topology.Traffic, route) {
			if n := w.res.Node(l); w.numberByNode[l] >= 0 && n.Ref.Section == p.Listener &&
				(n.Ref.FullName() == p.Gateway || n.Ref.FullName() == p.ListenerSet) {
				w.trafficEdges[edgeEnds{w.numberByNode[l], w.numberByNode[route]}] = true
			}
		}
	}
}

// proxyLabel returns what proxies do otherwise at the members of a node, and on the edges between
// them, which are not shown.
func (f *folding) proxyLabel(node int32, members []int32) string {
	words := map[string]bool{}
	for _, i := range members {
		if said := f.from.Nodes[i].Labels[labelProxy]; said != "" {
			for _, word := range strings.Split(said, ", ") {
				words[word] = true
			}
		}
		for _, e := range f.edgesFrom(int(i)) {
			if e.Proxy != "" && e.Kind != EdgeParent && f.foldedInto[f.index[e.To]] == node {
				words[ProxyDiffers] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(words)), ", ")
}
