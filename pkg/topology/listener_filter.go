package topology

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// ListenerFilterPath is where the filters of a listener are that run before a route is looked for.
func (n *Node) ListenerFilterPath() []string {
	return []string{"spec", "listeners", manifest.FormatInt(n.Index), "filters", "requests"}
}

// ListenerFilters returns these filters in their order (GEP-5224), nil for a node that is no listener.
func (n *Node) ListenerFilters() []model.Body {
	if n.Role != Listener || n.Object == nil {
		return nil
	}
	var out []model.Body
	for _, f := range n.Object.Body.At(n.ListenerFilterPath()...).Items {
		out = append(out, f)
	}
	return out
}
