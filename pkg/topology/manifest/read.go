package manifest

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// FormatInt writes a number.
func FormatInt(n int) string { return strconv.Itoa(n) }

// QuoteName puts a name into quotes.
func QuoteName(name string) string { return strconv.Quote(name) }

// Position is where a value stands in an object: its spec, spec.list, the entry spec.list[i], a
// field of it, or an entry of that field. It costs nothing to carry along; path and text are made
// only for problems.
type Position struct {
	Object *model.Object
	list   string
	i      int
	inner  string // dotted
	j      int
}

// InSpec returns the place of o's spec.
func InSpec(o *model.Object) Position { return Position{Object: o, i: -1, j: -1} }

// AtEntry returns the place of the ith entry of the list that p is.
func (p Position) AtEntry(i int) Position {
	if p.inner != "" {
		p.j = i
	} else {
		p.i = i
	}
	return p
}

// AtField returns the place of a field of what stands at p.
func (p Position) AtField(key string) Position {
	switch {
	case p.list == "":
		p.list = key
	case p.inner == "":
		p.inner = key
	case p.j < 0:
		p.inner += "." + key
	default: // below an entry of a field the field's name is all that a problem needs
		p.inner, p.j = p.inner+"."+FormatInt(p.j)+"."+key, -1
	}
	return p
}

// FromRoot returns p from the object's root, as model.Object.OriginOf takes it.
func (p Position) FromRoot() []string {
	const usual = 8
	path := append(make([]string, 0, usual), "spec")
	if p.list != "" {
		path = append(path, p.list)
	}
	if p.i >= 0 {
		path = append(path, FormatInt(p.i))
	}
	if p.inner != "" {
		path = slices.AppendSeq(path, strings.SplitSeq(p.inner, "."))
	}
	if p.j >= 0 {
		path = append(path, FormatInt(p.j))
	}
	return path
}

// String writes p the way people name fields: spec.rules[0].backendRefs[1].port.
func (p Position) String() string { return model.FormatFieldPath(p.FromRoot()) }

// Reader reads manifests, and keeps what is wrong with them.
type Reader struct{ Problems []model.Problem }

// AddProblem reports p about the part of o at path.
func (r *Reader) AddProblem(p model.Problem, o *model.Object, path ...string) {
	r.Problems = append(r.Problems, p.At(o, path...))
}

// ReportInvalid reports what the API server would refuse.
func (r *Reader) ReportInvalid(at Position, message string) {
	r.AddProblem(model.Problem{Severity: model.Warning, Code: model.InvalidObject, Message: message}, at.Object,
		at.FromRoot()...)
}

// ReportSkipped reports an entry that takes no part for what it lacks.
func (r *Reader) ReportSkipped(at Position, lack string) {
	r.ReportInvalid(at, at.String()+" "+lack+" and is ignored")
}

// CheckLimit reports a list that is longer than the API server takes. It is
// evaluated all the same.
func (r *Reader) CheckLimit(n, most int, at Position) {
	if n > most {
		r.ReportInvalid(at, at.String()+" has "+FormatInt(n)+" entries; the API server takes at most "+FormatInt(most))
	}
}

// Fields reads the fields of one object inside a manifest. An absent or null field is empty; one of
// the wrong type is reported (WrongType), counts as empty and makes the reader bad: what needs all
// of its fields takes no part.
type Fields struct {
	Reader *Reader
	Body   model.Body // an object, or null
	At     Position
	Bad    bool
}

// ReadSpec reads o's spec.
func (r *Reader) ReadSpec(o *model.Object) Fields {
	at := InSpec(o)
	if v := o.Body.Field("spec"); !v.IsNull() {
		return r.ReadEntry(v, at)
	}
	return Fields{Reader: r, At: at}
}

// ReadEntry reads an entry of a list, which must be an object.
func (r *Reader) ReadEntry(v model.Body, at Position) Fields {
	ok := v.IsObject()
	if !ok {
		r.ReportWrongType(v, "an object", at)
		v = model.Body{}
	}
	return Fields{Reader: r, Body: v, At: at, Bad: !ok}
}

