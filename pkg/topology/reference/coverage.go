package reference

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Coverage says for which namespaces the absence of an object from the input means that it does not
// exist (gatewayapi G10, G36).
type Coverage struct {
	snapshot        *model.Snapshot
	cluster         *model.Cluster
	whole           bool                // of manifests: what they lack does not exist
	namespaces      map[string]struct{} // of manifests: namespaces of which the Namespace or a Service is in the input
	withoutServices bool                // of manifests: they have no Service at all, and are more than one file
}

// NewCoverage finds out what an input covers.
func NewCoverage(in *model.Snapshot) Coverage {
	c := Coverage{snapshot: in, cluster: in.Cluster, whole: in.Exhaustive, namespaces: map[string]struct{}{}}
	if c.cluster != nil {
		return c
	}
	for _, o := range in.OfKind(gatewayapi.ServiceKind) {
		c.namespaces[o.Ref.Namespace] = struct{}{}
	}
	c.withoutServices = len(c.namespaces) == 0 && isFromSeveralFiles(in)
	for _, o := range in.OfKind(gatewayapi.NamespaceKind) {
		c.namespaces[o.Ref.Name] = struct{}{}
	}
	return c
}

// isFromSeveralFiles reports whether the manifests are a folder rather than one file that says all.
func isFromSeveralFiles(in *model.Snapshot) bool {
	for _, o := range in.Objects {
		if o.Origin.File != in.Objects[0].Origin.File {
			return true
		}
	}
	return false
}

// hasAllBackends reports whether all objects of a kind of backends that people write are in the
// input, for a namespace (gatewayapi G36). A folder without any Service does not show that there
// are none: they are made elsewhere, from a chart or by a controller.
func (c Coverage) hasAllBackends(gk model.GroupKind, namespace string) bool {
	_, shown := c.namespaces[namespace]
	return c.whole || shown && !c.withoutServices || c.cluster.HasReadAll(gk, namespace)
}

// ExplainAbsence says why an object that is not in the input is certainly not there; "" if it may be.
func (c Coverage) ExplainAbsence(ref model.Ref) string {
	switch {
	case c.IsRefused(ref):
		return "the API server refuses " + ref.WithoutSection().String()
	case c.HasAll(ref.GroupKind(), ref.Namespace):
		return ref.WithoutSection().String() + " does not exist"
	}
	return ""
}

// IsRefused reports whether an object is in the input and the API server refuses it.
func (c Coverage) IsRefused(ref model.Ref) bool {
	return c.snapshot != nil && c.snapshot.IsRefused(ref)
}

// HasAll reports whether all objects of the kind in the namespace are in the input (gatewayapi
// G10).
func (c Coverage) HasAll(gk model.GroupKind, namespace string) bool {
	return c.whole || c.cluster.HasReadAll(gk, namespace)
}

// IsWithheld reports whether a cluster did not let us read the objects of a kind in a namespace.
// Such objects are assumed to exist where something names them.
func (c Coverage) IsWithheld(gk model.GroupKind, namespace string) bool {
	return c.cluster.IsUnread(gk, namespace)
}
