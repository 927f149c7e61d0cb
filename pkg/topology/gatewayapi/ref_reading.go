package gatewayapi

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// RefReading is how an implementation reads references to backends and certificates where it does so
// otherwise than the Gateway API says. The zero value is what the API says.
type RefReading struct {
	CoreNames  []string          // names of the group that has none
	KindGroups map[string]string // by kind: the group that is meant, whichever is written
	NoGrants   bool              // references to other namespaces need no ReferenceGrant
}

// IsStandard reports whether references are read as the Gateway API says.
func (r RefReading) IsStandard() bool {
	return r.CoreNames == nil && r.KindGroups == nil && !r.NoGrants
}

// Apply returns the object that is meant by a reference.
func (r RefReading) Apply(ref model.Ref) model.Ref {
	if group, fixed := r.KindGroups[ref.Kind]; fixed {
		ref.Group = group
	}
	return WithCoreGroup(ref, r.CoreNames)
}
