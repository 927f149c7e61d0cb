package descriptor

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Knowledge is what vendors say about objects that are no policies of theirs: what of them is read,
// and what changes traffic unread.
type Knowledge struct {
	kinds       map[model.GroupKind]bool
	parameters  []parametersRule
	annotations []UnreadAnnotation
	read        []ReadAnnotation
	connections []kindPattern
	pointKinds  []pointKind
	reads       []VendorRead
}

// VendorRead is a kind that a vendor reads though no policy asks for it, and others that matter only if there
// are objects of it.
type VendorRead struct {
	Kind model.GroupKind
	With []model.GroupKind
}

// parametersRule is a kind that parametersRefs may name, at Gateways of some controllers or of any.
type parametersRule struct {
	kind        model.GroupKind
	controllers []string
}

// UnreadAnnotation is an annotation, or all with a prefix, that changes what happens to traffic and
// is not read.
type UnreadAnnotation struct {
	Name    string // a prefix if it ends with a slash
	Except  []string
	NoGates []string // of those with the prefix, the ones that cannot keep requests out
	Kinds   []string // the kinds of objects where it counts; nil: every one
	Effect  string   // what it changes, to end a sentence
}

// ReadAnnotation is an annotation that is read, or all with a prefix.
type ReadAnnotation struct {
	Name string // a prefix if it ends with a slash
	Use  AnnotationUse
}

// AnnotationUse is what an annotation that is read has.
type AnnotationUse string

// The uses of annotations.
const (
	// names, and words that say how something attaches or is ordered: no settings
	ForWords    AnnotationUse = "words"
	ForSettings AnnotationUse = "settings" // settings
	ForPresence AnnotationUse = "presence" // it counts that it is there
)

// kindPattern is a kind, or several: "*" stands for any text of the name; without a group it is
// those of every group.
type kindPattern struct{ kind, group string }

// pointKind is how the points are called at which objects of some kinds decide about connections.
type pointKind struct {
	kinds kindPattern
	name  string
}

func (p kindPattern) matchesKind(gk model.GroupKind) bool {
	ok, err := path.Match(p.kind, gk.Kind)
	return ok && err == nil && (p.group == "" || p.group == gk.Group)
}

// Knowledge returns what all vendors say, and the files of users.
func (c *Catalog) Knowledge() *Knowledge { return &c.knowledge }

// IsKnown reports whether objects of a kind that is no policy kind are read as far as they matter,
// or do not matter to any answer.
func (k *Knowledge) IsKnown(gk model.GroupKind) bool { return k.kinds[gk] }

// ReadsParameters reports whether what a parametersRef names is read as far as it matters. The
// controller is that of the Gateway; "": it is not known.
func (k *Knowledge) ReadsParameters(gk model.GroupKind, controller string) bool {
	return k.kinds[gk] || slices.ContainsFunc(k.parameters, func(p parametersRule) bool {
		return p.kind == gk && (p.controllers == nil || controller == "" || slices.Contains(p.controllers, controller))
	})
}

// FindUnread returns what is said about an annotation of objects of a kind that is not read; nil if
// nothing is.
func (k *Knowledge) FindUnread(kind, name string) *UnreadAnnotation {
	for i := range k.annotations {
		a := &k.annotations[i]
		fits := a.Name == name || strings.HasSuffix(a.Name, "/") && strings.HasPrefix(name, a.Name)
		if fits && !slices.Contains(a.Except, name) && (a.Kinds == nil || slices.Contains(a.Kinds, kind)) {
			return a
		}
	}
	return nil
}

// UseOf returns what an annotation is read for, "" if nothing reads it.
func (k *Knowledge) UseOf(name string) AnnotationUse {
	for _, a := range k.read {
		if a.Name == name || strings.HasSuffix(a.Name, "/") && strings.HasPrefix(name, a.Name) {
			return a.Use
		}
	}
	return ""
}

// HasUnread reports whether anything is said about annotations that are not read.
func (k *Knowledge) HasUnread() bool { return len(k.annotations) > 0 }

// JudgesConnections reports whether objects of a kind judge connections.
func (k *Knowledge) JudgesConnections(gk model.GroupKind) bool {
	return !k.kinds[gk] && slices.ContainsFunc(k.connections, func(p kindPattern) bool { return p.matchesKind(gk) })
}

// PointKindOf returns how the points are called at which objects of a kind decide about connections:
// as a vendor says, else like the kind.
func (k *Knowledge) PointKindOf(gk model.GroupKind) string {
	for _, p := range k.pointKinds {
		if p.kinds.matchesKind(gk) {
			return p.name
		}
	}
	return gk.Kind
}

// Reads returns what vendors read though no policy asks for it.
func (k *Knowledge) Reads() []VendorRead { return slices.Clone(k.reads) }

