package model

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Packer writes bodies, several of them into one string. A value is written by WriteScalar, or by
// OpenList or OpenObject, its entries and Close; in front of each entry stands BeginItem or
// BeginField. Long texts and what WriteAgain repeats are written once.
type Packer struct {
	buf         []byte
	texts       map[string]int  // long texts, by where they stand
	openEntries [][]entryOffset // of the lists and objects that are open: their entries, nil for those with few
}

// entryOffset is where an entry stands in the packed values.
type entryOffset struct {
	key    string
	offset int
}

const (
	minSharedText = 64 // bytes from which texts are kept once
	minIndexed    = 64 // entries from which lists and objects get an index
)

// Position is a place in what a Packer has written.
type Position int

// Position is where the next value begins.
func (p *Packer) Position() Position { return Position(len(p.buf)) }

// WriteScalar writes a string, bool, int64, float64 or nil.
func (p *Packer) WriteScalar(v any) {
	switch t := v.(type) {
	case nil:
		p.buf = append(p.buf, nullValue)
	case bool:
		if t {
			p.buf = append(p.buf, trueValue)
		} else {
			p.buf = append(p.buf, falseValue)
		}
	case int64:
		p.buf = binary.AppendUvarint(append(p.buf, intValue), uint64(t<<1)^uint64(t>>63))
	case float64:
		p.buf = binary.LittleEndian.AppendUint64(append(p.buf, floatValue), math.Float64bits(t))
	case string:
		p.buf = append(p.buf, textValue)
		p.writeText(t)
	default: // a programming error, like a type that encoding/json does not know
		p.buf = append(p.buf, textValue)
		p.writeText(fmt.Sprint(t))
	}
}

// OpenList begins a list of n entries.
func (p *Packer) OpenList(n int) Position { return p.openValue(listValue, n) }

// OpenObject begins an object of n entries.
func (p *Packer) OpenObject(n int) Position { return p.openValue(objectValue, n) }

func (p *Packer) openValue(form byte, n int) Position {
	at := p.Position()
	var entries []entryOffset
	if n >= minIndexed {
		form |= indexedFlag
		entries = make([]entryOffset, 0, n)
	}
	p.openEntries = append(p.openEntries, entries)
	p.buf = append(p.buf, form, 0, 0, 0, 0)
	p.buf = binary.AppendUvarint(p.buf, uint64(n))
	return at
}

// Close ends the list or object that was opened at a position.
func (p *Packer) Close(at Position) {
	last := len(p.openEntries) - 1
	entries := p.openEntries[last]
	p.openEntries = p.openEntries[:last]
	slices.SortStableFunc(entries, func(a, b entryOffset) int { return strings.Compare(a.key, b.key) })
	for _, e := range entries {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(e.offset))
	}
	start := int(at) + 1
	binary.LittleEndian.PutUint32(p.buf[start:], uint32(len(p.buf)-start-sizeWidth))
}

// BeginItem comes before an entry of a list; line 0 means that it is not known.
func (p *Packer) BeginItem(line int) { p.beginEntry("", line) }

// BeginField comes before an entry of an object.
func (p *Packer) BeginField(key string, line int) {
	p.beginEntry(key, line)
	p.writeText(key)
}

func (p *Packer) beginEntry(key string, line int) {
	if open := &p.openEntries[len(p.openEntries)-1]; *open != nil {
		*open = append(*open, entryOffset{key, len(p.buf)})
	}
	p.buf = binary.AppendUvarint(p.buf, uint64(max(line, 0)))
}

// WriteAgain writes the list or object once more that was opened at a position.
func (p *Packer) WriteAgain(at Position) {
	p.buf = binary.AppendUvarint(append(p.buf, repeatedValue), uint64(at))
}

// writeText writes twice its length and the text; or, as an odd number, that of a common word, or
// where the same text stands.
func (p *Packer) writeText(s string) {
	if at, known := commonWordNumbers[s]; known {
		p.buf = binary.AppendUvarint(p.buf, uint64(at)<<1|1)
		return
	}
	if len(s) >= minSharedText {
		if at, known := p.texts[s]; known {
			p.buf = binary.AppendUvarint(p.buf, uint64(len(commonWords)+at)<<1|1)
			return
		}
		if p.texts == nil {
			p.texts = map[string]int{}
		}
		p.texts[s] = len(p.buf)
	}
	p.buf = append(binary.AppendUvarint(p.buf, uint64(len(s))<<1), s...)
}

// TakeBodies returns a function that gives the body that begins at a position. The Packer is empty
// afterwards.
func (p *Packer) TakeBodies() func(Position) Body {
	tape := packedValues(p.buf)
	p.buf, p.texts = p.buf[:0], nil
	return func(at Position) Body { return Body{packed: &tape, position: uint32(at)} }
}

// Pack is the body with a content of Go maps and lists, and of other bodies. Line says where the
// part at a path stands; nil: that is not known.
func Pack(v any, line func(path ...string) int) Body {
	var p Packer
	p.packValue(v, nil, line)
	return p.TakeBodies()(0)
}

func (p *Packer) packValue(v any, path []string, line func(...string) int) {
	below := func(key string) (inner []string, at int) {
		if line == nil {
			return nil, 0
		}
		inner = append(path[:len(path):len(path)], key)
		return inner, line(inner...)
	}
	field := func(key string, v any) {
		inner, at := below(key)
		p.BeginField(key, at)
		p.packValue(v, inner, line)
	}
	item := func(i int, v any) {
		inner, at := below(strconv.Itoa(i))
		p.BeginItem(at)
		p.packValue(v, inner, line)
	}
	switch t := v.(type) {
	case map[string]any:
		defer p.Close(p.OpenObject(len(t)))
		for _, key := range slices.Sorted(maps.Keys(t)) {
			field(key, t[key])
		}
	case []any:
		defer p.Close(p.OpenList(len(t)))
		for i, v := range t {
			item(i, v)
		}
	case Body:
		switch {
		case t.IsObject():
			defer p.Close(p.OpenObject(t.Len()))
			for key, v := range t.Fields {
				field(key, v)
			}
		case t.IsList():
			defer p.Close(p.OpenList(t.Len()))
			for i, v := range t.Items {
				item(i, v)
			}
		default:
			p.WriteScalar(t.Value())
		}
	default:
		p.WriteScalar(v)
	}
}
