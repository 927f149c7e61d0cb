package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// coverage says for which namespaces the absence of an object from the input means that it does not exist (gatewayapi G10, G36).
type coverage struct {
	cluster *model.Cluster
	whole   bool                // of manifests: what they lack does not exist
	shown   map[string]struct{} // of manifests: namespaces of which the Namespace or a Service is in the input
	bare    bool                // of manifests: they have no Service at all, and are more than one file
}

func newCoverage(in *model.Snapshot) coverage {
	c := coverage{cluster: in.Cluster, whole: in.Whole, shown: map[string]struct{}{}}
	if c.cluster != nil {
		return c
	}
	for _, o := range in.Of(serviceKind) {
		c.shown[o.Ref.Namespace] = struct{}{}
	}
	c.bare = len(c.shown) == 0 && severalFiles(in)
	for _, o := range in.Of(namespaceKind) {
		c.shown[o.Ref.Name] = struct{}{}
	}
	return c
}

// severalFiles reports whether the manifests are a folder rather than one file that says all.
func severalFiles(in *model.Snapshot) bool {
	for _, o := range in.Objects {
		if o.Origin.File != in.Objects[0].Origin.File {
			return true
		}
	}
	return false
}

// backends reports whether all objects of a kind of backends that people write are in the input, for a namespace (gatewayapi G36). A folder
// without any Service does not show that there are none: they are made elsewhere, from a chart or by a controller.
func (c coverage) backends(gk model.GroupKind, namespace string) bool {
	_, shown := c.shown[namespace]
	return c.whole || shown && !c.bare || c.cluster.Knows(gk, namespace)
}

// has reports whether all objects of the kind in the namespace are in the input (gatewayapi G10).
func (c coverage) has(gk model.GroupKind, namespace string) bool {
	return c.whole || c.cluster.Knows(gk, namespace)
}

// withheld reports whether a cluster did not let us read the objects of a kind in a namespace. What may be in there is assumed to be.
func (c coverage) withheld(gk model.GroupKind, namespace string) bool {
	return c.cluster.Misses(gk, namespace)
}
