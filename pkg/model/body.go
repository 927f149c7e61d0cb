package model

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Body is the whole content of an object: JSON values, each with the line on which it stands. It is packed into one string, because a
// snapshot keeps every object and most of them are looked at once: values are made anew whenever they are asked for. The zero Body is
// null. Package load makes bodies, with a Packer.
type Body struct {
	tape string
	at   int
}

// The first byte of a value says what it is.
const (
	null byte = iota
	no
	yes
	whole   // a zigzag varint
	decimal // 8 bytes
	text    // see Packer.text
	list    // size of the rest (4 bytes), number of entries, entries: line, value
	object  // the same, entries: line, key as a text, value
	again   // where on the tape the list or object stands that is meant
)

// sizeWidth is the length of the size of a list or object.
const sizeWidth = 4

// Value is the whole content: map[string]any, []any, string, bool, int64, float64 or nil. The caller may change it.
func (b Body) Value() any {
	if b.tape == "" {
		return nil
	}
	v, _ := b.value(b.at)
	return v
}

// Get is the value at path, or nil. Entries of lists are "0", "1", …. The caller may change it.
func (b Body) Get(path ...string) any {
	at, _, depth := b.walk(path)
	if depth < len(path) || b.tape == "" {
		return nil
	}
	v, _ := b.value(at)
	return v
}

// Text is the string at path, or "" where there is none or something else.
func (b Body) Text(path ...string) string {
	at, _, depth := b.walk(path)
	if depth < len(path) || b.tape == "" || b.tape[at] != text {
		return ""
	}
	s, _ := b.text(at + 1)
	return s
}

// At is the part at path; null where there is none.
func (b Body) At(path ...string) Body {
	at, _, depth := b.walk(path)
	if depth < len(path) {
		return Body{}
	}
	return Body{b.tape, at}
}

// Field is the part of an object at a key; null where there is none.
func (b Body) Field(key string) Body {
	if !b.IsObject() {
		return Body{}
	}
	at, _ := b.entry(b.at, key)
	if at < 0 {
		return Body{}
	}
	return Body{b.tape, at}
}

// Has reports whether an object has an entry at a key, be it null.
func (b Body) Has(key string) bool {
	if !b.IsObject() {
		return false
	}
	at, _ := b.entry(b.at, key)
	return at >= 0
}

// IsNull reports whether the value is null.
func (b Body) IsNull() bool { return b.tape == "" || b.tape[b.at] == null }

// IsObject reports whether the value is an object.
func (b Body) IsObject() bool { return b.tape != "" && b.tape[b.meant(b.at)] == object }

// IsList reports whether the value is a list.
func (b Body) IsList() bool { return b.tape != "" && b.tape[b.meant(b.at)] == list }

// IsText reports whether the value is a string.
func (b Body) IsText() bool { return b.tape != "" && b.tape[b.at] == text }

// Fields is an iterator over the entries of an object as they are written; those of anything else are none.
func (b Body) Fields(yield func(string, Body) bool) {
	if !b.IsObject() {
		return
	}
	n, at := b.number(b.meant(b.at) + 1 + sizeWidth)
	for range n {
		var key string
		_, at = b.line(at)
		key, at = b.text(at)
		if !yield(key, Body{b.tape, at}) {
			return
		}
		at = b.skip(at)
	}
}

// Parts is an iterator over the entries of an object: objects and lists are bodies, all else as it is.
func (b Body) Parts(yield func(string, any) bool) {
	for key, inner := range b.Fields {
		if !yield(key, inner.Part()) {
			return
		}
	}
}

// Part is the value itself if it is no object and no list, else b.
func (b Body) Part() any {
	if b.IsObject() || b.IsList() {
		return b
	}
	return b.Value()
}

// String is the value as fmt prints it.
func (b Body) String() string { return fmt.Sprint(b.Value()) }

// MarshalJSON writes the value as encoding/json does, but for the escapes for HTML: whoever asks decides on those.
func (b Body) MarshalJSON() ([]byte, error) { return AppendJSON(nil, b), nil }

// Len is the number of entries of a list or an object, 0 for anything else.
func (b Body) Len() int {
	if !b.IsList() && !b.IsObject() {
		return 0
	}
	n, _ := b.number(b.meant(b.at) + 1 + sizeWidth)
	return int(n)
}

