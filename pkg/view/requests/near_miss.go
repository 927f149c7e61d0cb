package requests

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// NearMiss is a rule or a listener that one part of the request alone kept from taking it.
type NearMiss struct {
	// that kept it: method, grpc, header, query, path, listener (a more specific one answers),
	// attachment (the route is not attached there), host, port, protocol
	Part     string     `json:"part"`
	Listener *model.Ref `json:"listener,omitempty"` // where the request arrives, or would
	Route    *model.Ref `json:"route,omitempty"`    // its section is the rule; absent where only the listener is known
	Why      string     `json:"why"`                // what it wants, and what the request has
}

func (w *Writer) buildNearMisses(a *request.Answer) []NearMiss {
	r := w.Collector.Resolution
	var out []NearMiss
	for _, n := range a.NearMisses {
		item := NearMiss{Part: string(n.Part), Why: n.Why}
		if n.Listener != topology.None {
			ref := r.Node(n.Listener).Ref
			item.Listener = &ref
		}
		if n.Rule != topology.None {
			ref := r.Node(n.Rule).Ref
			item.Route = &ref
		}
		out = append(out, item)
	}
	return out
}

// formatLabel is what near misses are called that begin with this one.
func (n *NearMiss) formatLabel() string {
	if n.Route != nil {
		return "closest rule"
	}
	return "closest listener"
}

// formatLine says the near miss in one line for people.
func (n *NearMiss) formatLine() string {
	if n.Route != nil {
		return n.Route.String() + " " + n.Why
	}
	return n.Listener.String() + " " + n.Why
}
