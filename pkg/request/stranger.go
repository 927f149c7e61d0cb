package request

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Beside tells the matcher of what takes requests beside the routes and is not read.
func (m *Matcher) Beside(spots []*resolve.BlindSpot) {
	m.strangers = map[topology.NodeID][]*resolve.BlindSpot{}
	for _, s := range spots {
		for _, id := range s.Hangs {
			m.strangers[id] = append(m.strangers[id], s)
		}
	}
}

// beside makes the answer conditional where objects of kinds that are not read may take the request: those that hang on the listener that
// answers, or on what it belongs to, unless they are for other hostnames. A connection that no listener takes they do not get either.
func (t *trace) beside() {
	a := t.answer
	if len(t.m.strangers) == 0 || a.Listener == topology.None && a.Service.Name == "" || a.Outcome == Misdirected {
		return
	}
	var found []*resolve.BlindSpot
	var names model.Tally
	seen := map[*resolve.BlindSpot]bool{}
	for _, id := range t.entries() {
		for _, s := range t.m.strangers[id] {
			if !seen[s] && mayTake(s, t.r, t.answer.Service.Name != "") {
				seen[s] = true
				found = append(found, s)
				names.Add(s.Object.Ref.String())
			}
		}
	}
	if found == nil {
		return
	}
	verb := "hangs"
	if names.N > 1 {
		verb = "hang"
	}
	if a.Outcome == NoMatch {
		a.Status = 0 // what answers may be one of them
	}
	a.conditional(fmt.Sprintf("%s %s there as well and may take the request: routes of such kinds are not read", names.String(), verb))
	a.Problems = append(a.Problems, resolve.Tell(found)...)
}

// entries are the nodes of the places that may answer, and those above them.
func (t *trace) entries() []topology.NodeID {
	a := t.answer
	if a.Service.Name != "" {
		out := t.m.graph.Lookup(a.Service.WithoutSection())
		if a.Listener != topology.None && !slices.Contains(out, a.Listener) {
			out = append(out, a.Listener)
		}
		return out
	}
	places := []topology.NodeID{a.Listener}
	if t.switches.shared {
		for _, p := range t.places {
			places = append(places, p.id)
		}
	}
	out := append([]topology.NodeID{a.Gateway}, t.m.graph.Parents(topology.Traffic, a.Gateway)...)
	for _, id := range places {
		out = append(append(out, id), t.m.graph.Parents(topology.Traffic, id)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mayTake reports whether an object of a kind that is not read is for the host of a request, which goes to a Service or to a Gateway.
func mayTake(s *resolve.BlindSpot, r *Request, toService bool) bool {
	host := r.Host
	switch {
	case len(s.Hosts) == 0, toService, r.Protocol == TCP, r.Protocol == UDP, slices.Contains(s.Hosts, "*"):
		return true
	case r.Protocol == TLS:
		host = r.SNI
	}
	covers := false
	hostnames(host, func(h string) { covers = covers || h != "" && slices.Contains(s.Hosts, h) })
	return covers
}
