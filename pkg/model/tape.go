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
	switch b.form(at) {
	case list:
		if i, err := strconv.Atoi(key); err == nil {
			return b.item(at, i)
		}
	case object:
		return b.field(at, key)
	}
	return -1, 0
}

// item finds the ith entry of the list at a position of the tape.
func (b Body) item(at, i int) (value, line int) {
	n, first := b.number(at + 1 + sizeWidth)
	switch {
	case i < 0 || i >= int(n):
		return -1, 0
	case b.tape[at]&indexed != 0:
		first = b.place(b.skip(at), int(n), i)
	default:
		for range i {
			_, value = b.line(first)
			first = b.skip(value)
		}
	}
	line, value = b.line(first)
	return value, line
}

// field finds a key of the object at a position of the tape.
func (b Body) field(at int, key string) (value, line int) {
	n, next := b.number(at + 1 + sizeWidth)
	if b.tape[at]&indexed != 0 {
		return b.search(b.skip(at), int(n), key)
	}
	for range n {
		var found string
		line, value = b.line(next)
		if found, value = b.text(value); found == key {
			return value, line
		}
		next = b.skip(value)
	}
	return -1, 0
}

// place is where the ith of n entries of an indexed list or object stands that ends at end.
func (b Body) place(end, n, i int) int {
	at := end - sizeWidth*(n-i)
	return int(binary.LittleEndian.Uint32([]byte(b.tape[at : at+sizeWidth])))
}

// search finds a key in an indexed object of n entries that ends at end.
func (b Body) search(end, n int, key string) (value, line int) {
	low, high := 0, n
	for low < high {
		middle := (low + high) / 2
		line, at := b.line(b.place(end, n, middle))
		found, value := b.text(at)
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
func (b Body) form(at int) byte { return b.tape[at] &^ indexed }

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
	start, form, at := at, b.form(at), at+1
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
		return out, b.skip(start)
	case object:
		n, at := b.number(at + sizeWidth)
		out := make(map[string]any, n)
		for range n {
			var key string
			_, at = b.line(at)
			key, at = b.text(at)
			out[key], at = b.value(at)
		}
		return out, b.skip(start)
	case again:
		to, end := b.number(at)
		v, _ := b.value(int(to))
		return v, end
	}
	return nil, at
}

// skip is where the value after the one at a position begins.
func (b Body) skip(at int) int {
	form, at := b.form(at), at+1
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
