package merge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// leafShape is LeafShape.
var leafShape = Shape{{Path: Path{{Form: Deep}}}}

// CutSettings cuts a bare settings document into units, sorted by key, list entries in their order.
// It also returns the parts of another form than expected: a keyed list with an entry without its
// key, or with two of the same key, is one unit; a named container that is no object is none.
func (s Shape) CutSettings(settings any) (units []Unit, odd []FormMismatch) {
	k := newSplitter(nil, nil)
	defer k.release()
	k.emit = func(at emittedPath, v any) {
		k.units = append(k.units, Unit{Path: at.path, Value: v, encoded: at.encoded, cutBy: s.firstPattern()})
	}
	k.mismatches = &odd
	k.splitValue(settings, s.startCursorIn(&k.matches))
	return append([]Unit(nil), k.units...), odd // nil if there are none
}

// splitter cuts a value into units. Its buffers are stacks which serve the next value as well, so
// that a step down allocates nothing.
type splitter struct {
	emit       func(emittedPath, any)
	mismatches *[]FormMismatch
	units      []Unit        // the units that were emitted, where the caller keeps them
	previous   []emittedPath // the paths emitted for the value before, and the first n of this one
	emitted    int
	path       Path           // of the value that is cut
	matches    []partialMatch // of the cursors
	entries    []objectEntry  // of the objects that are cut
	addEntry   func(key string, value any) bool
}

type objectEntry struct {
	key   string
	value any
}

// emittedPath is the path of an emitted value, with its encoded form.
type emittedPath struct {
	path    Path
	encoded *encodedPath
}

// maxKept is how much a knife keeps for the next value.
const maxKept = 64

var splitters = sync.Pool{New: func() any {
	k := &splitter{}
	k.addEntry = func(key string, value any) bool {
		k.entries = append(k.entries, objectEntry{key, value})
		return true
	}
	return k
}}

// newSplitter returns a splitter for a value at a path. The caller releases it.
func newSplitter(at Path, emit func(emittedPath, any)) *splitter {
	k := splitters.Get().(*splitter)
	k.emit, k.path, k.matches, k.emitted = emit, append(k.path[:0], at...), k.matches[:0], 0
	return k
}

// release keeps the splitter for another value, without what it cut. One that has become large is
// given up, as emptying it takes its size every time.
func (k *splitter) release() {
	if cap(k.entries) > maxKept || cap(k.units) > maxKept {
		return
	}
	clear(k.entries[:cap(k.entries)])
	clear(k.units)
	clear(k.path[:cap(k.path)])
	k.emit, k.mismatches, k.units = nil, nil, k.units[:0]
	splitters.Put(k)
}

// currentPath returns where the value stands that is cut. Policies of a kind mostly set the same
// things: they share the paths.
func (k *splitter) currentPath() emittedPath {
	i := k.emitted
	k.emitted++
	if i < len(k.previous) && slices.Equal(k.previous[i].path, k.path) {
		return k.previous[i]
	}
	path := make(Path, len(k.path))
	copy(path, k.path)
	s := emittedPath{path, path.toEncoded()}
	switch {
	case i < len(k.previous):
		k.previous[i] = s
	case i == len(k.previous) && i < maxKept:
		k.previous = append(k.previous, s)
	}
	return s
}

// FormMismatch is a part of a settings document that does not have the form that the shape expects.
type FormMismatch struct {
	Path    Path
	Message string
}

func (k *splitter) splitValue(v any, c cursor) {
	if c.endsHere() {
		if m, ok := v.(map[string]any); len(k.path) > 0 || !ok || len(m) > 0 {
			k.emit(k.currentPath(), v)
		}
		return
	}
	switch t := v.(type) {
	case map[string]any:
		first := len(k.entries)
		for key, value := range t {
			k.addEntry(key, value)
		}
		k.splitObject(v, first, c)
	case Packed:
		if _, object := t.Size(); object {
			first := len(k.entries)
			t.Parts(k.addEntry)
			k.splitObject(v, first, c)
		} else {
			k.splitValue(t.Value(), c)
		}
	case []any:
		k.splitList(t, c)
	default:
		k.emitScalar(v, c)
	}
}

// splitObject cuts an object by key. Its entries are those from first on.
func (k *splitter) splitObject(v any, first int, c cursor) {
	end := len(k.entries)
	if first == end && len(k.path) > 0 && c.hasDeepPattern() {
		k.emit(k.currentPath(), v)
	}
	slices.SortFunc(k.entries[first:], func(a, b objectEntry) int { return strings.Compare(a.key, b.key) })
	for i := first; i < end; i++ { // entries may move when those of an object below come behind them
		k.splitBelow(k.entries[i].value, c, Segment{Name: k.entries[i].key})
	}
	k.entries = k.entries[:first]
}

// splitBelow cuts the value that is one segment further down.
func (k *splitter) splitBelow(v any, c cursor, seg Segment) {
	at, marks := len(k.path), len(k.matches)
	k.path = append(k.path, seg)
	k.splitValue(v, c.nextInBuffer(seg, &k.matches))
	k.path, k.matches = k.path[:at], k.matches[:marks]
}

// emitScalar takes a value where rules stand deeper: a null is an empty container; anything else is
// a unit where a wildcard may mean a field as well as a map, and misplaced where the pattern names
// the container.
func (k *splitter) emitScalar(v any, c cursor) {
	switch {
	case v == nil && !c.hasDeepPattern():
	case c.isNamedContainer() && k.mismatches != nil:
		*k.mismatches = append(*k.mismatches, FormMismatch{k.currentPath().path, "is no object"})
	default:
		k.emit(k.currentPath(), v)
	}
}

func (k *splitter) splitList(list []any, c cursor) {
	p := c.keyedPattern()
	if p == nil {
		k.emitScalar(list, c)
		return
	}
	names, ok := entryNames(list, p)
	if !ok {
		if k.mismatches != nil {
			*k.mismatches = append(*k.mismatches, FormMismatch{k.currentPath().path, "is a keyed list, but not every entry has a key of its own: it is one rule"})
		}
		k.emit(k.currentPath(), list)
		return
	}
	for i, name := range names {
		k.splitBelow(list[i], c, Segment{Name: name, Form: p.As})
	}
}

// entryNames reads the keys of every entry; not ok if one lacks a key or two have the same. Without keys entries have numbers.
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

// LeafShape cuts at the leaves of an RFC 7386 merge patch: whatever is not an object, lists included.
func LeafShape() Shape { return leafShape[:1:1] }