// HasField reports whether a field is there and not null.
func (f *Fields) HasField(key string) bool { return !f.Body.Field(key).IsNull() }

// ReadText reads a text, "" if it is absent.
func (f *Fields) ReadText(key string) string { return f.ReadTextOr(key, "") }

// ReadTextOr is readText with the default that an absent field has (gatewayapi G5); a written ""
// stays "".
func (f *Fields) ReadTextOr(key, absent string) string {
	return f.readTextValue(key, f.Body.Field(key), absent)
}

// readTextValue is readTextOr of a field whose value is known.
func (f *Fields) readTextValue(key string, v model.Body, absent string) string {
	switch {
	case v.IsNull():
		return absent
	case v.IsText():
		return v.Text()
	default:
		f.reportWrongType(key, "a text")
		return ""
	}
}

// ReadReference reads what an object refers to in one pass over its fields, with the defaults of
// those that are absent.
func (f *Fields) ReadReference(absent model.Ref) model.Ref {
	ref := absent
	for key, v := range f.Body.Fields {
		switch key {
		case "group":
			ref.Group = f.readTextValue(key, v, absent.Group)
		case "kind":
			ref.Kind = f.readTextValue(key, v, absent.Kind)
		case "namespace":
			ref.Namespace = cmp.Or(f.readTextValue(key, v, ""), absent.Namespace)
		case "name":
			ref.Name = f.readTextValue(key, v, "")
		}
	}
	return ref
}

// ReadNamedReference is readReference for an entry that takes no part without a name.
func (f *Fields) ReadNamedReference(absent model.Ref) (ref model.Ref, ok bool) {
	ref = f.ReadReference(absent)
	if ref.Name == "" && !f.Bad {
		f.Reader.ReportSkipped(f.At, "has no name")
		f.Bad = true
	}
	return ref, !f.Bad
}

// ReadPort returns a port number, 0 if it is absent.
func (f *Fields) ReadPort(key string) int32 {
	n := 0.0
	switch v := f.Body.Field(key).Value().(type) {
	case nil:
		return 0
	case int64:
		n = float64(v)
	case float64:
		n = v
	}
	if n < 1 || n > math.MaxUint16 || n != math.Trunc(n) {
		f.reportWrongType(key, "a port number")
		return 0
	}
	return int32(n)
}

// ReadList returns a field as it is if that is a list, or null.
func (f *Fields) ReadList(key string) model.Body {
	v := f.Body.Field(key)
	if !v.IsList() && !v.IsNull() {
		f.reportWrongType(key, "a list")
		return model.Body{}
	}
	return v
}

// ReadObject reads the fields of a field. If that is bad, so is f.
func (f *Fields) ReadObject(key string) Fields {
	v := f.Body.Field(key)
	if v.IsNull() {
		return Fields{Reader: f.Reader, At: f.At.AtField(key)}
	}
	inner := f.Reader.ReadEntry(v, f.At.AtField(key))
	f.Bad = f.Bad || inner.Bad
	return inner
}

func (f *Fields) reportWrongType(key, want string) {
	f.Reader.ReportWrongType(f.Body.Field(key), want, f.At.AtField(key))
	f.Bad = true
}

// ReportWrongType reports a value that is not what it should be.
func (r *Reader) ReportWrongType(v model.Body, want string, at Position) {
	r.AddProblem(model.Problem{
		Severity: model.Warning, Code: model.WrongType,
		Message: at.String() + " is " + describeType(v) + ", not " + want,
	}, at.Object, at.FromRoot()...)
}

func describeType(b model.Body) string {
	switch v := b.Value().(type) {
	case nil:
		return "null"
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case int64:
		return "the number " + strconv.FormatInt(v, 10)
	case float64:
		return "the number " + strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		return "a list"
	default:
		return "an object"
	}
}
