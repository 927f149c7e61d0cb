package model

import (
	"encoding/binary"
	"math"
	"strconv"
)

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

// indexed is added to list and object where there are many entries: behind them stands where each of them is, those of objects by key.
const indexed byte = 0x80

// sizeWidth is the length of the size of a list or object, and of a place in an index.
const sizeWidth = 4

// packed is packed values.
type packed string

// entry finds a part of the list or object at a position of the tape; -1 if there is none.
func (t packed) entry(at int, key string) (value, line int) {
	at = t.meant(at)
	switch t.form(at) {
	case list:
		if i, err := strconv.Atoi(key); err == nil {
			return t.item(at, i)
		}
	case object:
		return t.field(at, key)
	}
	return -1, 0
}

// item finds the ith entry of the list at a position of the tape.
func (t packed) item(at, i int) (value, line int) {
	n, first := t.number(at + 1 + sizeWidth)
	switch {
	case i < 0 || i >= int(n):
		return -1, 0
	case t[at]&indexed != 0:
		first = t.offset(t.skip(at), int(n), i)
	default:
		for range i {
			_, value = t.line(first)
			first = t.skip(value)
		}
	}
	line, value = t.line(first)
	return value, line
}

// field finds a key of the object at a position of the tape.
func (t packed) field(at int, key string) (value, line int) {
	n, next := t.number(at + 1 + sizeWidth)
	if t[at]&indexed != 0 {
		return t.search(t.skip(at), int(n), key)
	}
	for range n {
		var found string
		line, value = t.line(next)
		if found, value = t.text(value); found == key {
			return value, line
		}
		next = t.skip(value)
	}
	return -1, 0
}

// offset is where the ith of n entries of an indexed list or object stands that ends at end.
func (t packed) offset(end, n, i int) int {
	at := end - sizeWidth*(n-i)
	return int(binary.LittleEndian.Uint32([]byte(t[at : at+sizeWidth])))
}

// search finds a key in an indexed object of n entries that ends at end.
func (t packed) search(end, n int, key string) (value, line int) {
	low, high := 0, n
	for low < high {
		middle := (low + high) / 2
		line, at := t.line(t.offset(end, n, middle))
		found, value := t.text(at)
		switch {
		case found == key:
			return value, line
		case found < key:
			low = middle + 1
		default:
			high = middle
		}
	}
	return -1, 0
}

// form is what the value at a position is.
func (t packed) form(at int) byte { return t[at] &^ indexed }

// meant is where the value at a position really stands.
func (t packed) meant(at int) int {
	if t[at] == again {
		to, _ := t.number(at + 1)
		return int(to)
	}
	return at
}

// value reads a value, and returns where the next one begins.
func (t packed) value(at int) (v any, end int) {
	start, form, at := at, t.form(at), at+1
	switch form {
	case no, yes:
		return form == yes, at
	case whole:
		n, end := t.number(at)
		return int64(n>>1) ^ -int64(n&1), end
	case decimal:
		return math.Float64frombits(binary.LittleEndian.Uint64([]byte(t[at : at+8]))), at + 8
	case text:
		return t.text(at)
	case list:
		n, at := t.number(at + sizeWidth)
		out := make([]any, n)
		for i := range out {
			_, at = t.line(at)
			out[i], at = t.value(at)
		}
		return out, t.skip(start)
	case object:
		n, at := t.number(at + sizeWidth)
		out := make(map[string]any, n)
		for range n {
			var key string
			_, at = t.line(at)
			key, at = t.text(at)
			out[key], at = t.value(at)
		}
		return out, t.skip(start)
	case again:
		to, end := t.number(at)
		v, _ := t.value(int(to))
		return v, end
	}
	return nil, at
}

// skip is where the value after the one at a position begins.
func (t packed) skip(at int) int {
	form, at := t.form(at), at+1
	switch form {
	case whole, again:
		_, at = t.number(at)
	case decimal:
		at += 8
	case text:
		n, start := t.number(at)
		if n&1 == 0 {
			start += int(n >> 1)
		}
		at = start
	case list, object:
		at += sizeWidth + int(binary.LittleEndian.Uint32([]byte(t[at:at+sizeWidth])))
	}
	return at
}

// measure adds the value at a position to e, and returns where the next one begins.
func (t packed) measure(at int, e *Extent) (end int) {
	switch form := t.form(at); form {
	case text:
		s, end := t.text(at + 1)
		e.Text = max(e.Text, len(s))
		return end
	case list, object:
		n, next := t.number(at + 1 + sizeWidth)
		e.Entries = max(e.Entries, int(n))
		for range n {
			_, next = t.line(next)
			if form == object {
				_, next = t.text(next)
				e.Nulls = e.Nulls || t[next] == null
			}
			next = t.measure(next, e)
		}
		return t.skip(at)
	case again:
		to, end := t.number(at + 1)
		t.measure(int(to), e)
		return end
	}
	return t.skip(at)
}

// text reads a text. It shares the memory of the tape.
func (t packed) text(at int) (s string, end int) {
	n, start := t.number(at)
	if n&1 == 1 {
		if n>>1 < uint64(len(common)) {
			return common[n>>1], start
		}
		s, _ = t.text(int(n>>1) - len(common))
		return s, start
	}
	end = start + int(n>>1)
	return string(t[start:end]), end
}

func (t packed) line(at int) (line, end int) {
	n, end := t.number(at)
	return int(n), end
}

// number reads a varint, most of which are one byte.
func (t packed) number(at int) (n uint64, end int) {
	if c := t[at]; c < 0x80 {
		return uint64(c), at + 1
	}
	return t.longNumber(at)
}

func (t packed) longNumber(at int) (n uint64, end int) {
	for shift := 0; ; shift += 7 {
		c := t[at]
		at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n, at
		}
	}
}
