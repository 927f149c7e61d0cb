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

// jsonItems lays out items of an answer, one behind the other. What one stack of policies makes is in force at many targets, whose items share its
// lists and its spec: where the same ones come back, their text is copied.
type jsonItems struct {
	whole  *jsonText // of an item
	field  *jsonText // of a field's value
	indent string    // before the closing brace of an item; before a field two spaces more
	plain  bool      // on one line, without spaces
	skip   []string  // the fields that are left out, in quotes
	lead   []jsonMember

	shape  reflect.Type // of the items, if they are all alike
	fields []jsonField

	text   []byte                  // of all items
	ends   []int                   // of each
	lists  map[sharedList]textSpan // where it has them
	bodies map[model.BodyKey]textSpan
}

// textSpan is a part of a text.
type textSpan struct{ from, to int }

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
	j := &jsonItems{indent: indent, plain: plain, lists: map[sharedList]textSpan{}, bodies: map[model.BodyKey]textSpan{}}
	if plain {
		j.whole, j.field = newPlainJSONText(), newPlainJSONText()
	} else {
		j.whole, j.field = newJSONText(indent), newJSONText(indent+"  ")
	}
	return j
}

// clearItems forgets the items. Their text is overwritten by those that follow.
func (j *jsonItems) clearItems() {
	j.text, j.ends = j.text[:0], j.ends[:0]
	j.releaseShared()
}

// eachText yields the texts of the items.
func (j *jsonItems) eachText(yield func([]byte) bool) {
	from := 0
	for _, to := range j.ends {
		if !yield(j.text[from:to]) {
			return
		}
		from = to
	}
}

// releaseShared keeps the text of the items, and forgets what they share.
func (j *jsonItems) releaseShared() {
	clear(j.lists)
	clear(j.bodies)
}

// addItem lays out an item as JSON, without a line break at the end.
func (j *jsonItems) addItem(v any) error {
	err := j.layOutItem(v)
	j.ends = append(j.ends, len(j.text))
	return err
}

func (j *jsonItems) layOutItem(v any) error {
	at := reflect.Indirect(reflect.ValueOf(v))
	if j.shape == nil {
		j.shape, j.fields = at.Type(), jsonFields(at.Type())
	}
	if j.fields == nil || at.Type() != j.shape {
		return j.layWhole(v)
	}
	before, colon, after := "{\n"+j.indent+"  ", ": ", "\n"+j.indent+"}"
	between := ",\n" + j.indent + "  "
	if j.plain {
		before, between, colon, after = "{", ",", ":", "}"
	}
	start := len(j.text)
	for _, m := range j.lead {
		j.text = append(append(append(append(j.text, before...), m.name...), colon...), m.value...)
		before = between
	}
	for _, f := range j.fields {
		value := at.FieldByIndex(f.index)
		if slices.Contains(j.skip, f.name) || !f.empty && isEmpty(value) {
			continue
		}
		j.text = append(append(append(j.text, before...), f.name...), colon...)
		before = between
		if err := j.layValue(value); err != nil {
			return err
		}
	}
	if len(j.text) == start {
		after = "{}"
	}
	j.text = append(j.text, after...)
	return nil
}

// layWhole lays out v as encoding/json writes it, with the leading members inside.
func (j *jsonItems) layWhole(v any) error {
	text, err := j.whole.encode(v)
	if err != nil {
		return err
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if len(j.lead) == 0 || len(text) < 2 || text[0] != '{' {
		j.text = append(j.text, text...)
		return nil
	}
	j.text = append(j.text, '{')
	for i, m := range j.lead {
		if i > 0 {
			j.text = append(j.text, ',')
		}
		j.text = append(append(append(j.text, m.name...), ':'), m.value...)
	}
	if text[1] != '}' {
		j.text = append(j.text, ',')
	}
	j.text = append(j.text, text[1:]...)
	return nil
}

// writeLine writes v alone, and a line break.
func (j *jsonItems) writeLine(w *bufio.Writer, v any) error {
	j.clearItems()
	if err := j.addItem(v); err != nil {
		return err
	}
	_, _ = w.Write(j.text)
	return w.WriteByte('\n')
}

// layValue lays out the value of a field.
func (j *jsonItems) layValue(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() > 0 {
			return layShared(j, j.lists, sharedList{v.UnsafePointer(), v.Len(), v.Type()}, v)
		}
	case reflect.Interface:
		if body, ok := v.Interface().(model.Body); ok {
			return layShared(j, j.bodies, body.Key(), v)
		}
	}
	return j.layText(v)
}

// layShared lays out a value with a key that is the same for values that are the same memory.
func layShared[K comparable](j *jsonItems, known map[K]textSpan, key K, v reflect.Value) error {
	if at, ok := known[key]; ok {
		j.text = append(j.text, j.text[at.from:at.to]...)
		return nil
	}
	from := len(j.text)
	if err := j.layText(v); err != nil {
		return err
	}
	known[key] = textSpan{from, len(j.text)}
	return nil
}

func (j *jsonItems) layText(v reflect.Value) error {
	text, err := j.field.encode(v.Interface())
	j.text = append(j.text, bytes.TrimSuffix(text, []byte("\n"))...)
	return err
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