// knowledgeFields returns the fields of a Vendor document about what is known.
func (r *vendorReader) knowledgeFields() map[string]form.Field {
	return map[string]form.Field{"known": r.readKnownKinds,
		"parameters":      func(n *yaml.Node) { r.List(n, r.readParameters) },
		"annotations":     func(n *yaml.Node) { r.List(n, r.addUnreadAnnotation) },
		"annotationsRead": func(n *yaml.Node) { r.List(n, r.addReadAnnotation) },
		"connections":     r.readConnections,
		"points":          func(n *yaml.Node) { r.List(n, r.addPointKind) },
		"reads":           func(n *yaml.Node) { r.List(n, r.addRead) }}
}

func (r *vendorReader) readKnownKinds(n *yaml.Node) {
	var names []string
	r.Texts(&names)(n)
	for _, name := range names {
		r.knowledge.kinds[model.ParseGroupKind(name)] = true
	}
}

func (r *vendorReader) addRead(n *yaml.Node) {
	var kind string
	var with []string
	r.Object(n, map[string]form.Field{"kind": r.Text(&kind), "with": r.Texts(&with)})
	if kind == "" {
		r.Fail(n, "field \"kind\" is missing")
	}
	read := VendorRead{Kind: model.ParseGroupKind(kind)}
	for _, name := range with {
		read.With = append(read.With, model.ParseGroupKind(name))
	}
	r.knowledge.reads = append(r.knowledge.reads, read)
}

func (r *vendorReader) readParameters(n *yaml.Node) {
	var kind string
	var p parametersRule
	r.Object(n, map[string]form.Field{"kind": r.Text(&kind), "controllers": r.Texts(&p.controllers)})
	if p.kind = model.ParseGroupKind(kind); kind == "" {
		r.Fail(n, "field \"kind\" is missing")
	}
	r.knowledge.parameters = append(r.knowledge.parameters, p)
}

func (r *vendorReader) addUnreadAnnotation(n *yaml.Node) {
	var a UnreadAnnotation
	r.Object(n, map[string]form.Field{"name": r.Text(&a.Name), "except": r.Texts(&a.Except),
		"noGates": r.Texts(&a.NoGates), "on": r.Texts(&a.Kinds), "does": r.Text(&a.Effect)})
	if a.Name == "" || a.Effect == "" {
		r.Fail(n, "an annotation needs \"name\" and \"does\"")
	}
	r.knowledge.annotations = append(r.knowledge.annotations, a)
}

func (r *vendorReader) addReadAnnotation(n *yaml.Node) {
	var a ReadAnnotation
	r.Object(n, map[string]form.Field{"name": r.Text(&a.Name), "for": r.Word((*string)(&a.Use),
		[]string{string(ForWords), string(ForSettings), string(ForPresence)})})
	if a.Name == "" || a.Use == "" {
		r.Fail(n, "an annotation needs \"name\" and \"for\"")
	}
	r.knowledge.read = append(r.knowledge.read, a)
}

func (r *vendorReader) readConnections(n *yaml.Node) {
	var names []string
	r.Texts(&names)(n)
	for _, name := range names {
		r.knowledge.connections = append(r.knowledge.connections, r.readKindPattern(n, name))
	}
}

func (r *vendorReader) addPointKind(n *yaml.Node) {
	var kinds, name string
	r.Object(n, map[string]form.Field{"kinds": r.Text(&kinds), "called": r.Text(&name)})
	if kinds == "" || name == "" {
		r.Fail(n, "a point needs \"kinds\" and \"called\"")
	}
	r.knowledge.pointKinds = append(r.knowledge.pointKinds, pointKind{r.readKindPattern(n, kinds), name})
}

func (r *vendorReader) readKindPattern(n *yaml.Node, name string) kindPattern {
	gk := model.ParseGroupKind(name)
	if _, err := path.Match(gk.Kind, ""); err != nil {
		r.Fail(n, "%q is no pattern for kinds", name)
	}
	return kindPattern{gk.Kind, gk.Group}
}

// DefinesAttachedKind reports whether a CustomResourceDefinition defines a kind whose objects name
// parents or targets, as routes do, and policies that say less about their targets than those that
// DefinesPolicyKind finds.
func DefinesAttachedKind(definition *model.Object) bool {
	for _, v := range definition.Body.At("spec", "versions").Items {
		for field, schema := range v.At("schema", "openAPIV3Schema", "properties", "spec", "properties").Fields {
			field = strings.ToLower(field)
			if !strings.Contains(field, "target") && !strings.Contains(field, "parent") &&
				!strings.HasPrefix(field, "gateway") {
				continue
			}
			for _, ref := range []model.Body{schema, schema.Field("items")} {
				fields := ref.Field("properties")
				if fields.Field("name").IsObject() && (fields.Field("kind").IsObject() ||
					!strings.Contains(field, "target")) {
					return true
				}
			}
		}
	}
	return false
}
