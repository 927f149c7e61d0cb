package model

import (
	"fmt"
	"slices"
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

// CanMake reports whether an object may be one that the omission would make. Everything may make
// objects without a namespace.
func (o *Omission) CanMake(ref Ref) bool {
	return o.CanMakeIn(ref.GroupKind(), ref.Namespace)
}

// CanMakeIn reports whether the omission may make objects of a kind in a namespace ("" for objects
// without one).
func (o *Omission) CanMakeIn(gk GroupKind, namespace string) bool {
	return (o.Namespace == "" || namespace == "" || o.Namespace == namespace) &&
		(o.Kinds == nil || slices.Contains(o.Kinds, gk))
}

// Presence is what the input says about whether an object exists.
type Presence int

// The presences. NotShown is an object that the input does not have and that nothing makes which was not
// read. The input need not be all that there is: whether that means that the object is missing
// depends on what refers to it.
const (
	Present  Presence = iota // it is in the input, or something in the input makes it
	Missing                  // it does not exist: the cluster, or the user, says that the input is all there is
	NotKnown                 // what would make it, or the object itself, was not read
	NotShown
)

// Existence is the presence of an object with its reason.
type Existence struct {
	Presence
	Why string // what makes it, why it is missing, or what was not read; a clause that names the object
}

// FindExistence says whether an object exists, as far as the input tells. It is the only place that
// decides it. The section is ignored.
func (s *Snapshot) FindExistence(ref Ref) Existence {
	ref = ref.WithoutSection()
	switch {
	case s.Get(ref) != nil:
		return Existence{Presence: Present}
	case s.IsRefused(ref):
		return Existence{Missing, "the API server refuses " + ref.String()}
	case s.IsAmbiguous(ref):
		return Existence{NotKnown, ref.String() + " is defined more than once, each time differently"}
	}
	if by, made := s.FindMaker(ref); made {
		return Existence{Present, by.String() + " makes " + ref.String()}
	}
	switch {
	case s.Cluster.IsUnreadRef(ref):
		return Existence{NotKnown, ref.String() + " may not be read"}
	case s.Exhaustive, s.Cluster != nil:
		return Existence{Missing, ref.String() + " does not exist"}
	case HasVariable(ref.Name), HasVariable(ref.Namespace):
		return Existence{NotKnown, "an unrendered variable: what " + ref.String() + " would be is not known"}
	}
	if o := s.FindOmission(ref.GroupKind(), ref.Namespace); o != nil {
		return Existence{NotKnown, fmt.Sprintf("%s is not in the input, and %s may make it, which %s", ref, o.By,
			o.Why)}
	}
	return Existence{NotShown, ref.String() + " is not in the input"}
}

// FindOmission returns the first of what was not read that may make objects of a kind in a
// namespace ("" for objects without one), or nil.
func (s *Snapshot) FindOmission(gk GroupKind, namespace string) *Omission {
	if s.Exhaustive || s.Cluster != nil {
		return nil
	}
	for i := range s.Omissions {
		if s.Omissions[i].CanMakeIn(gk, namespace) {
			return &s.Omissions[i]
		}
	}
	return nil
}
