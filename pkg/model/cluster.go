package model

import (
	"cmp"
	"slices"
	"time"
)

// Cluster is what is known of the cluster that a snapshot was read from, beside its objects.
type Cluster struct {
	Context string          // the name of the kubeconfig's context
	ReadAt  time.Time       // when it was read; zero: not known
	Kinds   []ServedKind    // what the server serves, sorted
	Unread  []UnreadObjects // what could not be read, sorted

	Redacted bool // the settings of policies have no values
}

func (c *Cluster) sortLists() {
	slices.SortFunc(c.Kinds, func(a, b ServedKind) int { return a.GroupKind.Compare(b.GroupKind) })
	slices.SortFunc(c.Unread, UnreadObjects.Compare)
}

// ServedKind is a kind that an API server serves, with its names on the command line.
type ServedKind struct {
	GroupKind
	Version    string // in which its objects are read
	Plural     string
	Singular   string
	ShortNames []string
	Namespaced bool
}

// Resource is the kind as an administrator names it: httproutes.gateway.networking.k8s.io.
func (k *ServedKind) Resource() string {
	if k.Group == "" {
		return k.Plural
	}
	return k.Plural + "." + k.Group
}

// UnreadObjects are objects of a kind that exist perhaps, but could not be read. A Namespace counts
// as being in itself.
type UnreadObjects struct {
	Kind      GroupKind
	Namespace string   // "" stands for all
	Except    []string // namespaces that could be read, where Namespace is ""; sorted
}

// Compare orders unread objects by kind and namespace.
func (g UnreadObjects) Compare(o UnreadObjects) int {
	return cmp.Or(g.Kind.Compare(o.Kind), cmp.Compare(g.Namespace, o.Namespace))
}

// CanHold reports whether an object of the namespace ("" for objects without one) may be among
// them.
func (g UnreadObjects) CanHold(namespace string) bool {
	return g.Namespace == namespace || g.Namespace == "" && !slices.Contains(g.Except, namespace)
}

// FindKind returns the kind as it is served, or nil. No cluster serves nothing.
func (c *Cluster) FindKind(gk GroupKind) *ServedKind {
	if c == nil {
		return nil
	}
	i, found := slices.BinarySearchFunc(c.Kinds, gk,
		func(k ServedKind, gk GroupKind) int { return k.GroupKind.Compare(gk) })
	if !found {
		return nil
	}
	return &c.Kinds[i]
}

// ClusterScopedKinds lists the kinds served whose objects have no namespace.
func (c *Cluster) ClusterScopedKinds() []GroupKind {
	if c == nil {
		return nil
	}
	var out []GroupKind
	for _, k := range c.Kinds {
		if !k.Namespaced {
			out = append(out, k.GroupKind)
		}
	}
	return out
}

// HasReadAll reports whether an object of the kind in the namespace that is not in the snapshot
// does not exist. Without a cluster (c is nil) that is never known.
func (c *Cluster) HasReadAll(gk GroupKind, namespace string) bool {
	return c != nil && !c.IsUnread(gk, namespace)
}

// IsUnreadRef reports whether an object that is not in the snapshot may exist all the same. A
// Namespace counts as being in itself.
func (c *Cluster) IsUnreadRef(ref Ref) bool {
	if ref.Group == "" && ref.Kind == "Namespace" {
		return c.IsUnread(ref.GroupKind(), ref.Name)
	}
	return c.IsUnread(ref.GroupKind(), ref.Namespace)
}

// HasUnread reports whether the cluster did not let us read all objects of a kind.
func (c *Cluster) HasUnread(gk GroupKind) bool {
	return c != nil && slices.ContainsFunc(c.Unread, func(g UnreadObjects) bool { return g.Kind == gk })
}

// IsUnread reports whether the cluster did not let us read the objects of a kind in a namespace.
func (c *Cluster) IsUnread(gk GroupKind, namespace string) bool {
	return c != nil && slices.ContainsFunc(c.Unread, func(g UnreadObjects) bool {
		return g.Kind == gk &&
			g.CanHold(namespace)
	})
}
