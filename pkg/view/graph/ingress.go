package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// IngressKind is the kind of the nodes of Ingresses.
const IngressKind = "ingress"

// The labels of Ingresses.
const (
	labelProtection = "protection" // what may refuse requests to their paths
	labelUnknown    = "unknown"    // why it is not known what becomes of requests to some of them
)

// asksIngresses reports whether the topology is about Ingresses as well.
func (o *graphScope) asksIngresses() bool {
	return o.query.Affected == nil && (o.query.Targets == nil || o.query.Ingresses != nil)
}

// addIngresses adds the Ingresses that have paths in force, and the edges to their Services.
func (d *topologyBuilder) addIngresses() {
	if !d.asksIngresses() {
		return
	}
	for _, p := range d.query.Query.Proxies {
		if p.Refused {
			continue // a problem says that nothing is known to be in force
		}
		locations := map[model.Ref][]*ingress.Location{}
		for i := range p.Locations {
			l := &p.Locations[i]
			if l.Ingress == (model.Ref{}) || d.query.Ingresses != nil && !slices.Contains(d.query.Ingresses, l.Ingress) {
				continue
			}
			locations[l.Ingress] = append(locations[l.Ingress], l)
		}
		for ref, paths := range locations {
			d.addIngress(ref, paths)
		}
	}
}

// addIngress adds an Ingress with the edges to the Services of its paths.
func (d *topologyBuilder) addIngress(ref model.Ref, locations []*ingress.Location) {
	from := d.addGraphNode(refID(ref), ref, IngressKind, func() map[string]string {
		labels := setLabel(map[string]string{}, labelProtection, describeBarriers(locations))
		return setLabel(labels, labelUnknown, describeUnknown(locations))
	})
	for _, l := range locations {
		for i := range l.Backends {
			to := d.addIngressBackend(l.Backends[i].Ref.WithoutSection())
			d.edges = append(d.edges, edge{from: from, to: to, kind: parentEdge, paths: []string{l.Host + l.Path},
				dangling: d.nodes[to].Labels["state"] == stateMissing})
		}
	}
}

// addIngressBackend returns the number of the node of a Service that an Ingress names, and adds it.
func (d *topologyBuilder) addIngressBackend(ref model.Ref) int32 {
	_, drawn := d.numberByID[refID(ref)]
	to := d.addMissingNode(ref, topology.Backend)
	if !drawn && d.nodes[to].Labels["state"] == stateMissing && d.res.Graph.IsAssumed(ref) {
		d.nodes[to].Labels["state"] = stateAssumed
	}
	return to
}

// describeBarriers says what may refuse requests to paths, whatever the size of their bodies. What is
// not so on all of the paths is marked.
func describeBarriers(locations []*ingress.Location) string {
	var order []ingress.Barrier
	counts := map[ingress.Barrier]int{}
	for _, l := range locations {
		for _, b := range l.Barriers {
			if b == ingress.BodySize {
				continue
			}
			if counts[b] == 0 {
				order = append(order, b)
			}
			counts[b]++
		}
	}
	words := make([]string, len(order))
	for i, b := range order {
		words[i] = string(b)
		if counts[b] < len(locations) {
			words[i] += fmt.Sprintf(" (%d of %d paths)", counts[b], len(locations))
		}
	}
	return strings.Join(words, ", ")
}

// describeUnknown says why it is not known what becomes of requests to paths, "" if it is.
func describeUnknown(locations []*ingress.Location) string {
	var reasons []string
	for _, l := range locations {
		if l.Unknown != "" && !slices.Contains(reasons, l.Unknown) {
			reasons = append(reasons, l.Unknown)
		}
	}
	return strings.Join(reasons, "; ")
}

// collectIngressProblems returns what is wrong with the proxies of Ingresses, and with those Ingresses that
// the topology is about.
func (o *graphScope) collectIngressProblems() []model.Problem {
	if !o.asksIngresses() {
		return nil
	}
	var out []model.Problem
	for _, proxy := range o.query.Query.Proxies {
		for _, p := range proxy.Problems {
			if p.Ref == nil || p.IsIncomplete() || o.query.Ingresses == nil || slices.Contains(o.query.Ingresses, *p.Ref) {
				out = append(out, p)
			}
		}
	}
	return out
}

// PathText says the paths of an edge, the first so many by name: "shop.example.com/a, +3".
func (e *GraphEdge) PathText(most int) string {
	shown := slices.Clone(e.Paths[:min(len(e.Paths), most)])
	if rest := len(e.Paths) - len(shown); rest > 0 {
		shown = append(shown, fmt.Sprintf("+%d", rest))
	}
	return strings.Join(shown, ", ")
}

// mergePaths returns the paths of two edges, each once.
func mergePaths(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}
