package model

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Object is one Kubernetes object as it was read: its identity and its content. Identity counts:
// the content is as it was written, and may lack the namespace that was assumed.
type Object struct {
	Ref         Ref // without a section
	Version     string
	Labels      map[string]string
	Annotations map[string]string
	Created     time.Time // zero: not known, as in most files
	IsNew       bool      // it would be created if it was applied: Created is later than that of all that is there
	Body        Body
	Written     *Body  // before the API server's defaults were filled in; nil: Body is as it was written
	Origin      Origin // the object's document
}

// OriginOf is the place of the part of o at path, or of the object if that is not known. Entries of
// lists are "0", "1", ….
func (o *Object) OriginOf(path ...string) Origin {
	at := o.Origin
	if line := o.Body.Line(path...); line > 0 {
		at.Line = line
	}
	return at
}

// Get is the value at path in o's body, or nil. The caller may change it.
func (o *Object) Get(path ...string) any { return o.Body.Get(path...) }

// Text is the string at path in o's body, or "" where there is none or something else.
func (o *Object) Text(path ...string) string { return o.Body.Text(path...) }

// HasTargets reports whether an object says what it is attached to, as policies do.
func (o *Object) HasTargets() bool {
	spec := o.Body.Field("spec")
	return slices.ContainsFunc([]string{"targetRef", "targetRefs", "targetSelectors"},
		func(field string) bool { return !spec.Field(field).IsNull() })
}

