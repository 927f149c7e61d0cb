package model

import (
	"encoding/binary"
	"math"
	"strconv"
)

// The first byte of a value says what it is.
const (
	nullValue byte = iota
	falseValue
	trueValue
	intValue      // a zigzag varint
	floatValue    // 8 bytes
	textValue     // see Packer.text
	listValue     // size of the rest (4 bytes), number of entries, entries: line, value
	objectValue   // the same, entries: line, key as a text, value
	repeatedValue // the position of the list or object that is meant
)

// indexedFlag is added to list and object where there are many entries: behind them stands where
// each of them is, those of objects by key.
const indexedFlag byte = 0x80

// sizeWidth is the length of the size of a list or object, and of a place in an index.
const sizeWidth = 4

// packedValues are values in one string.
type packedValues string

// findPart returns a part of the list or object at a position; -1 if there is none.
func (t packedValues) findPart(at int, key string) (value, line int) {
	at = t.dereference(at)
	switch t.formOf(at) {
	case listValue:
		if i, err := strconv.Atoi(key); err == nil {
			return t.findItem(at, i)
		}
	case objectValue:
		return t.findField(at, key)
	}
	return -1, 0
}

// findItem returns the ith entry of the list at a position.
func (t packedValues) findItem(at, i int) (value, line int) {
	n, first := t.readNumber(at + 1 + sizeWidth)
	switch {
	case i < 0 || i >= int(n):
		return -1, 0
	case t[at]&indexedFlag != 0:
		first = t.indexedOffset(t.skipValue(at), int(n), i)
	default:
		for range i {
			_, value = t.readLine(first)
			first = t.skipValue(value)
		}
	}
	line, value = t.readLine(first)
	return value, line
}

// findField returns the value at a key of the object at a position.
func (t packedValues) findField(at int, key string) (value, line int) {
	n, next := t.readNumber(at + 1 + sizeWidth)
	if t[at]&indexedFlag != 0 {
		return t.searchIndex(t.skipValue(at), int(n), key)
	}
	for range n {
		var found string
		line, value = t.readLine(next)
		if found, value = t.readText(value); found == key {
			return value, line
		}
		next = t.skipValue(value)
	}
	return -1, 0
}

// indexedOffset returns where the ith of n entries of an indexed list or object stands that ends at
// end.
func (t packedValues) indexedOffset(end, n, i int) int {
	at := end - sizeWidth*(n-i)
	return int(binary.LittleEndian.Uint32([]byte(t[at : at+sizeWidth])))
}

// searchIndex finds a key in an indexed object of n entries that ends at end.
func (t packedValues) searchIndex(end, n int, key string) (value, line int) {
	low, high := 0, n
	for low < high {
		middle := (low + high) / 2
		line, at := t.readLine(t.indexedOffset(end, n, middle))
		found, value := t.readText(at)
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

// formOf is what the value at a position is.
func (t packedValues) formOf(at int) byte { return t[at] &^ indexedFlag }

// dereference returns where the value at a position really stands.
func (t packedValues) dereference(at int) int {
	if t[at] == repeatedValue {
		to, _ := t.readNumber(at + 1)
		return int(to)
	}
	return at
}

// readValue reads a value, and returns where the next one begins.
func (t packedValues) readValue(at int) (v any, end int) {
	start, form, at := at, t.formOf(at), at+1
	switch form {
	case falseValue, trueValue:
		return form == trueValue, at
	case intValue:
		n, end := t.readNumber(at)
		return int64(n>>1) ^ -int64(n&1), end
	case floatValue:
		return math.Float64frombits(binary.LittleEndian.Uint64([]byte(t[at : at+8]))), at + 8
	case textValue:
		return t.readText(at)
	case listValue:
		n, at := t.readNumber(at + sizeWidth)
		out := make([]any, n)
		for i := range out {
			_, at = t.readLine(at)
			out[i], at = t.readValue(at)
		}
		return out, t.skipValue(start)
	case objectValue:
		n, at := t.readNumber(at + sizeWidth)
		out := make(map[string]any, n)
		for range n {
			var key string
			_, at = t.readLine(at)
			key, at = t.readText(at)
			out[key], at = t.readValue(at)
		}
		return out, t.skipValue(start)
	case repeatedValue:
		to, end := t.readNumber(at)
		v, _ := t.readValue(int(to))
		return v, end
	}
	return nil, at
}

// skipValue returns where the value after the one at a position begins.
func (t packedValues) skipValue(at int) int {
	form, at := t.formOf(at), at+1
	switch form {
	case intValue, repeatedValue:
		_, at = t.readNumber(at)
	case floatValue:
		at += 8
	case textValue:
		n, start := t.readNumber(at)
		if n&1 == 0 {
			start += int(n >> 1)
		}
		at = start
	case listValue, objectValue:
		at += sizeWidth + int(binary.LittleEndian.Uint32([]byte(t[at:at+sizeWidth])))
	}
	return at
}

// measureValue adds the value at a position to e, and returns where the next one begins.
func (t packedValues) measureValue(at int, e *Extent) (end int) {
	switch form := t.formOf(at); form {
	case textValue:
		s, end := t.readText(at + 1)
		e.Text = max(e.Text, len(s))
		return end
	case listValue, objectValue:
		n, next := t.readNumber(at + 1 + sizeWidth)
		e.Entries = max(e.Entries, int(n))
		for range n {
			_, next = t.readLine(next)
			if form == objectValue {
				var key string
				key, next = t.readText(next)
				e.Key = max(e.Key, len(key))
				e.Nulls = e.Nulls || t[next] == nullValue
			}
			next = t.measureValue(next, e)
		}
		return t.skipValue(at)
	case repeatedValue:
		to, end := t.readNumber(at + 1)
		t.measureValue(int(to), e)
		return end
	}
	return t.skipValue(at)
}

// readText reads a text. It shares the memory of the packed values.
func (t packedValues) readText(at int) (s string, end int) {
	n, start := t.readNumber(at)
	if n&1 == 1 {
		if n>>1 < uint64(len(commonWords)) {
			return commonWords[n>>1], start
		}
		s, _ = t.readText(int(n>>1) - len(commonWords))
		return s, start
	}
	end = start + int(n>>1)
	return string(t[start:end]), end
}

func (t packedValues) readLine(at int) (line, end int) {
	n, end := t.readNumber(at)
	return int(n), end
}

// readNumber reads a varint, most of which are one byte.
func (t packedValues) readNumber(at int) (n uint64, end int) {
	if c := t[at]; c < 0x80 {
		return uint64(c), at + 1
	}
	return t.readLongNumber(at)
}

func (t packedValues) readLongNumber(at int) (n uint64, end int) {
	for shift := 0; ; shift += 7 {
		c := t[at]
		at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n, at
		}
	}
}
