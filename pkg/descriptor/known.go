package descriptor

import (
	"path"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"go.yaml.in/yaml/v3"
)

// Knowledge is what vendors say about objects that are no policies of theirs: what of them is read, and what changes traffic unread.
type Knowledge struct {
	kinds       map[model.GroupKind]bool
	parameters  []parameters
	annotations []Annotation
	read        []ReadAnnotation
	connections []kindPattern
}

// parameters is a kind that parametersRefs may name, at Gateways of some controllers or of any.
type parameters struct {
	kind        model.GroupKind
	controllers []string
}

// Annotation is an annotation, or all with a prefix, that changes what happens to traffic and is not read.
type Annotation struct {
	Name    string // a prefix if it ends with a slash
	Except  []string
	NoGates []string // of those with the prefix, the ones that cannot keep requests out
	On      []string // the kinds of objects where it counts; nil: every one
	Does    string   // what it changes, to end a sentence
}

// ReadAnnotation is an annotation that is read, or all with a prefix.
type ReadAnnotation struct {
	Name string // a prefix if it ends with a slash
	For  AnnotationUse
}

// AnnotationUse is what an annotation that is read has.
type AnnotationUse string

// The uses of annotations.
const (
	ForWords    AnnotationUse = "words"    // names, and words that say how something attaches or is ordered: no settings
	ForSettings AnnotationUse = "settings" // settings
	ForPresence AnnotationUse = "presence" // it counts that it is there
)

// kindPattern is a kind, or several: "*" stands for any text of the name; without a group it is those of every group.
type kindPattern struct{ kind, group string }

func (p kindPattern) matches(gk model.GroupKind) bool {
	ok, err := path.Match(p.kind, gk.Kind)
	return ok && err == nil && (p.group == "" || p.group == gk.Group)
}

// Knowledge is what all vendors say, and the files of users.
func (c *Catalog) Knowledge() *Knowledge { return &c.knowledge }

// Knows reports whether objects of a kind that is no policy kind are read as far as they matter, or do not matter to any answer.
func (k *Knowledge) Knows(gk model.GroupKind) bool { return k.kinds[gk] }

// Parameters reports whether what a parametersRef names is read as far as it matters. The controller is that of the Gateway; "": it is not
// known.
func (k *Knowledge) Parameters(gk model.GroupKind, controller string) bool {
	return k.kinds[gk] || slices.ContainsFunc(k.parameters, func(p parameters) bool {
		return p.kind == gk && (p.controllers == nil || controller == "" || slices.Contains(p.controllers, controller))
	})
}

// Annotation finds what is said about an annotation of objects of a kind, nil if nothing is.
func (k *Knowledge) Annotation(kind, name string) *Annotation {
	for i := range k.annotations {
		a := &k.annotations[i]
		fits := a.Name == name || strings.HasSuffix(a.Name, "/") && strings.HasPrefix(name, a.Name)
		if fits && !slices.Contains(a.Except, name) && (a.On == nil || slices.Contains(a.On, kind)) {
			return a
		}
	}
	return nil
}

// AnnotationRead is what an annotation that is read has, "" if nothing reads it.
func (k *Knowledge) AnnotationRead(name string) AnnotationUse {
	for _, a := range k.read {
		if a.Name == name || strings.HasSuffix(a.Name, "/") && strings.HasPrefix(name, a.Name) {
			return a.For
		}
	}
	return ""
}

// Annotated reports whether anything is said about annotations.
func (k *Knowledge) Annotated() bool { return len(k.annotations) > 0 }

// Judges reports whether objects of a kind judge connections.
func (k *Knowledge) Judges(gk model.GroupKind) bool {
	return !k.kinds[gk] && slices.ContainsFunc(k.connections, func(p kindPattern) bool { return p.matches(gk) })
}

// knowledgeFields are the fields of a Vendor document about what is known.
func (r *vendorReader) knowledgeFields() map[string]form.Field {
	return map[string]form.Field{"known": r.knownKinds,
		"parameters":      func(n *yaml.Node) { r.List(n, r.parametersKind) },
		"annotations":     func(n *yaml.Node) { r.List(n, r.annotation) },
		"annotationsRead": func(n *yaml.Node) { r.List(n, r.readAnnotation) },
		"connections":     r.judging}
}

func (r *vendorReader) knownKinds(n *yaml.Node) {
	var names []string
	r.Texts(&names)(n)
	for _, name := range names {
		r.knowledge.kinds[model.ParseGroupKind(name)] = true
	}
}

func (r *vendorReader) parametersKind(n *yaml.Node) {
	var kind string
	var p parameters
	r.Object(n, map[string]form.Field{"kind": r.Text(&kind), "controllers": r.Texts(&p.controllers)})
	if p.kind = model.ParseGroupKind(kind); kind == "" {
		r.Fail(n, "field \"kind\" is missing")
	}
	r.knowledge.parameters = append(r.knowledge.parameters, p)
}

func (r *vendorReader) annotation(n *yaml.Node) {
	var a Annotation
	r.Object(n, map[string]form.Field{"name": r.Text(&a.Name), "except": r.Texts(&a.Except), "noGates": r.Texts(&a.NoGates), "on": r.Texts(&a.On), "does": r.Text(&a.Does)})
	if a.Name == "" || a.Does == "" {
		r.Fail(n, "an annotation needs \"name\" and \"does\"")
	}
	r.knowledge.annotations = append(r.knowledge.annotations, a)
}

func (r *vendorReader) readAnnotation(n *yaml.Node) {
	var a ReadAnnotation
	r.Object(n, map[string]form.Field{"name": r.Text(&a.Name), "for": r.Word((*string)(&a.For), []string{string(ForWords), string(ForSettings), string(ForPresence)})})
	if a.Name == "" || a.For == "" {
		r.Fail(n, "an annotation needs \"name\" and \"for\"")
	}
	r.knowledge.read = append(r.knowledge.read, a)
}

func (r *vendorReader) judging(n *yaml.Node) {
	var names []string
	r.Texts(&names)(n)
	for _, name := range names {
		gk := model.ParseGroupKind(name)
		if _, err := path.Match(gk.Kind, ""); err != nil {
			r.Fail(n, "%q is no pattern for kinds", name)
		}
		r.knowledge.connections = append(r.knowledge.connections, kindPattern{gk.Kind, gk.Group})
	}
}

// Hangs reports whether a CustomResourceDefinition defines a kind whose objects name parents or targets, as routes do, and policies that say
// less about their targets than those of which Defines knows.
func Hangs(definition *model.Object) bool {
	for _, v := range definition.Body.At("spec", "versions").Items {
		for field, schema := range v.At("schema", "openAPIV3Schema", "properties", "spec", "properties").Fields {
			field = strings.ToLower(field)
			if !strings.Contains(field, "target") && !strings.Contains(field, "parent") && !strings.HasPrefix(field, "gateway") {
				continue
			}
			for _, ref := range []model.Body{schema, schema.Field("items")} {
				fields := ref.Field("properties")
				if fields.Field("name").IsObject() && (fields.Field("kind").IsObject() || !strings.Contains(field, "target")) {
					return true
				}
			}
		}
	}
	return false
}
