package request

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// SetUnreadInputs tells the matcher which objects take requests beside the routes and are not read.
func (m *Matcher) SetUnreadInputs(spots []*unread.Input) {
	m.unreadInputs = map[topology.NodeID][]*unread.Input{}
	for _, s := range spots {
		for _, id := range s.AttachedTo {
			m.unreadInputs[id] = append(m.unreadInputs[id], s)
		}
	}
}

// checkUnreadInputs makes the rule uncertain where objects of kinds that are not read may take the
// request: those at the listener that answers, or at what it belongs to, unless they are for other
// hostnames. A connection that no listener takes does not get to them either.
func (t *trace) checkUnreadInputs() {
	a := t.answer
	if len(t.matcher.unreadInputs) == 0 || a.Listener == topology.None && a.Service.Name == "" ||
		a.Outcome == Misdirected {
		return
	}
	var found []*unread.Input
	var names model.Tally
	seen := map[*unread.Input]bool{}
	for _, id := range t.entryNodes() {
		for _, s := range t.matcher.unreadInputs[id] {
			if !seen[s] && canTakeRequest(s, t.request, t.answer.Service.Name != "") {
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
	if names.Count > 1 {
		verb = "hang"
	}
	if a.Outcome == NoMatch {
		a.Status = 0 // what answers may be one of them
	}
	a.makeRuleUncertain(fmt.Sprintf("%s %s there as well and may take the request: routes of such kinds are not read",
		names.String(), verb))
	a.Problems = append(a.Problems, unread.Summarize(found)...)
}

// entryNodes returns the nodes of the places that may answer, and those above them.
func (t *trace) entryNodes() []topology.NodeID {
	a := t.answer
	if a.Service.Name != "" {
		out := t.matcher.graph.Lookup(a.Service.WithoutSection())
		if a.Listener != topology.None && !slices.Contains(out, a.Listener) {
			out = append(out, a.Listener)
		}
		return out
	}
	places := []topology.NodeID{a.Listener}
	if t.settings.sharedListeners {
		for _, p := range t.fittingListeners {
			places = append(places, p.id)
		}
	}
	out := append([]topology.NodeID{a.Gateway}, t.matcher.graph.Parents(topology.Traffic, a.Gateway)...)
	for _, id := range places {
		out = append(append(out, id), t.matcher.graph.Parents(topology.Traffic, id)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// canTakeRequest reports whether an object of a kind that is not read is for the host of a request,
// which goes to a Service or to a Gateway.
func canTakeRequest(s *unread.Input, r *Request, toService bool) bool {
	host := r.Host
	switch {
	case len(s.Hostnames) == 0, toService, r.Protocol == TCP, r.Protocol == UDP, slices.Contains(s.Hostnames, "*"):
		return true
	case r.Protocol == TLS:
		host = r.SNI
	}
	covers := false
	eachHostname(host, func(h string) { covers = covers || h != "" && slices.Contains(s.Hostnames, h) })
	return covers
}