// Items is an iterator over the entries of a list with their indexes; those of anything else are none.
func (b Body) Items(yield func(int, Body) bool) {
	if !b.IsList() {
		return
	}
	n, at := b.number(b.meant(b.at) + 1 + sizeWidth)
	for i := range int(n) {
		_, at = b.line(at)
		if !yield(i, Body{b.tape, at}) {
			return
		}
		at = b.skip(at)
	}
}

// Line is the line of the deepest part of path that exists, or 0 if it is not known.
func (b Body) Line(path ...string) int {
	_, line, _ := b.walk(path)
	return line
}

// walk follows path as far as it goes: to where the value stands, on which line, and how many segments lead there.
func (b Body) walk(path []string) (at, line, depth int) {
	if b.tape == "" {
		return 0, 0, 0
	}
	at = b.at
	for depth < len(path) {
		next, nextLine := b.entry(at, path[depth])
		if next < 0 {
			break
		}
		at, line, depth = next, nextLine, depth+1
	}
	return at, line, depth
}

// entry finds a part of the list or object at a position of the tape; -1 if there is none.
func (b Body) entry(at int, key string) (value, line int) {
	at = b.meant(at)
	form, index := b.tape[at], -1
	switch form {
	case list:
		i, err := strconv.Atoi(key)
		if err != nil {
			return -1, 0
		}
		index = i
	case object:
	default:
		return -1, 0
	}
	n, at := b.number(at + 1 + sizeWidth)
	for i := range int(n) {
		line, at = b.line(at)
		here := i == index
		if form == object {
			var found string
			found, at = b.text(at)
			here = found == key
		}
		if here {
			return at, line
		}
		at = b.skip(at)
	}
	return -1, 0
}

// meant is where the value at a position really stands.
func (b Body) meant(at int) int {
	if b.tape[at] == again {
		to, _ := b.number(at + 1)
		return int(to)
	}
	return at
}

// value reads a value, and returns where the next one begins.
func (b Body) value(at int) (v any, end int) {
	form, at := b.tape[at], at+1
	switch form {
	case no, yes:
		return form == yes, at
	case whole:
		n, end := b.number(at)
		return int64(n>>1) ^ -int64(n&1), end
	case decimal:
		return math.Float64frombits(binary.LittleEndian.Uint64([]byte(b.tape[at : at+8]))), at + 8
	case text:
		return b.text(at)
	case list:
		n, at := b.number(at + sizeWidth)
		out := make([]any, n)
		for i := range out {
			_, at = b.line(at)
			out[i], at = b.value(at)
		}
		return out, at
	case object:
		n, at := b.number(at + sizeWidth)
		out := make(map[string]any, n)
		for range n {
			var key string
			_, at = b.line(at)
			key, at = b.text(at)
			out[key], at = b.value(at)
		}
		return out, at
	case again:
		to, end := b.number(at)
		v, _ := b.value(int(to))
		return v, end
	}
	return nil, at
}

// skip is where the value after the one at a position begins.
func (b Body) skip(at int) int {
	form, at := b.tape[at], at+1
	switch form {
	case whole, again:
		_, at = b.number(at)
	case decimal:
		at += 8
	case text:
		n, start := b.number(at)
		if n&1 == 0 {
			start += int(n >> 1)
		}
		at = start
	case list, object:
		at += sizeWidth + int(binary.LittleEndian.Uint32([]byte(b.tape[at:at+sizeWidth])))
	}
	return at
}

// text reads a text. It shares the memory of the tape.
func (b Body) text(at int) (s string, end int) {
	n, start := b.number(at)
	if n&1 == 1 {
		if n>>1 < uint64(len(common)) {
			return common[n>>1], start
		}
		s, _ = b.text(int(n>>1) - len(common))
		return s, start
	}
	end = start + int(n>>1)
	return b.tape[start:end], end
}

func (b Body) line(at int) (line, end int) {
	n, end := b.number(at)
	return int(n), end
}

// number reads a varint.
func (b Body) number(at int) (n uint64, end int) {
	for shift := 0; ; shift += 7 {
		c := b.tape[at]
		at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n, at
		}
	}
}
