package topology

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func formatInt(n int) string { return strconv.Itoa(n) }

func quoteName(name string) string { return strconv.Quote(name) }

// fieldPosition is where a value stands in an object: its spec, spec.list, the entry spec.list[i], a field of it, or an entry of that field.
// It costs nothing to carry along; path and text are made only for problems.
type fieldPosition struct {
	object *model.Object
	list   string
	i      int
	inner  string // dotted
	j      int
}

// inSpec returns the place of o's spec.
func inSpec(o *model.Object) fieldPosition { return fieldPosition{object: o, i: -1, j: -1} }

// atEntry returns the place of the ith entry of the list that p is.
func (p fieldPosition) atEntry(i int) fieldPosition {
	if p.inner != "" {
		p.j = i
	} else {
		p.i = i
	}
	return p
}

// atField returns the place of a field of what stands at p.
func (p fieldPosition) atField(key string) fieldPosition {
	switch {
	case p.list == "":
		p.list = key
	case p.inner == "":
		p.inner = key
	case p.j < 0:
		p.inner += "." + key
	default: // below an entry of a field the field's name is all that a problem needs
		p.inner, p.j = p.inner+"."+formatInt(p.j)+"."+key, -1
	}
	return p
}

// fromRoot returns p from the object's root, as model.Object.OriginOf takes it.
func (p fieldPosition) fromRoot() []string {
	const usual = 8
	path := append(make([]string, 0, usual), "spec")
	if p.list != "" {
		path = append(path, p.list)
	}
	if p.i >= 0 {
		path = append(path, formatInt(p.i))
	}
	if p.inner != "" {
		path = slices.AppendSeq(path, strings.SplitSeq(p.inner, "."))
	}
	if p.j >= 0 {
		path = append(path, formatInt(p.j))
	}
	return path
}

// String writes p the way people name fields: spec.rules[0].backendRefs[1].port.
func (p fieldPosition) String() string {
	var s strings.Builder
	for i, key := range p.fromRoot() {
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

// manifestReader reads manifests, and keeps what is wrong with them.
type manifestReader struct{ problems []model.Problem }

// addProblem reports p about the part of o at path.
func (r *manifestReader) addProblem(p model.Problem, o *model.Object, path ...string) {
	r.problems = append(r.problems, p.At(o, path...))
}

// reportInvalid reports what the API server would refuse.
func (r *manifestReader) reportInvalid(at fieldPosition, message string) {
	r.addProblem(model.Problem{Severity: model.Warning, Code: model.InvalidObject, Message: message}, at.object, at.fromRoot()...)
}

// reportSkipped reports an entry that takes no part for what it lacks.
func (r *manifestReader) reportSkipped(at fieldPosition, lack string) {
	r.reportInvalid(at, at.String()+" "+lack+" and is ignored")
}

// checkLimit reports a list that is longer than the API server takes. It is
// evaluated all the same.
func (r *manifestReader) checkLimit(n, most int, at fieldPosition) {
	if n > most {
		r.reportInvalid(at, at.String()+" has "+formatInt(n)+" entries; the API server takes at most "+formatInt(most))
	}
}

// fieldReader reads the fields of one object inside a manifest. An absent or null field is empty;
// one of the wrong type is reported (WrongType), counts as empty and makes the reader bad: what
// needs all of its fields takes no part.
type fieldReader struct {
	reader *manifestReader
	body   model.Body // an object, or null
	at     fieldPosition
	bad    bool
}

// readSpec reads o's spec.
func (r *manifestReader) readSpec(o *model.Object) fieldReader {
	at := inSpec(o)
	if v := o.Body.Field("spec"); !v.IsNull() {
		return r.readEntry(v, at)
	}
	return fieldReader{reader: r, at: at}
}

// readEntry reads an entry of a list, which must be an object.
func (r *manifestReader) readEntry(v model.Body, at fieldPosition) fieldReader {
	ok := v.IsObject()
	if !ok {
		r.reportWrongType(v, "an object", at)
		v = model.Body{}
	}
	return fieldReader{reader: r, body: v, at: at, bad: !ok}
}

func (f *fieldReader) hasField(key string) bool { return !f.body.Field(key).IsNull() }

func (f *fieldReader) readText(key string) string { return f.readTextOr(key, "") }

// readTextOr is readText with the default that an absent field has (gatewayapi G5); a written ""
// stays "".
func (f *fieldReader) readTextOr(key, absent string) string {
	return f.readTextValue(key, f.body.Field(key), absent)
}

// readTextValue is readTextOr of a field whose value is known.
func (f *fieldReader) readTextValue(key string, v model.Body, absent string) string {
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

// readReference reads what an object refers to in one pass over its fields, with the defaults of
// those that are absent.
func (f *fieldReader) readReference(absent model.Ref) model.Ref {
	ref := absent
	for key, v := range f.body.Fields {
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

// readNamedReference is readReference for an entry that takes no part without a name.
func (f *fieldReader) readNamedReference(absent model.Ref) (ref model.Ref, ok bool) {
	ref = f.readReference(absent)
	if ref.Name == "" && !f.bad {
		f.reader.reportSkipped(f.at, "has no name")
		f.bad = true
	}
	return ref, !f.bad
}

// readPort returns a port number, 0 if it is absent.
func (f *fieldReader) readPort(key string) int32 {
	n := 0.0
	switch v := f.body.Field(key).Value().(type) {
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

// readList returns a field as it is if that is a list, or null.
func (f *fieldReader) readList(key string) model.Body {
	v := f.body.Field(key)
	if !v.IsList() && !v.IsNull() {
		f.reportWrongType(key, "a list")
		return model.Body{}
	}
	return v
}

// readObject reads the fields of a field. If that is bad, so is f.
func (f *fieldReader) readObject(key string) fieldReader {
	v := f.body.Field(key)
	if v.IsNull() {
		return fieldReader{reader: f.reader, at: f.at.atField(key)}
	}
	inner := f.reader.readEntry(v, f.at.atField(key))
	f.bad = f.bad || inner.bad
	return inner
}

func (f *fieldReader) reportWrongType(key, want string) {
	f.reader.reportWrongType(f.body.Field(key), want, f.at.atField(key))
	f.bad = true
}

// reportWrongType reports a value that is not what it should be.
func (r *manifestReader) reportWrongType(v model.Body, want string, at fieldPosition) {
	r.addProblem(model.Problem{
		Severity: model.Warning, Code: model.WrongType,
		Message: at.String() + " is " + describeType(v) + ", not " + want,
	}, at.object, at.fromRoot()...)
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
