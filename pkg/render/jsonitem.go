package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// jsonItems writes the items of an answer. What one stack of policies makes is in force at many targets, whose items share its lists and its
// spec: their text is kept, and written again where the same ones come back.
type jsonItems struct {
	whole  *jsonText // of an item
	field  *jsonText // of a field's value
	indent string    // before the closing brace of an item; before a field two spaces more
	plain  bool      // on one line, without spaces
	skip   []string  // the fields that are left out, in quotes
	lead   []jsonMember

	shape  reflect.Type // of the items, if they are all alike
	fields []jsonField
	kept   map[any]string
	size   int // bytes kept
}

// keptTextLimit is how many bytes of text are kept. At the limit all of it is forgotten: what many items share comes back first.
const keptTextLimit = 16 << 20

// jsonField is one field of an item.
type jsonField struct {
	index []int
	name  string // in quotes
	empty bool   // written though it is empty
}

// jsonMember is a member of an object that is the same in all items: its name in quotes, and its value.
type jsonMember struct{ name, value string }

// sharedList tells lists apart by where they are, and keeps them there.
type sharedList struct {
	at   unsafe.Pointer
	len  int
	kind reflect.Type
}

// newJSONItems writes items behind an indent, or each on one line.
func newJSONItems(indent string, plain bool) *jsonItems {
	j := &jsonItems{indent: indent, plain: plain, kept: map[any]string{}}
	if plain {
		j.whole, j.field = newPlainJSONText(), newPlainJSONText()
	} else {
		j.whole, j.field = newJSONText(indent), newJSONText(indent+"  ")
	}
	return j
}

// append appends v as JSON, without a line break at the end.
func (j *jsonItems) append(out []byte, v any) ([]byte, error) {
	at := reflect.Indirect(reflect.ValueOf(v))
	if j.shape == nil {
		j.shape, j.fields = at.Type(), jsonFields(at.Type())
	}
	if j.fields == nil || at.Type() != j.shape {
		return j.appendWhole(out, v)
	}
	before, colon, after := "{\n"+j.indent+"  ", ": ", "\n"+j.indent+"}"
	between := ",\n" + j.indent + "  "
	if j.plain {
		before, between, colon, after = "{", ",", ":", "}"
	}
	start := len(out)
	for _, m := range j.lead {
		out = append(append(append(append(out, before...), m.name...), colon...), m.value...)
		before = between
	}
	for _, f := range j.fields {
		value := at.FieldByIndex(f.index)
		if slices.Contains(j.skip, f.name) || !f.empty && isEmpty(value) {
			continue
		}
		out = append(append(append(out, before...), f.name...), colon...)
		before = between
		var err error
		if out, err = j.appendValue(out, value); err != nil {
			return nil, err
		}
	}
	if len(out) == start {
		return append(out, "{}"...), nil
	}
	return append(out, after...), nil
}

// appendWhole appends v as encoding/json writes it, with the leading members inside.
func (j *jsonItems) appendWhole(out []byte, v any) ([]byte, error) {
	text, err := j.whole.of(v)
	text = bytes.TrimSuffix(text, []byte("\n"))
	if err != nil || len(j.lead) == 0 || len(text) < 2 || text[0] != '{' {
		return append(out, text...), err
	}
	out = append(out, '{')
	for i, m := range j.lead {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, m.name...), ':'), m.value...)
	}
	if text[1] != '}' {
		out = append(out, ',')
	}
	return append(out, text[1:]...), nil
}

// line writes v and a line break.
func (j *jsonItems) line(w *bufio.Writer, v any) error {
	text, err := j.append(nil, v)
	if err != nil {
		return err
	}
	_, _ = w.Write(text)
	return w.WriteByte('\n')
}

// appendValue appends the value of a field.
func (j *jsonItems) appendValue(out []byte, v reflect.Value) ([]byte, error) {
	key := shareKey(v)
	if key == nil {
		return j.appendText(out, v)
	}
	if known, ok := j.kept[key]; ok {
		return append(out, known...), nil
	}
	from := len(out)
	out, err := j.appendText(out, v)
	if err != nil {
		return nil, err
	}
	text := string(out[from:])
	if j.size += len(text); j.size > keptTextLimit {
		clear(j.kept)
		j.size = len(text)
	}
	j.kept[key] = text
	return out, nil
}

// shareKey is equal for values that are the same memory; nil for values that nothing shares.
func shareKey(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() > 0 {
			return sharedList{v.UnsafePointer(), v.Len(), v.Type()}
		}
	case reflect.Interface:
		if body, ok := v.Interface().(model.Body); ok {
			return body.Key()
		}
	}
	return nil
}

func (j *jsonItems) appendText(out []byte, v reflect.Value) ([]byte, error) {
	text, err := j.field.of(v.Interface())
	return append(out, bytes.TrimSuffix(text, []byte("\n"))...), err
}

// jsonFields are the fields of a struct as encoding/json writes them; nil for what it writes in another way than field by field, or with options
// that no answer has.
func jsonFields(t reflect.Type) []jsonField {
	if t.Kind() != reflect.Struct || t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return nil
	}
	var out []jsonField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			inner := jsonFields(f.Type)
			if inner == nil {
				return nil
			}
			for _, field := range inner {
				field.index = append([]int{i}, field.index...)
				out = append(out, field)
			}
		case !f.IsExported() || name == "-":
		case name == "" || options != "" && options != "omitempty":
			return nil
		default:
			out = append(out, jsonField{[]int{i}, `"` + name + `"`, options == ""})
		}
	}
	return out
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// isEmpty reports whether omitempty leaves a value out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
