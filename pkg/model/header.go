package model

import (
	"slices"
	"time"
)

// SnapshotKind is the kind of a snapshot's header; its apiVersion is SnapshotVersion.
const (
	SnapshotKind    = "Snapshot"
	SnapshotVersion = "dopolicy.dev/v1alpha1"
)

// Header opens the file that a snapshot of a cluster is written to: what is known beside the
// objects, which follow it.
type Header struct {
	APIVersion string         `json:"apiVersion"`         // of this shape
	Kind       string         `json:"kind"`               // Snapshot
	Cluster    string         `json:"cluster"`            // the context
	ReadAt     string         `json:"readAt,omitempty"`   // when the cluster was read, in UTC (RFC 3339)
	Redacted   bool           `json:"redacted,omitempty"` // the settings of policies have no values
	Objects    *int           `json:"objects,omitempty"`  // that follow: with fewer the file is cut off
	Kinds      []HeaderKind   `json:"kinds"`              // what the server serves
	Unread     []HeaderUnread `json:"gaps"`               // what could not be read
	Problems   []Problem      `json:"problems"`           // of reading
}

// HeaderKind is a ServedKind.
type HeaderKind struct {
	Group      string   `json:"group"`                // the API group, empty for the core group
	Version    string   `json:"version"`              // that was read
	Kind       string   `json:"kind"`                 // its name
	Plural     string   `json:"plural"`               // in lower case, as in addresses
	Singular   string   `json:"singular,omitempty"`   // in lower case
	ShortNames []string `json:"shortNames,omitempty"` // that kubectl takes for it
	Namespaced bool     `json:"namespaced"`           // its objects are in namespaces
}

// HeaderUnread are UnreadObjects.
type HeaderUnread struct {
	Group     string   `json:"group"`               // the API group, empty for the core group
	Kind      string   `json:"kind"`                // the kind that could not be listed
	Namespace string   `json:"namespace,omitempty"` // where it could not; empty: anywhere
	Except    []string `json:"except,omitempty"`    // namespaces in which it could
}

// NewHeader returns the header of a snapshot of a cluster.
func NewHeader(s *Snapshot) *Header {
	c := s.Cluster
	h := &Header{APIVersion: SnapshotVersion, Kind: SnapshotKind, Cluster: c.Context, Redacted: c.Redacted,
		Kinds: []HeaderKind{}, Unread: []HeaderUnread{}, Problems: []Problem{}}
	if !c.ReadAt.IsZero() {
		h.ReadAt = c.ReadAt.UTC().Format(time.RFC3339)
	}
	for _, k := range c.Kinds {
		h.Kinds = append(h.Kinds, HeaderKind{k.Group, k.Version, k.Kind, k.Plural, k.Singular, k.ShortNames,
			k.Namespaced})
	}
	for _, g := range c.Unread {
		h.Unread = append(h.Unread, HeaderUnread{g.Kind.Group, g.Kind.Kind, g.Namespace, g.Except})
	}
	h.Problems = append(h.Problems, s.Problems...)
	count := len(s.Objects)
	h.Objects = &count
	return h
}

// UnreportedProblems returns problems for the unread objects of which the header's problems do not
// speak, so that none goes without a word.
func (h *Header) UnreportedProblems() []Problem {
	var out []Problem
	for _, g := range h.Unread {
		said := slices.ContainsFunc(h.Problems, func(p Problem) bool {
			return p.Ref != nil && p.Ref.Group == g.Group && p.Ref.Kind == g.Kind &&
				(p.Code == Forbidden || p.Code == NotEvaluated && p.Ref.Name == "*")
		})
		if !said {
			ref := Ref{Group: g.Group, Kind: g.Kind, Namespace: g.Namespace, Name: "*"}
			out = append(out, Problem{Severity: Warning, Code: Forbidden, Ref: &ref,
				Message: "not all objects of kind " + ref.GroupKind().String() + " could be read"})
		}
	}
	return out
}

// ToCluster returns the cluster that the header tells of.
func (h *Header) ToCluster() *Cluster {
	c := &Cluster{Context: h.Cluster, Redacted: h.Redacted}
	c.ReadAt, _ = time.Parse(time.RFC3339, h.ReadAt) // a header without one is checked where it is read
	for _, k := range h.Kinds {
		c.Kinds = append(c.Kinds, ServedKind{GroupKind{k.Group, k.Kind}, k.Version, k.Plural, k.Singular, k.ShortNames,
			k.Namespaced})
	}
	for _, g := range h.Unread {
		c.Unread = append(c.Unread, UnreadObjects{GroupKind{g.Group, g.Kind}, g.Namespace, g.Except})
	}
	c.sortLists()
	return c
}
