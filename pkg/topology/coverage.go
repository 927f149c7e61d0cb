package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// coverage says for which namespaces the absence of an object from the input means that it does not exist (gatewayapi G10, G36).
type coverage struct {
	live     map[string]struct{}  // namespaces read from a cluster
	shown    map[string]struct{}  // namespaces of which the Namespace or a Service is in the input
	withheld map[listing]struct{} // what a cluster did not let us read
}

// listing is the objects of a kind in a namespace; "" stands for all kinds or namespaces.
type listing struct{ kind, namespace string }

func newCoverage(in *model.Snapshot) coverage {
	c := coverage{live: map[string]struct{}{}, shown: map[string]struct{}{}, withheld: map[listing]struct{}{}}
	for _, o := range in.Objects {
		if o.Origin.Cluster != "" {
			c.live[o.Ref.Namespace] = struct{}{}
		}
	}
	for _, o := range in.Of(serviceKind) {
		c.shown[o.Ref.Namespace] = struct{}{}
	}
	for _, o := range in.Of(namespaceKind) {
		c.shown[o.Ref.Name] = struct{}{}
		if o.Origin.Cluster != "" {
			c.live[o.Ref.Name] = struct{}{}
		}
	}
	for _, p := range in.Problems {
		if p.Code != model.Forbidden {
			continue
		}
		var l listing
		if p.Ref != nil {
			l = listing{p.Ref.Kind, p.Ref.Namespace}
		}
		c.withheld[l] = struct{}{}
	}
	return c
}

// services reports whether all Services of the namespace are in the input (gatewayapi G36).
func (c coverage) services(namespace string) bool {
	_, live := c.live[namespace]
	_, shown := c.shown[namespace]
	return (live || shown) && !c.misses(serviceKind.Kind, namespace)
}

// gateways reports whether all Gateways of the namespace are in the input (gatewayapi G10).
func (c coverage) gateways(namespace string) bool {
	_, live := c.live[namespace]
	return live && !c.misses(gatewayKind.Kind, namespace)
}

func (c coverage) misses(kind, namespace string) bool {
	for _, l := range [...]listing{{kind, namespace}, {kind, ""}, {"", namespace}, {"", ""}} {
		if _, ok := c.withheld[l]; ok {
			return true
		}
	}
	return false
}
