package redact

import (
	"regexp"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// durations are what the Gateway API takes for one.
var durations = regexp.MustCompile(`^([0-9]{1,5}(h|m|s|ms)){1,4}$`)

// Annotations says what becomes of an annotation of objects of a kind.
type Annotations func(kind, name string) Use

// Use is what becomes of an annotation.
type Use int

// What becomes of annotations.
const (
	Dropped  Use = iota // nothing reads it
	Stays               // its value is names and words
	Replaced            // its name stays: it counts that it is there
	Lacked              // it is taken out, and answers lack what it says
)

// Redactor takes out of the objects of one input. Equal texts get equal numbers.
type Redactor struct {
	annotations Annotations
	byKind      map[string][]pattern
	every, read []pattern
	numbers     map[string]int
	lacks       map[model.GroupKind]int // objects that lack something on which answers depend
}

// New is a Redactor.
func New(annotations Annotations) *Redactor {
	r := &Redactor{annotations: annotations, byKind: map[string][]pattern{}, numbers: map[string]int{}, lacks: map[model.GroupKind]int{}}
	for _, row := range Kept {
		if row.Kinds == nil {
			r.every = patterns(row)
		}
		for _, kind := range row.Kinds {
			r.byKind[kind] = append(r.byKind[kind], patterns(row)...)
		}
	}
	r.read = append(patterns(readByVendors), r.every...)
	for kind, of := range r.byKind {
		r.byKind[kind] = append(of, r.every...)
	}
	return r
}

// Object is as much of an object as may be shown of one that is not known to be harmless: its identity, labels and age, and its
// conditions, its own and those by ancestor, without their messages, which may repeat what the policy sets.
func (r *Redactor) Object(o *model.Object) map[string]any { return r.keep(o, r.every) }

// Known is the content of an object of a kind that a row names; of any other kind it is Object.
func (r *Redactor) Known(o *model.Object) map[string]any {
	if of := r.byKind[o.Ref.Kind]; of != nil {
		return r.keep(o, of)
	}
	return r.Object(o)
}

// Read is the content of an object on which the answers of policies depend.
func (r *Redactor) Read(o *model.Object) map[string]any {
	if of := r.byKind[o.Ref.Kind]; of != nil {
		return r.keep(o, of)
	}
	c := copier{Redactor: r}
	out := c.object(o, r.read)
	for key := range o.Body.Fields {
		if _, kept := out[key]; !kept && key != "status" {
			c.lost = true // such as data
		}
	}
	if c.lost {
		r.lacks[o.Ref.GroupKind()]++
	}
	return out
}

// Lacks counts, by kind, the objects that lack something on which answers depend.
func (r *Redactor) Lacks() map[model.GroupKind]int { return r.lacks }

func (r *Redactor) keep(o *model.Object, by []pattern) map[string]any {
	c := copier{Redactor: r}
	return c.object(o, by)
}

// copier copies one object.
type copier struct {
	*Redactor
	lost bool // text was taken out that rules on texts in general do not keep
}

func (c *copier) object(o *model.Object, by []pattern) map[string]any {
	out, _ := c.value(o.Body, by, "").(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	c.notes(o, out, "metadata", "annotations")
	for _, path := range [][]string{{"spec", "template", "metadata", "annotations"}, {"spec", "jobTemplate", "spec", "template", "metadata", "annotations"}} {
		c.notes(o, out, path...)
	}
	return out
}

// notes puts the annotations at a path into the copy.
func (c *copier) notes(o *model.Object, out map[string]any, path ...string) {
	notes, lacked := map[string]any{}, false
	for name, value := range o.Body.At(path...).Fields {
		switch c.annotations(o.Ref.Kind, name) {
		case Stays:
			if value.IsText() {
				notes[name] = value.Text()
			}
		case Replaced:
			notes[name] = model.Redacted
		case Lacked:
			lacked = true
		}
	}
	if len(notes) > 0 {
		put(out, path, notes)
	}
	if lacked {
		c.lacks[o.Ref.GroupKind()]++
	}
}

// value is what stays of a value, nil if nothing does. kind is what stands beside it in the field type: texts of two types are two texts.
func (c *copier) value(v model.Body, by []pattern, kind string) any {
	switch {
	case v.IsObject():
		if !deeper(by) {
			return nil
		}
		out, beside := map[string]any{}, v.Text("type")
		for key, inner := range v.Fields {
			if kept := c.value(inner, step(by, key), beside); kept != nil {
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
			kept := c.value(inner, by, kind)
			if kept == nil { // entries keep their places
				kept = map[string]any{}
			}
			out = append(out, kept)
		}
		return out
	}
	return c.scalar(v, final(by), kind)
}

func (c *copier) scalar(v model.Body, what mode, kind string) any {
	switch {
	case v.IsNull(), what == gone:
		return nil
	case what == whole, what == texts && !v.IsText(), what == duration && durations.MatchString(v.Text()):
		return v.Value()
	case what == numbered:
		key := kind + "\x00" + v.Text()
		n, known := c.numbers[key]
		if !known {
			n = len(c.numbers) + 1
			c.numbers[key] = n
		}
		return model.Redacted + "-" + strconv.Itoa(n)
	case what == texts:
		c.lost = true
	}
	return model.Redacted
}
