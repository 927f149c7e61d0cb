package topology

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func itoa(n int) string { return strconv.Itoa(n) }

func quote(name string) string { return strconv.Quote(name) }

// fieldPosition is where a value stands in an object: its spec, spec.list, the entry spec.list[i], a field of it, or an entry of that field.
// It costs nothing to carry along; path and text are made only for problems.
type fieldPosition struct {
	object *model.Object
	list   string
	i      int
	inner  string // dotted
	j      int
}

// inSpec is the place of o's spec.
func inSpec(o *model.Object) fieldPosition { return fieldPosition{object: o, i: -1, j: -1} }

// entry is the place of the ith entry of the list that p is.
func (p fieldPosition) entry(i int) fieldPosition {
	if p.inner != "" {
		p.j = i
	} else {
		p.i = i
	}
	return p
}

// field is the place of a field of what stands at p.
func (p fieldPosition) field(key string) fieldPosition {
	switch {
	case p.list == "":
		p.list = key
	case p.inner == "":
		p.inner = key
	case p.j < 0:
		p.inner += "." + key
	default: // below an entry of a field the field's name is all that a problem needs
		p.inner, p.j = p.inner+"."+itoa(p.j)+"."+key, -1
	}
	return p
}

// path is p from the object's root, as model.Object.OriginOf takes it.
func (p fieldPosition) path() []string {
	const usual = 8
	path := append(make([]string, 0, usual), "spec")
	if p.list != "" {
		path = append(path, p.list)
	}
	if p.i >= 0 {
		path = append(path, itoa(p.i))
	}
	if p.inner != "" {
		path = slices.AppendSeq(path, strings.SplitSeq(p.inner, "."))
	}
	if p.j >= 0 {
		path = append(path, itoa(p.j))
	}
	return path
}

// String writes p the way people name fields: spec.rules[0].backendRefs[1].port.
func (p fieldPosition) String() string {
	var s strings.Builder
	for i, key := range p.path() {
		switch _, err := strconv.Atoi(key); {
		case err == nil:
			s.WriteString("[" + key + "]")
		case i > 0:
			s.WriteString("." + key)
		default:
			s.WriteString(key)
		}
	}
	return s.String()
}

// reader reads manifests, and keeps what is wrong with them.
type reader struct{ problems []model.Problem }

// problem reports p about the part of o at path.
func (r *reader) problem(p model.Problem, o *model.Object, path ...string) {
	r.problems = append(r.problems, p.At(o, path...))
}

// invalid reports what the API server would refuse.
func (r *reader) invalid(at fieldPosition, message string) {
	r.problem(model.Problem{Severity: model.Warning, Code: model.InvalidObject, Message: message}, at.object, at.path()...)
}

// skip reports an entry that takes no part for what it lacks.
func (r *reader) skip(at fieldPosition, lack string) {
	r.invalid(at, at.String()+" "+lack+" and is ignored")
}

// limit reports a list that is longer than the API server takes (gatewayapi §8). It is evaluated all the same.
func (r *reader) limit(n, most int, at fieldPosition) {
	if n > most {
		r.invalid(at, at.String()+" has "+itoa(n)+" entries; the API server takes at most "+itoa(most))
	}
}

// fields reads the fields of one object inside a manifest. An absent or null field is empty; one of the wrong type is reported
// (WrongType), counts as empty and makes the reader bad: what needs all of its fields takes no part.
type fields struct {
	r   *reader
	m   model.Body // an object, or null
	at  fieldPosition
	bad bool
}

// spec reads o's spec.
func (r *reader) spec(o *model.Object) fields {
	at := inSpec(o)
	if v := o.Body.Field("spec"); !v.IsNull() {
		return r.entry(v, at)
	}
	return fields{r: r, at: at}
}

// entry reads an entry of a list, which must be an object.
func (r *reader) entry(v model.Body, at fieldPosition) fields {
	ok := v.IsObject()
	if !ok {
		r.wrong(v, "an object", at)
		v = model.Body{}
	}
	return fields{r: r, m: v, at: at, bad: !ok}
}

func (f *fields) has(key string) bool { return !f.m.Field(key).IsNull() }

func (f *fields) text(key string) string { return f.textOr(key, "") }

// textOr is text with the default that an absent field has (gatewayapi G5); a written "" stays "".
func (f *fields) textOr(key, absent string) string { return f.textIn(key, f.m.Field(key), absent) }

// textIn is textOr of a field whose value is known.
func (f *fields) textIn(key string, v model.Body, absent string) string {
	switch {
	case v.IsNull():
		return absent
	case v.IsText():
		return v.Text()
	default:
		f.wrong(key, "a text")
		return ""
	}
}

// reference reads what an object refers to in one pass over its fields, with the defaults of those that are absent.
func (f *fields) reference(absent model.Ref) model.Ref {
	ref := absent
	for key, v := range f.m.Fields {
		switch key {
		case "group":
			ref.Group = f.textIn(key, v, absent.Group)
		case "kind":
			ref.Kind = f.textIn(key, v, absent.Kind)
		case "namespace":
			ref.Namespace = cmp.Or(f.textIn(key, v, ""), absent.Namespace)
		case "name":
			ref.Name = f.textIn(key, v, "")
		}
	}
	return ref
}

// named is reference for an entry that takes no part without a name.
func (f *fields) named(absent model.Ref) (ref model.Ref, ok bool) {
	ref = f.reference(absent)
	if ref.Name == "" && !f.bad {
		f.r.skip(f.at, "has no name")
		f.bad = true
	}
	return ref, !f.bad
}

// port is a port number, 0 if it is absent.
func (f *fields) port(key string) int32 {
	n := 0.0
	switch v := f.m.Field(key).Value().(type) {
	case nil:
		return 0
	case int64:
		n = float64(v)
	case float64:
		n = v
	}
	if n < 1 || n > math.MaxUint16 || n != math.Trunc(n) {
		f.wrong(key, "a port number")
		return 0
	}
	return int32(n)
}

// list is a field as it is if that is a list, or null.
func (f *fields) list(key string) model.Body {
	v := f.m.Field(key)
	if !v.IsList() && !v.IsNull() {
		f.wrong(key, "a list")
		return model.Body{}
	}
	return v
}

// object reads the fields of a field. If that is bad, so is f.
func (f *fields) object(key string) fields {
	v := f.m.Field(key)
	if v.IsNull() {
		return fields{r: f.r, at: f.at.field(key)}
	}
	inner := f.r.entry(v, f.at.field(key))
	f.bad = f.bad || inner.bad
	return inner
}

func (f *fields) wrong(key, want string) {
	f.r.wrong(f.m.Field(key), want, f.at.field(key))
	f.bad = true
}

// wrong reports a value that is not what it should be.
func (r *reader) wrong(v model.Body, want string, at fieldPosition) {
	r.problem(model.Problem{
		Severity: model.Warning, Code: model.WrongType,
		Message: at.String() + " is " + describe(v) + ", not " + want,
	}, at.object, at.path()...)
}

func describe(b model.Body) string {
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
