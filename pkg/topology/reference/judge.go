package reference

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// Judge judges what objects refer to.
type Judge struct {
	in     *model.Snapshot
	grants Grants
	known  map[model.GroupKind]struct{} // kinds of the Gateway API, and those with objects or a CRD in the input
}

// NewJudge returns the judge for an input with these grants.
func NewJudge(in *model.Snapshot, grants Grants) *Judge {
	return &Judge{in: in, grants: grants, known: gatewayapi.KnownKinds(in)}
}

// AddKinds adds kinds that count as known, although the input need not define them.
func (f *Judge) AddKinds(kinds []model.GroupKind) {
	for _, gk := range kinds {
		f.known[gk] = struct{}{}
	}
}

// IsKnownKind reports whether a kind is defined: by the Gateway API or its surroundings,
// by an object or a CRD of the input, or by the cluster. A target of any other kind is a
// virtual one (gep713 P14).
func (f *Judge) IsKnownKind(gk model.GroupKind) bool {
	_, ok := f.known[gk]
	return ok || f.in.Cluster.FindKind(gk) != nil
}

// Cluster returns what is known of the cluster that the objects were read from; nil for manifests.
func (f *Judge) Cluster() *model.Cluster { return f.in.Cluster }

// HasObject reports whether an object is in the input.
func (f *Judge) HasObject(ref model.Ref) bool { return f.in.Get(ref) != nil }

// Object returns an object of the input, nil if it is not there.
func (f *Judge) Object(ref model.Ref) *model.Object { return f.in.Get(ref) }

// Objects returns the objects of a kind in the input.
func (f *Judge) Objects(gk model.GroupKind) []*model.Object { return f.in.OfKind(gk) }

// FindOmission returns the first of what was not read that may make objects of a kind in a namespace
// ("": in any), or nil.
func (f *Judge) FindOmission(gk model.GroupKind, namespace string) *model.Omission {
	return f.in.FindOmission(gk, namespace)
}

// FindExistence says whether an object exists, as far as the input tells.
func (f *Judge) FindExistence(ref model.Ref) model.Existence { return f.in.FindExistence(ref) }

// ServiceByIP returns the Service with a cluster IP.
func (f *Judge) ServiceByIP(address string) (model.Ref, bool) {
	for _, o := range f.in.OfKind(gatewayapi.ServiceKind) {
		has := func(v model.Body) bool { return v.Text() == address }
		ips := o.Body.At("spec", "clusterIPs")
		found := has(o.Body.At("spec", "clusterIP"))
		for _, ip := range ips.Items {
			found = found || has(ip)
		}
		if found {
			return o.Ref, true
		}
	}
	return model.Ref{}, false
}

// IsGranted reports whether objects of kind from in namespace ns may refer to the object to: it is
// in the same namespace, or a ReferenceGrant there says so (gatewayapi G32), or may say so where
// they were not all read.
func (f *Judge) IsGranted(from model.GroupKind, ns string, to model.Ref) bool {
	return f.grants.Allow(from, ns, to) || f.in.IsUnread(gatewayapi.GrantKind, to.Namespace)
}

// ExplainUnreadGrants says why a ReferenceGrant that is not in the input may be in a namespace; "" if
// none may be.
func (f *Judge) ExplainUnreadGrants(namespace string) string {
	if !f.in.IsUnread(gatewayapi.GrantKind, namespace) {
		return ""
	}
	return f.in.ExplainUnread("the ReferenceGrants in namespace "+namespace, gatewayapi.GrantKind, namespace)
}

// SelectsNamespace reports whether the selector selects a namespace. The label with its name is on
// every one; others are known only if the Namespace is in the input.
func (f *Judge) SelectsNamespace(s selector.LabelSelector, name string) selector.Truth {
	return s.Selector.SelectsNamespace(name, f.in.Get(gatewayapi.NamespaceRef(name)))
}

// SelectsPodsIn reports whether the selector looks into a namespace.
func (f *Judge) SelectsPodsIn(s selector.PodSelector, namespace string) selector.Truth {
	switch s.In {
	case "":
		return f.SelectsNamespace(s.Namespaces, namespace)
	case namespace:
		return selector.Yes
	}
	return selector.No
}
