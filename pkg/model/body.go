package model

import (
	"fmt"
	"slices"
	"strconv"
)

// Body is the whole content of an object: JSON values, each with the line on which it stands. It is
// packed into one string, because a snapshot keeps every object and most of them are looked at
// once: values are made anew whenever they are asked for. The zero Body is null. Package load makes
// bodies, with a Packer.
type Body struct {
	packed      *packedValues // nil: null
	position    uint32
	linesBefore uint32 // lines of its file before those that are counted
}

// Value is the whole content: map[string]any, []any, string, bool, int64, float64 or nil. The
// caller may change it.
func (b Body) Value() any {
	if b.packed == nil {
		return nil
	}
	v, _ := b.packed.readValue(int(b.position))
	return v
}

// Get is the value at path, or nil. Entries of lists are "0", "1", …. The caller may change it.
func (b Body) Get(path ...string) any {
	at, _, depth := b.followPath(path)
	if depth < len(path) || b.packed == nil {
		return nil
	}
	v, _ := b.packed.readValue(at)
	return v
}

// Text is the string at path, or "" where there is none or something else.
func (b Body) Text(path ...string) string {
	at, _, depth := b.followPath(path)
	if depth < len(path) || b.packed == nil || (*b.packed)[at] != textValue {
		return ""
	}
	s, _ := b.packed.readText(at + 1)
	return s
}

// At is the part at path; null where there is none.
func (b Body) At(path ...string) Body {
	at, _, depth := b.followPath(path)
	if depth < len(path) {
		return Body{}
	}
	return b.partAt(at)
}

// Field is the part of an object at a key; null where there is none.
func (b Body) Field(key string) Body {
	inner, _ := b.Entry(key)
	return inner
}

// Has reports whether an object has an entry at a key, be it null.
func (b Body) Has(key string) bool {
	_, ok := b.Entry(key)
	return ok
}

// Entry is the part of an object at a key, false where there is none.
func (b Body) Entry(key string) (Body, bool) {
	if !b.IsObject() {
		return Body{}, false
	}
	at, _ := b.packed.findField(b.packed.dereference(int(b.position)), key)
	if at < 0 {
		return Body{}, false
	}
	return b.partAt(at), true
}

// IsNull reports whether the value is null.
func (b Body) IsNull() bool { return b.packed == nil || (*b.packed)[b.position] == nullValue }

// IsObject reports whether the value is an object.
func (b Body) IsObject() bool {
	return b.packed != nil && b.packed.formOf(b.packed.dereference(int(b.position))) == objectValue
}

// IsList reports whether the value is a list.
func (b Body) IsList() bool {
	return b.packed != nil && b.packed.formOf(b.packed.dereference(int(b.position))) == listValue
}

// IsText reports whether the value is a string.
func (b Body) IsText() bool { return b.packed != nil && (*b.packed)[b.position] == textValue }

// Fields is an iterator over the entries of an object as they are written; those of anything else
// are none.
func (b Body) Fields(yield func(string, Body) bool) {
	if !b.IsObject() {
		return
	}
	n, at := b.packed.readNumber(b.packed.dereference(int(b.position)) + 1 + sizeWidth)
	for range n {
		var key string
		_, at = b.packed.readLine(at)
		key, at = b.packed.readText(at)
		if !yield(key, b.partAt(at)) {
			return
		}
		at = b.packed.skipValue(at)
	}
}

// Parts is an iterator over the entries of an object: objects and lists are bodies, all else as it
// is.
func (b Body) Parts(yield func(string, any) bool) {
	for key, inner := range b.Fields {
		if !yield(key, inner.ScalarOrBody()) {
			return
		}
	}
}

// ScalarOrBody is the value itself if it is no object and no list, else b.
func (b Body) ScalarOrBody() any {
	if b.IsObject() || b.IsList() {
		return b
	}
	return b.Value()
}

// String is the value as fmt prints it.
func (b Body) String() string { return fmt.Sprint(b.Value()) }

// MarshalJSON writes the value as encoding/json does, but for the escapes for HTML: whoever asks
// decides on those.
func (b Body) MarshalJSON() ([]byte, error) { return AppendJSON(nil, b), nil }

// Extent is how large the parts of a value are.
type Extent struct {
	Entries int  // of its longest list or object
	Text    int  // bytes of its longest text, keys aside
	Key     int  // bytes of its longest key
	Nulls   bool // an object has an entry that is null
}

// Extent measures the value without unpacking it.
func (b Body) Extent() (e Extent) {
	if b.packed != nil {
		b.packed.measureValue(int(b.position), &e)
	}
	return e
}

// Size is Len, and whether that is of an object.
func (b Body) Size() (entries int, object bool) { return b.Len(), b.IsObject() }

// Len is the number of entries of a list or an object, 0 for anything else.
func (b Body) Len() int {
	if !b.IsList() && !b.IsObject() {
		return 0
	}
	n, _ := b.packed.readNumber(b.packed.dereference(int(b.position)) + 1 + sizeWidth)
	return int(n)
}

// Items is an iterator over the entries of a list with their indexes; those of anything else are
// none.
func (b Body) Items(yield func(int, Body) bool) {
	if !b.IsList() {
		return
	}
	n, at := b.packed.readNumber(b.packed.dereference(int(b.position)) + 1 + sizeWidth)
	for i := range int(n) {
		_, at = b.packed.readLine(at)
		if !yield(i, b.partAt(at)) {
			return
		}
		at = b.packed.skipValue(at)
	}
}

// Walk shows everything below the value, with its path behind at. see says whether what is below
// that is of interest too.
func (b Body) Walk(at []string, see func(key string, v Body, at []string) bool) {
	for key, below := range b.Fields {
		path := append(slices.Clip(at), key)
		if see(key, below, path) {
			below.Walk(path, see)
		}
	}
	for i, below := range b.Items {
		below.Walk(append(slices.Clip(at), strconv.Itoa(i)), see)
	}
}

// Line is the line of the deepest part of path that exists, or 0 if it is not known.
func (b Body) Line(path ...string) int {
	_, line, _ := b.followPath(path)
	if line == 0 {
		return 0
	}
	return int(b.linesBefore) + line
}

// WithLineOffset is b with its lines counted from behind other ones of its file.
func (b Body) WithLineOffset(lines int) Body {
	b.linesBefore = uint32(lines)
	return b
}

// partAt returns the part of b at a position.
func (b Body) partAt(at int) Body { return Body{b.packed, uint32(at), b.linesBefore} }

// followPath follows path as far as it goes: to where the value stands, on which line of those that
// are packed, and how many segments lead there.
func (b Body) followPath(path []string) (at, line, depth int) {
	if b.packed == nil {
		return 0, 0, 0
	}
	at = int(b.position)
	for depth < len(path) {
		next, nextLine := b.packed.findPart(at, path[depth])
		if next < 0 {
			break
		}
		at, line, depth = next, nextLine, depth+1
	}
	return at, line, depth
}
