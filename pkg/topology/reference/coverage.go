package reference

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Coverage says what the absence of an object from the input means (gatewayapi G10, G36).
type Coverage struct{ *model.Snapshot }

// ExplainAbsence says why an object that is not in the input is certainly not there; "" if it may
// be.
func (c Coverage) ExplainAbsence(ref model.Ref) string {
	if e := c.FindExistence(ref); e.Presence == model.Missing {
		return e.Why
	}
	return ""
}

// IsWithheld reports whether a cluster did not let us read the objects of a kind in a namespace.
// Such objects are assumed to exist where something names them.
func (c Coverage) IsWithheld(gk model.GroupKind, namespace string) bool {
	return c.Cluster.IsUnread(gk, namespace)
}

// ExplainUnreadGrants says why a ReferenceGrant that is not in the input may be in a namespace; "" if
// none may be.
func (c Coverage) ExplainUnreadGrants(namespace string) string {
	if !c.IsUnread(gatewayapi.GrantKind, namespace) {
		return ""
	}
	return c.ExplainUnread("the ReferenceGrants in namespace "+namespace, gatewayapi.GrantKind, namespace)
}
