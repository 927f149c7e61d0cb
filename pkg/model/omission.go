package model

import (
	"slices"
	"strings"
)

// Omission is something that puts objects into a cluster and was not read or rendered: what it
// would make is not in the snapshot, and may exist all the same.
type Omission struct {
	By        string      // what it is, as problems call it: "HelmRelease web/shop"
	Why       string      // what was not done, behind the name: "is not rendered"
	Namespace string      // of what it makes; "": any, as it is not known
	Kinds     []GroupKind // of what it makes; nil: any
}

// String says what was not read: "HelmRelease web/shop is not rendered".
func (o *Omission) String() string { return o.By + " " + o.Why }

// CanMake reports whether the omission may make objects of a kind in a namespace. Every omission may
// make objects without one ("").
func (o *Omission) CanMake(gk GroupKind, namespace string) bool {
	return o.CanMakeIn(namespace) && (o.Kinds == nil || slices.Contains(o.Kinds, gk))
}

// CanMakeIn reports whether the omission may make objects in a namespace.
func (o *Omission) CanMakeIn(namespace string) bool {
	return o.Namespace == "" || namespace == "" || o.Namespace == namespace
}

// HasOmissions reports whether anything that may make objects was not read.
func (s *Snapshot) HasOmissions() bool { return len(s.Omissions)+len(s.Unnamed) > 0 }

// FindOmission returns the first of what was not read that may make objects of a kind in a
// namespace ("" for objects without one), or nil. A cluster has no such, and nor has an input that is
// all there is.
func (s *Snapshot) FindOmission(gk GroupKind, namespace string) *Omission {
	return s.findOmission(func(o *Omission) bool { return o.CanMake(gk, namespace) })
}

// FindPolicyOmission returns the first of what was not read that may make policies of whatever kind
// in a namespace, or nil. What makes only objects of Kubernetes' own kinds, or routes, makes
// none.
func (s *Snapshot) FindPolicyOmission(namespace string) *Omission {
	return s.findOmission(func(o *Omission) bool {
		return o.CanMakeIn(namespace) && (o.Kinds == nil || slices.ContainsFunc(o.Kinds, func(gk GroupKind) bool {
			return strings.HasSuffix(gk.Kind, "Policy") || strings.Contains(gk.Group, ".") &&
				!strings.HasSuffix(gk.Group, ".k8s.io")
		}))
	})
}

func (s *Snapshot) findOmission(is func(*Omission) bool) *Omission {
	if s.Exhaustive || s.Cluster != nil {
		return nil
	}
	for _, list := range [...][]Omission{s.Omissions, s.Unnamed} {
		for i := range list {
			if is(&list[i]) {
				return &list[i]
			}
		}
	}
	return nil
}

// IsUnread reports whether objects of a kind may be in a namespace that the input does not have: the
// cluster did not let us read them, or what may make them was not read or rendered.
func (s *Snapshot) IsUnread(gk GroupKind, namespace string) bool {
	return s.Cluster.IsUnread(gk, namespace) || s.FindOmission(gk, namespace) != nil
}

// ExplainUnread says why IsUnread holds: a clause that names the objects as what is given.
func (s *Snapshot) ExplainUnread(objects string, gk GroupKind, namespace string) string {
	if o := s.FindOmission(gk, namespace); o != nil {
		return o.String() + ", and may make " + objects
	}
	return objects + " are forbidden"
}