// Get walks maps by key and returns the value at path, or nil where there is none.
func Get(v any, path ...string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// Text is the string at path in v, or "" where there is none or something else.
func Text(v any, path ...string) string {
	s, _ := Get(v, path...).(string)
	return s
}

// Map is the object at path in v, or nil where there is none or something else.
func Map(v any, path ...string) map[string]any {
	m, _ := Get(v, path...).(map[string]any)
	return m
}

// List is the list at path in v, or nil where there is none or something else.
func List(v any, path ...string) []any {
	l, _ := Get(v, path...).([]any)
	return l
}

// Texts are the strings in the list at path in v. Entries that are something else are left out.
func Texts(v any, path ...string) []string {
	var out []string
	for _, entry := range List(v, path...) {
		if s, ok := entry.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// Snapshot is everything one run knows. Objects are sorted by reference; each reference occurs
// once.
type Snapshot struct {
	Objects    []*Object
	Problems   []Problem
	Cluster    *Cluster // that it was read from; nil: from manifests, which may be any part of one
	Redacted   bool     // the settings of policies have no values: they were taken out after reading
	Exhaustive bool     // the user says that what is not in the manifests does not exist

	Omissions []Omission   // what makes objects and was not read or rendered, of manifests
	Makers    map[Ref]Ref  // objects that need not be in the input, with what in it makes them
	Unnamed   []Omission   // what objects of the input make at run time under names that are not known
	Ambiguous map[Ref]bool // objects that were read in several versions, of which none is used

	byKind  map[GroupKind]*kindObjects
	refused map[Ref]bool
	shown   func() *shownNamespaces
}

// WithObjects returns the snapshot with other objects and problems in the place of its own, and
// those that are left out because the API server refuses them.
func (s *Snapshot) WithObjects(objects []*Object, problems []Problem, refused []*Object) *Snapshot {
	out := NewSnapshot(objects, SortProblems(problems))
	out.CopyScope(s)
	out.Redacted = s.Redacted
	out.refused = maps.Clone(s.refused)
	for _, o := range refused {
		if out.refused == nil {
			out.refused = map[Ref]bool{}
		}
		out.refused[o.Ref] = true
	}
	return out
}

// CopyScope takes over from another snapshot what it covers: the cluster, what was not read, and
// which objects exist without being in it.
func (s *Snapshot) CopyScope(from *Snapshot) {
	s.Cluster, s.Exhaustive = from.Cluster, from.Exhaustive
	s.Omissions, s.Makers, s.Unnamed, s.Ambiguous = from.Omissions, from.Makers, from.Unnamed, from.Ambiguous
}

// IsRefused reports whether an object is in the input and the API server refuses it. Its section is
// ignored.
func (s *Snapshot) IsRefused(ref Ref) bool { return s.refused[ref.WithoutSection()] }

// IsAmbiguous reports whether an object was read in several versions, of which none is used. Its
// section is ignored.
func (s *Snapshot) IsAmbiguous(ref Ref) bool { return s.Ambiguous[ref.WithoutSection()] }

// FindMaker returns what in the input makes an object, if anything does.
func (s *Snapshot) FindMaker(ref Ref) (by Ref, made bool) {
	if by, made = s.Makers[ref]; !made {
		ref.Namespace = "" // some make it in every namespace
		by, made = s.Makers[ref]
	}
	return by, made
}

// findMakerOfKind returns what in the input makes an object of a kind in a namespace, if anything
// does: the first by reference.
func (s *Snapshot) findMakerOfKind(gk GroupKind, namespace string) (by Ref, made bool) {
	for ref, maker := range s.Makers {
		if ref.GroupKind() == gk && (ref.Namespace == "" || ref.Namespace == namespace) &&
			(!made || maker.Compare(by) < 0) {
			by, made = maker, true
		}
	}
	return by, made
}

// Refused lists the objects of the input that the API server refuses, sorted.
func (s *Snapshot) Refused() []Ref { return slices.SortedFunc(maps.Keys(s.refused), Ref.Compare) }

// CountRead is how many objects the input has, with those that the API server refuses.
func (s *Snapshot) CountRead() int { return len(s.Objects) + len(s.refused) }

// HasAll reports whether an object of the kind in the namespace that is not in the snapshot does
// not exist.
func (s *Snapshot) HasAll(gk GroupKind, namespace string) bool {
	return s.Exhaustive || s.Cluster.HasReadAll(gk, namespace)
}

// kindObjects is the objects of one kind. What finds them is made when it is first asked for: of
// most policies nobody asks.
type kindObjects struct {
	sorted          []*Object
	byName          func() map[objectName]*Object
	annotationNames func() map[string]bool
}

type objectName struct{ namespace, name string }

// NewSnapshot sorts the objects. The caller has settled duplicates.
func NewSnapshot(objects []*Object, problems []Problem) *Snapshot {
	s := &Snapshot{Objects: slices.Clone(objects), Problems: problems, byKind: map[GroupKind]*kindObjects{}}
	slices.SortFunc(s.Objects, func(a, b *Object) int { return a.Ref.Compare(b.Ref) })
	for i := 0; i < len(s.Objects); { // those of one kind follow each other
		gk, n := s.Objects[i].Ref.GroupKind(), 1
		for i+n < len(s.Objects) && s.Objects[i+n].Ref.GroupKind() == gk {
			n++
		}
		s.byKind[gk] = newKindObjects(s.Objects[i : i+n : i+n])
		i += n
	}
	s.shown = sync.OnceValue(s.findShownNamespaces)
	return s
}

func newKindObjects(sorted []*Object) *kindObjects {
	return &kindObjects{
		sorted: sorted,
		byName: sync.OnceValue(func() map[objectName]*Object {
			out := make(map[objectName]*Object, len(sorted))
			for _, o := range sorted {
				out[objectName{o.Ref.Namespace, o.Ref.Name}] = o
			}
			return out
		}),
		annotationNames: sync.OnceValue(func() map[string]bool {
			out := map[string]bool{}
			for _, o := range sorted {
				for key := range o.Annotations {
					out[key] = true
				}
			}
			return out
		}),
	}
}

// Redacted stands for a text that was taken out; where texts have to be told apart, a dash and a
// number follow.
const Redacted = "REDACTED"

// IsRedacted reports whether a text stands for one that was taken out.
func IsRedacted(text string) bool { return strings.HasPrefix(text, Redacted) }

// HasNoValues reports whether the settings of policies have no values: they were taken out after
// reading, or before the snapshot was saved.
func (s *Snapshot) HasNoValues() bool {
	return s.Redacted || s.Cluster != nil && s.Cluster.Redacted
}

// Get is the object that ref names (its section is ignored), or nil.
func (s *Snapshot) Get(ref Ref) *Object {
	if k := s.byKind[ref.GroupKind()]; k != nil {
		return k.byName()[objectName{ref.Namespace, ref.Name}]
	}
	return nil
}

// OfKind lists the objects of a kind, sorted by namespace and name.
func (s *Snapshot) OfKind(gk GroupKind) []*Object {
	if k := s.byKind[gk]; k != nil {
		return k.sorted
	}
	return nil
}

// AnnotationNames are the names of all annotations of the objects of a kind. The set is not to be
// changed.
func (s *Snapshot) AnnotationNames(gk GroupKind) map[string]bool {
	if k := s.byKind[gk]; k != nil {
		return k.annotationNames()
	}
	return nil
}

// Kinds lists the kinds of which there are objects, sorted.
func (s *Snapshot) Kinds() []GroupKind {
	kinds := make([]GroupKind, 0, len(s.byKind))
	for gk := range s.byKind {
		kinds = append(kinds, gk)
	}
	slices.SortFunc(kinds, GroupKind.Compare)
	return kinds
}
