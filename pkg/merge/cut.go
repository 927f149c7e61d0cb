package merge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// leafShape is LeafShape.
var leafShape = Shape{{Path: Path{{Form: Deep}}}}

// CutSettings cuts a bare settings document into units, sorted by key, list entries in their order.
// It also returns the parts of another form than expected: a keyed list with an entry without its
// key, or with two of the same key, is one unit; a named container that is no object is none.
func (s Shape) CutSettings(settings any) (units []Unit, odd []FormMismatch) {
	k := cutter{odd: &odd, emit: func(at Path, v any) {
		units = append(units,
			Unit{Path: at, Value: v, cutBy: s.firstPattern()})
	}}
	k.cutValue(settings, nil, s.startCursor())
	return units, odd
}

// cutter cuts a value into units.
type cutter struct {
	emit func(at Path, v any)
	odd  *[]FormMismatch // nil: nobody asks for odd parts
}

// FormMismatch is a part of a settings document that does not have the form that the shape expects.
type FormMismatch struct {
	Path    Path
	Message string
}

// cutValue cuts the value at a path, which no other value shares.
func (k *cutter) cutValue(v any, at Path, c cursor) {
	if c.endsHere() {
		if m, ok := v.(map[string]any); len(at) > 0 || !ok || len(m) > 0 {
			k.emit(at, v)
		}
		return
	}
	switch t := v.(type) {
	case map[string]any:
		k.cutObject(v, t, at, c)
	case Packed:
		if _, object := t.Size(); object {
			k.cutObject(v, maps.Collect(t.Parts), at, c)
		} else {
			k.cutValue(t.Value(), at, c)
		}
	case []any:
		k.list(t, at, c)
	default:
		k.cutScalar(v, at, c)
	}
}

// cutObject cuts an object by key.
func (k *cutter) cutObject(v any, entries map[string]any, at Path, c cursor) {
	if len(entries) == 0 && len(at) > 0 && c.hasDeepPattern() {
		k.emit(at, v)
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		seg := Segment{Name: key}
		k.cutValue(entries[key], at.appendSegment(seg), c.advanceTo(seg))
	}
}

// cutScalar is a value where rules stand deeper: a null is an empty container; anything else is a unit
// where a wildcard may mean a field as well as a map, and misplaced where the pattern names the
// container.
func (k *cutter) cutScalar(v any, at Path, c cursor) {
	switch {
	case v == nil && !c.hasDeepPattern():
	case c.isNamedContainer() && k.odd != nil:
		*k.odd = append(*k.odd, FormMismatch{at, "is no object"})
	default:
		k.emit(at, v)
	}
}

func (k *cutter) list(list []any, at Path, c cursor) {
	p := c.keyedPattern()
	if p == nil {
		k.cutScalar(list, at, c)
		return
	}
	names, ok := entryNames(list, p)
	if !ok {
		if k.odd != nil {
			*k.odd = append(*k.odd,
				FormMismatch{at, "is a keyed list, but not every entry has a key of its own: it is one rule"})
		}
		k.emit(at, list)
		return
	}
	for i, name := range names {
		seg := Segment{Name: name, Form: p.As}
		k.cutValue(list[i], at.appendSegment(seg), c.advanceTo(seg))
	}
}

// entryNames reads the keys of every entry; not ok if one lacks a key or two have the same. Without
// keys entries have numbers.
func entryNames(list []any, p *Pattern) ([]string, bool) {
	keys, names := p.Keys, make([]string, len(list))
	if p.Numbers {
		for i := range names {
			names[i] = strconv.Itoa(i)
		}
		return names, true
	}
	seen := make(map[string]bool, len(list))
	for i, entry := range list {
		m, _ := Unpack(entry).(map[string]any)
		parts := make([]string, len(keys))
		for j, key := range keys {
			switch v := m[key].(type) {
			case nil, map[string]any, []any:
				return nil, false
			default:
				parts[j] = fmt.Sprint(v)
			}
		}
		names[i] = strings.Join(parts, ",")
		if seen[names[i]] {
			return nil, false
		}
		seen[names[i]] = true
	}
	return names, true
}

// LeafShape cuts at the leaves of an RFC 7386 merge patch: whatever is not an object, lists
// included.
func LeafShape() Shape { return leafShape[:1:1] }
