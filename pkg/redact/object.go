package redact

import (
	"regexp"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// durationPattern are what the Gateway API takes for one.
var durationPattern = regexp.MustCompile(`^([0-9]{1,5}(h|m|s|ms)){1,4}$`)

// AnnotationUses says what becomes of an annotation of objects of a kind.
type AnnotationUses func(kind, name string) Use

// Use is what becomes of an annotation.
type Use int

// What becomes of annotations.
const (
	Dropped  Use = iota // nothing reads it
	Stays               // its value is names and words
	Replaced            // its name stays: it counts that it is there
	Withheld            // it is taken out, and answers lack what it says
)

// Redactor takes out of the objects of one input. Equal texts get equal numbers.
type Redactor struct {
	annotations             AnnotationUses
	byKind                  map[string][]pathPattern
	everyKind, dependencies []pathPattern
	numbers                 map[string]int
	incomplete              map[model.GroupKind]int // objects that lack something on which answers depend
}

// New is a Redactor.
func New(annotations AnnotationUses) *Redactor {
	r := &Redactor{annotations: annotations, byKind: map[string][]pathPattern{}, numbers: map[string]int{},
		incomplete: map[model.GroupKind]int{}}
	for _, row := range Kept {
		if row.Kinds == nil {
			r.everyKind = parsePatterns(row)
		}
		for _, kind := range row.Kinds {
			r.byKind[kind] = append(r.byKind[kind], parsePatterns(row)...)
		}
	}
	r.dependencies = append(parsePatterns(readByVendors), r.everyKind...)
	for kind, of := range r.byKind {
		r.byKind[kind] = append(of, r.everyKind...)
	}
	return r
}

// Object is as much of an object as may be shown of one that is not known to be harmless: its
// identity, labels and age, and its conditions, its own and those by ancestor, without their
// messages, which may repeat what the policy sets.
func (r *Redactor) Object(o *model.Object) map[string]any { return r.keepPaths(o, r.everyKind) }

// KnownObject is the content of an object of a kind that a row names; of any other kind it is
// Object.
func (r *Redactor) KnownObject(o *model.Object) map[string]any {
	if of := r.byKind[o.Ref.Kind]; of != nil {
		return r.keepPaths(o, of)
	}
	return r.Object(o)
}

// DependencyObject is the content of an object on which the answers of policies depend.
func (r *Redactor) DependencyObject(o *model.Object) map[string]any {
	if of := r.byKind[o.Ref.Kind]; of != nil {
		return r.keepPaths(o, of)
	}
	c := objectCopier{Redactor: r}
	out := c.copyObject(o, r.dependencies)
	for key := range o.Body.Fields {
		if _, kept := out[key]; !kept && key != "status" {
			c.lostText = true // such as data
		}
	}
	if c.lostText {
		r.incomplete[o.Ref.GroupKind()]++
	}
	return out
}

// IncompleteObjects counts, by kind, the objects that lack something on which answers depend.
func (r *Redactor) IncompleteObjects() map[model.GroupKind]int { return r.incomplete }

func (r *Redactor) keepPaths(o *model.Object, by []pathPattern) map[string]any {
	c := objectCopier{Redactor: r}
	return c.copyObject(o, by)
}

// objectCopier copies one object.
type objectCopier struct {
	*Redactor
	lostText bool // text was taken out that rules on texts in general do not keep
}

func (c *objectCopier) copyObject(o *model.Object, by []pathPattern) map[string]any {
	out, _ := c.copyValue(o.Body, by, "").(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	c.copyAnnotations(o, out, "metadata", "annotations")
	for _, path := range [][]string{{"spec", "template", "metadata", "annotations"}, {"spec", "jobTemplate", "spec",
		"template", "metadata", "annotations"}} {
		c.copyAnnotations(o, out, path...)
	}
	return out
}

// copyAnnotations puts the annotations at a path into the copy.
func (c *objectCopier) copyAnnotations(o *model.Object, out map[string]any, path ...string) {
	notes, lacked := map[string]any{}, false
	for name, value := range o.Body.At(path...).Fields {
		switch c.annotations(o.Ref.Kind, name) {
		case Stays:
			if value.IsText() {
				notes[name] = value.Text()
			}
		case Replaced:
			notes[name] = model.Redacted
		case Withheld:
			lacked = true
		}
	}
	if len(notes) > 0 {
		putAt(out, path, notes)
	}
	if lacked {
		c.incomplete[o.Ref.GroupKind()]++
	}
}

// copyValue returns what stays of a value, nil if nothing does. kind is what stands beside it in
// the field type: texts of two types are two texts.
func (c *objectCopier) copyValue(v model.Body, by []pathPattern, kind string) any {
	switch {
	case v.IsObject():
		if !hasDeeper(by) {
			return nil
		}
		out, beside := map[string]any{}, v.Text("type")
		for key, inner := range v.Fields {
			if kept := c.copyValue(inner, stepInto(by, key), beside); kept != nil {
				out[key] = kept
			}
		}
		return out
	case v.IsList():
		if len(by) == 0 {
			return nil
		}
		out := make([]any, 0, v.Len())
		for _, inner := range v.Items {
			kept := c.copyValue(inner, by, kind)
			if kept == nil { // entries keep their places
				kept = map[string]any{}
			}
			out = append(out, kept)
		}
		return out
	}
	return c.copyScalar(v, scalarModeOf(by), kind)
}

func (c *objectCopier) copyScalar(v model.Body, what scalarMode, kind string) any {
	switch {
	case v.IsNull(), what == dropped:
		return nil
	case what == kept, what == textsReplaced && !v.IsText(), what == durationsKept &&
		durationPattern.MatchString(v.Text()):
		return v.Value()
	case what == replacedByNumber:
		key := kind + "\x00" + v.Text()
		n, known := c.numbers[key]
		if !known {
			n = len(c.numbers) + 1
			c.numbers[key] = n
		}
		return model.Redacted + "-" + strconv.Itoa(n)
	case what == textsReplaced:
		c.lostText = true
	}
	return model.Redacted
}
