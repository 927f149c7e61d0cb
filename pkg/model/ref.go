package model

import (
	"cmp"
	"strconv"
	"strings"
)

// GroupKind names a kind of object. Kinds are keyed by group and kind, never by version (gatewayapi
// G1).
type GroupKind struct{ Group, Kind string }

// ParseGroupKind reads the form that String writes: Kind, or Kind.group.
func ParseGroupKind(s string) GroupKind {
	kind, group, _ := strings.Cut(s, ".")
	return GroupKind{Group: group, Kind: kind}
}

// NewGroupKind is the kind of objects with an apiVersion, GROUP/VERSION or VERSION of the core group.
func NewGroupKind(apiVersion, kind string) GroupKind {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	return GroupKind{Group: group, Kind: kind}
}

// String is Kind.group, or Kind alone for the core group.
func (gk GroupKind) String() string {
	if gk.Group == "" {
		return gk.Kind
	}
	return gk.Kind + "." + gk.Group
}

// Compare orders kinds by group, then kind.
func (gk GroupKind) Compare(o GroupKind) int {
	return cmp.Or(cmp.Compare(gk.Group, o.Group), cmp.Compare(gk.Kind, o.Kind))
}

// Ref names an object or, with Section, a named part of one: a listener, a route rule, a Service
// port. A rule's section is its name, else rule-N counted from 1; a port's is its name, else its
// number.
type Ref struct {
	Group     string `json:"group"`               // the API group, empty for the core group
	Kind      string `json:"kind"`                // the kind of the object
	Namespace string `json:"namespace,omitempty"` // empty for an object without one
	Name      string `json:"name"`                // of the object
	Section   string `json:"section,omitempty"`   // the named part
}

// GroupKind is the kind of the object that r names.
func (r Ref) GroupKind() GroupKind { return GroupKind{Group: r.Group, Kind: r.Kind} }

// WithoutSection is r without its section.
func (r Ref) WithoutSection() Ref { r.Section = ""; return r }

// WithSection is r with the given section.
func (r Ref) WithSection(section string) Ref { r.Section = section; return r }

// HasVariable reports whether the name or the namespace has something in it that nobody has filled
// in: which object is meant is not known.
func (r Ref) HasVariable() bool { return HasVariable(r.Name) || HasVariable(r.Namespace) }

// FullName is namespace/name, or name alone for objects without a namespace.
func (r Ref) FullName() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// String is how all output names objects: kind/namespace/name/section, the kind in lower case. The
// command line takes it as an argument.
func (r Ref) String() string {
	s := strings.ToLower(r.Kind) + "/" + r.FullName()
	if r.Section != "" {
		s += "/" + r.Section
	}
	return s
}

// Compare orders references by group, kind, namespace, name and section, byte by byte.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Group, o.Group), cmp.Compare(r.Kind, o.Kind), cmp.Compare(r.Namespace, o.Namespace),
		cmp.Compare(r.Name, o.Name), cmp.Compare(r.Section, o.Section))
}

// Origin says where something was read: a line of a file, or a cluster's context.
type Origin struct {
	File    string `json:"file,omitempty"`    // as it was named
	Line    int    `json:"line,omitempty"`    // counted from 1; absent if it is not known
	Cluster string `json:"cluster,omitempty"` // the context of the kubeconfig
}

// String is file:line, the file alone if the line is unknown, or the cluster's context name.
func (o Origin) String() string {
	switch {
	case o.Cluster != "":
		return o.Cluster
	case o.Line == 0:
		return o.File
	}
	return o.File + ":" + strconv.Itoa(o.Line)
}

// Compare orders origins by cluster, file and line.
func (o Origin) Compare(p Origin) int {
	return cmp.Or(cmp.Compare(o.Cluster, p.Cluster), cmp.Compare(o.File, p.File), cmp.Compare(o.Line, p.Line))
}
