package request

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// servedHost is what a listener has of routes for a hostname that no other listener takes from it.
type servedHost struct {
	routes model.Set[topology.NodeID]
	open   string // why it is not known whether one of them is attached; "": one is
}

// servedKey is a bucket as a data plane sees it.
type servedKey struct {
	bucket   *bucket
	settings *matchSettings
}

// findServed returns the routes of a bucket.
func (m *Matcher) findServed(b *bucket, s *matchSettings) servedHost {
	at := servedKey{b, s}
	if known, ok := m.served[at]; ok {
		return known
	}
	out := servedHost{}
	for _, c := range b.listCandidates() {
		if !m.isHostnameTaken(&c, s) {
			out.addRoute(c.route, c.openReason)
		}
	}
	m.served[at] = out
	return out
}

func (h *servedHost) addRoute(route topology.NodeID, open string) {
	switch {
	case len(h.routes.List) == 0:
		h.open = open
	default:
		h.open = min(h.open, open) // "" is the least
	}
	h.routes.Add(route)
}

// join returns the routes of two kinds.
func (h servedHost) join(o servedHost) servedHost {
	out := servedHost{}
	for _, one := range []servedHost{h, o} {
		for _, route := range one.routes.List {
			out.addRoute(route, one.open)
		}
	}
	return out
}
