package protection

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// SetsBelow reports whether a rule sets something at or below a path.
func SetsBelow(r *view.Rule, path string) bool {
	rest, below := strings.CutPrefix(r.Name, path)
	if below && (rest == "" || rest[0] == '.' || rest[0] == '[') {
		return true
	}
	inner, above := strings.CutPrefix(path, r.Name+".")
	if !above {
		return false
	}
	v := r.Value
	for _, name := range strings.Split(inner, ".") {
		fields, ok := v.(interface{ Get(...string) any })
		if ok {
			v = fields.Get(name)
		} else if m, isMap := v.(map[string]any); isMap {
			v = m[name]
		} else {
			return false
		}
		if v == nil {
			return false
		}
	}
	return true
}

// FindProtectiveKinds returns the policy kinds in use that may keep requests out, and whether one
// of them is known to.
func FindProtectiveKinds(r *resolve.Resolution) (kinds []model.GroupKind, known bool) {
	for _, k := range r.Kinds {
		if !k.IsInUse() || !k.IsGeneric() && len(k.Protects.Rules) == 0 {
			continue
		}
		known = known || !k.IsGeneric()
		if !slices.Contains(kinds, k.GroupKind) {
			kinds = append(kinds, k.GroupKind)
		}
	}
	return kinds, known
}

// HasProtectiveSetting reports whether a policy sets something by which its kind keeps requests
// out.
func HasProtectiveSetting(f *collect.InForce) bool {
	return f.Kind.Protects.KeepsOut(func(path string) bool {
		return path == "*" ||
			slices.ContainsFunc(f.Policy.Rules, func(rule view.Rule) bool { return SetsBelow(&rule, path) })
	})
}

// FindGatewayAbove returns the Gateway of a listener, also of a listener of a ListenerSet.
func FindGatewayAbove(g *topology.Graph, listener topology.NodeID) topology.NodeID {
	for _, up := range g.Parents(topology.Traffic, listener) {
		if g.Node(up).Role == topology.Gateway {
			return up
		}
		if found := FindGatewayAbove(g, up); found != topology.None {
			return found
		}
	}
	return topology.None
}
