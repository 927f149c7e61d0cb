package view

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ProxyDiffers is what an edge says of a proxy that does not do what is predicted.
const ProxyDiffers = "different"

// labelProxy says what a proxy does at a target otherwise than predicted, where that is no policy's.
const labelProxy = "proxy"

// ProxyFact is something that a proxy does otherwise than predicted.
type ProxyFact struct {
	Target   model.Ref
	Policies []model.Ref // whose settings are done otherwise; none: it is about the target itself
	Word     string      // of the target itself: what the proxy does, in a few words
	Paths    []Path      // of a target without a route: the ways on which it has none
}

// ends are the two ends of an edge.
type ends struct{ from, to int32 }

// witness marks what proxies do otherwise: the edges from a policy to where it should be in force, and to its targets above; and what is
// about a target itself as a label there.
type witness struct {
	*drawing
	policies map[model.Ref]*policy.Policy
	kinds    map[*policy.Policy]*resolve.Kind
	fates    map[ends]bool // that are not as predicted
	targets  map[ends]bool
	ways     map[ends]bool // of traffic
	words    map[int32][]string
}

func (d *drawing) witness() {
	if len(d.query.Proxies) == 0 {
		return
	}
	w := witness{drawing: d, policies: map[model.Ref]*policy.Policy{}, kinds: map[*policy.Policy]*resolve.Kind{},
		fates: map[ends]bool{}, targets: map[ends]bool{}, ways: map[ends]bool{}, words: map[int32][]string{}}
	for _, k := range d.kinds {
		for _, p := range k.Policies {
			w.policies[p.Ref()], w.kinds[p] = p, k
		}
	}
	for i := range d.query.Proxies {
		w.note(&d.query.Proxies[i])
	}
	for at, list := range w.words {
		slices.Sort(list)
		d.nodes[at].Labels[labelProxy] = strings.Join(slices.Compact(list), ", ")
	}
	for i := range d.edges {
		e := &d.edges[i]
		at := ends{e.from, e.to}
		switch e.kind {
		case fateEdge:
			e.differs = e.won && w.fates[at]
		case targetsEdge:
			e.differs = !e.dangling && w.targets[at]
		default:
			e.differs = w.ways[at]
		}
	}
}

func (w *witness) note(f *ProxyFact) {
	for _, id := range w.res.Lookup(f.Target) {
		if int(id) >= len(w.numberOf) || w.numberOf[id] < 0 {
			continue
		}
		at := w.numberOf[id]
		if f.Word != "" {
			w.words[at] = append(w.words[at], f.Word)
		}
		for _, p := range f.Paths {
			w.way(p, id)
		}
		for _, ref := range f.Policies {
			p := w.policies[ref]
			if p == nil || !w.chosen[p] {
				continue
			}
			from := w.policyNode(p)
			w.fates[ends{from, at}] = true
			for _, above := range w.over(w.kinds[p], id) {
				if int(above) < len(w.numberOf) && w.numberOf[above] >= 0 {
					w.targets[ends{from, w.numberOf[above]}] = true
				}
			}
		}
	}
}

// way marks the way of traffic from a listener to a rule, as far as it is the rule's own: the edge to it, and with it that from the listener to
// its route.
func (w *witness) way(p Path, rule topology.NodeID) {
	for _, route := range w.res.Graph.Parents(topology.Traffic, rule) {
		if w.numberOf[route] < 0 {
			continue
		}
		w.ways[ends{w.numberOf[route], w.numberOf[rule]}] = true
		for _, l := range w.res.Graph.Parents(topology.Traffic, route) {
			if n := w.res.Node(l); w.numberOf[l] >= 0 && n.Ref.Section == p.Listener && (n.Ref.FullName() == p.Gateway || n.Ref.FullName() == p.ListenerSet) {
				w.ways[ends{w.numberOf[l], w.numberOf[route]}] = true
			}
		}
	}
}

// proxied is what proxies do otherwise at the members of a node, and on the edges between them, which are not drawn.
func (f *folding) proxied(node int32, members []int32) string {
	words := map[string]bool{}
	for _, i := range members {
		if said := f.from.Nodes[i].Labels[labelProxy]; said != "" {
			for _, word := range strings.Split(said, ", ") {
				words[word] = true
			}
		}
		for _, e := range f.out(int(i)) {
			if e.Proxy != "" && e.Kind != EdgeParent && f.into[f.index[e.To]] == node {
				words[ProxyDiffers] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(words)), ", ")
}
