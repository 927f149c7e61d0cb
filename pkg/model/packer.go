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

// Packer writes bodies, several of them onto one tape. A value is written by Scalar, or by Open, its entries and Close; in front of each
// entry stands Entry. Long texts and what Again repeats are on the tape once.
type Packer struct {
	buf   []byte
	texts map[string]int  // long texts, by where they stand
	open  [][]entryOffset // of the lists and objects that are open: their entries, nil for those with few
}

// entryOffset is where an entry stands on the tape.
type entryOffset struct {
	key string
	at  int
}

const (
	longText = 64 // bytes from which texts are kept once
	many     = 64 // entries from which lists and objects get an index
)

// Mark is a place on the tape of a Packer.
type Mark int

// Here is where the next value begins.
func (p *Packer) Here() Mark { return Mark(len(p.buf)) }

// Scalar writes a string, bool, int64, float64 or nil.
func (p *Packer) Scalar(v any) {
	switch t := v.(type) {
	case nil:
		p.buf = append(p.buf, null)
	case bool:
		if t {
			p.buf = append(p.buf, yes)
		} else {
			p.buf = append(p.buf, no)
		}
	case int64:
		p.buf = binary.AppendUvarint(append(p.buf, whole), uint64(t<<1)^uint64(t>>63))
	case float64:
		p.buf = binary.LittleEndian.AppendUint64(append(p.buf, decimal), math.Float64bits(t))
	case string:
		p.buf = append(p.buf, text)
		p.text(t)
	default: // a programming error, like a type that encoding/json does not know
		p.buf = append(p.buf, text)
		p.text(fmt.Sprint(t))
	}
}

// OpenList begins a list of n entries.
func (p *Packer) OpenList(n int) Mark { return p.begin(list, n) }

// OpenObject begins an object of n entries.
func (p *Packer) OpenObject(n int) Mark { return p.begin(object, n) }

func (p *Packer) begin(form byte, n int) Mark {
	at := p.Here()
	var entries []entryOffset
	if n >= many {
		form |= indexed
		entries = make([]entryOffset, 0, n)
	}
	p.open = append(p.open, entries)
	p.buf = append(p.buf, form, 0, 0, 0, 0)
	p.buf = binary.AppendUvarint(p.buf, uint64(n))
	return at
}

// Close ends the list or object that was begun at a mark.
func (p *Packer) Close(at Mark) {
	last := len(p.open) - 1
	entries := p.open[last]
	p.open = p.open[:last]
	slices.SortStableFunc(entries, func(a, b entryOffset) int { return strings.Compare(a.key, b.key) })
	for _, e := range entries {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(e.at))
	}
	start := int(at) + 1
	binary.LittleEndian.PutUint32(p.buf[start:], uint32(len(p.buf)-start-sizeWidth))
}

// Item comes before an entry of a list; line 0 means that it is not known.
func (p *Packer) Item(line int) { p.entry("", line) }

// Field comes before an entry of an object.
func (p *Packer) Field(key string, line int) {
	p.entry(key, line)
	p.text(key)
}

func (p *Packer) entry(key string, line int) {
	if open := &p.open[len(p.open)-1]; *open != nil {
		*open = append(*open, entryOffset{key, len(p.buf)})
	}
	p.buf = binary.AppendUvarint(p.buf, uint64(max(line, 0)))
}

// Again writes the list or object once more that was begun at a mark.
func (p *Packer) Again(at Mark) { p.buf = binary.AppendUvarint(append(p.buf, again), uint64(at)) }

// text writes twice its length and the text; or, as an odd number, that of a common word, or where the same text stands.
func (p *Packer) text(s string) {
	if at, known := numberOf[s]; known {
		p.buf = binary.AppendUvarint(p.buf, uint64(at)<<1|1)
		return
	}
	if len(s) >= longText {
		if at, known := p.texts[s]; known {
			p.buf = binary.AppendUvarint(p.buf, uint64(len(common)+at)<<1|1)
			return
		}
		if p.texts == nil {
			p.texts = map[string]int{}
		}
		p.texts[s] = len(p.buf)
	}
	p.buf = append(binary.AppendUvarint(p.buf, uint64(len(s))<<1), s...)
}

// Bodies gives the bodies that begin at marks. The Packer is empty afterwards.
func (p *Packer) Bodies() func(Mark) Body {
	tape := packed(p.buf)
	p.buf, p.texts = p.buf[:0], nil
	return func(at Mark) Body { return Body{tape: &tape, at: uint32(at)} }
}

// Pack is the body with a content of Go maps and lists, and of other bodies. Line says where the part at a path stands; nil: that is not known.
func Pack(v any, line func(path ...string) int) Body {
	var p Packer
	p.pack(v, nil, line)
	return p.Bodies()(0)
}

func (p *Packer) pack(v any, path []string, line func(...string) int) {
	below := func(key string) (inner []string, at int) {
		if line == nil {
			return nil, 0
		}
		inner = append(path[:len(path):len(path)], key)
		return inner, line(inner...)
	}
	field := func(key string, v any) {
		inner, at := below(key)
		p.Field(key, at)
		p.pack(v, inner, line)
	}
	item := func(i int, v any) {
		inner, at := below(strconv.Itoa(i))
		p.Item(at)
		p.pack(v, inner, line)
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
			p.Scalar(t.Value())
		}
	default:
		p.Scalar(v)
	}
}
