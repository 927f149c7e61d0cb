package merge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// leaves is LeafShape.
var leaves = Shape{{Path: Path{{Form: Deep}}}}

// CutAll cuts a bare settings document into units, sorted by key, list entries in their order. Odd are the parts of another form than
// expected: a keyed list with an entry without its key, or two with the same, is one unit; a named container that is no object is none.
func (s Shape) CutAll(settings any) (units []Unit, odd []Odd) {
	k := newKnife(nil, nil)
	defer k.putAway()
	k.emit = func(at spot, v any) {
		k.units = append(k.units, Unit{Path: at.path, Value: v, at: at.address, cut: s.id()})
	}
	k.odd = &odd
	k.cut(settings, s.startIn(&k.marks))
	return append([]Unit(nil), k.units...), odd // nil if there are none
}

// knife cuts a value into units. What it keeps on its way down is kept in stacks, so that a step down makes nothing, and the stacks serve the
// next value as well.
type knife struct {
	emit    func(spot, any)
	odd     *[]Odd
	units   []Unit // that were emitted, where they are kept
	before  []spot // of what was emitted from the value that was cut last, and up to n of this one
	n       int
	at      Path    // of the value that is cut
	marks   []mark  // of the cursors
	entries []entry // of the objects that are cut
	add     func(key string, value any) bool
}

type entry struct {
	key   string
	value any
}

// spot is a path that a knife has come to, and what is made of it over and over.
type spot struct {
	path    Path
	address *address
}

// mostKept is how much a knife keeps for the next value.
const mostKept = 64

var knives = sync.Pool{New: func() any {
	k := &knife{}
	k.add = func(key string, value any) bool {
		k.entries = append(k.entries, entry{key, value})
		return true
	}
	return k
}}

// newKnife is a knife for a value that stands at a path. It is to be put away.
func newKnife(at Path, emit func(spot, any)) *knife {
	k := knives.Get().(*knife)
	k.emit, k.at, k.marks, k.n = emit, append(k.at[:0], at...), k.marks[:0], 0
	return k
}

// putAway keeps the knife for another value, without what it cut. One that has become large is given up, as emptying it takes its size every time.
func (k *knife) putAway() {
	if cap(k.entries) > mostKept || cap(k.units) > mostKept {
		return
	}
	clear(k.entries[:cap(k.entries)])
	clear(k.units)
	clear(k.at[:cap(k.at)])
	k.emit, k.odd, k.units = nil, nil, k.units[:0]
	knives.Put(k)
}

// here is where the value stands that is cut. Policies of a kind mostly set the same things: they share the paths.
func (k *knife) here() spot {
	i := k.n
	k.n++
	if i < len(k.before) && slices.Equal(k.before[i].path, k.at) {
		return k.before[i]
	}
	path := make(Path, len(k.at))
	copy(path, k.at)
	s := spot{path, path.address()}
	switch {
	case i < len(k.before):
		k.before[i] = s
	case i == len(k.before) && i < mostKept:
		k.before = append(k.before, s)
	}
	return s
}

// Odd is a part of a settings document that does not have the form that the shape expects.
type Odd struct {
	Path Path
	Why  string
}

func (k *knife) cut(v any, c cursor) {
	if c.ends() {
		if m, ok := v.(map[string]any); len(k.at) > 0 || !ok || len(m) > 0 {
			k.emit(k.here(), v)
		}
		return
	}
	switch t := v.(type) {
	case map[string]any:
		first := len(k.entries)
		for key, value := range t {
			k.add(key, value)
		}
		k.object(v, first, c)
	case Packed:
		if _, object := t.Size(); object {
			first := len(k.entries)
			t.Parts(k.add)
			k.object(v, first, c)
		} else {
			k.cut(t.Value(), c)
		}
	case []any:
		k.list(t, c)
	default:
		k.scalar(v, c)
	}
}

// object cuts an object by key. Its entries are those from first on.
func (k *knife) object(v any, first int, c cursor) {
	end := len(k.entries)
	if first == end && len(k.at) > 0 && c.deep() {
		k.emit(k.here(), v)
	}
	slices.SortFunc(k.entries[first:], func(a, b entry) int { return strings.Compare(a.key, b.key) })
	for i := first; i < end; i++ { // entries may move when those of an object below come behind them
		k.below(k.entries[i].value, c, Segment{Name: k.entries[i].key})
	}
	k.entries = k.entries[:first]
}

// below cuts what is one segment down.
func (k *knife) below(v any, c cursor, seg Segment) {
	at, marks := len(k.at), len(k.marks)
	k.at = append(k.at, seg)
	k.cut(v, c.nextIn(seg, &k.marks))
	k.at, k.marks = k.at[:at], k.marks[:marks]
}

// scalar is a value where rules stand deeper: a null is an empty container; anything else is a unit where a wildcard may mean a field
// as well as a map, and misplaced where the pattern names the container.
func (k *knife) scalar(v any, c cursor) {
	switch {
	case v == nil && !c.deep():
	case c.named() && k.odd != nil:
		*k.odd = append(*k.odd, Odd{k.here().path, "is no object"})
	default:
		k.emit(k.here(), v)
	}
}

func (k *knife) list(list []any, c cursor) {
	p := c.keyed()
	if p == nil {
		k.scalar(list, c)
		return
	}
	names, ok := entryNames(list, p)
	if !ok {
		if k.odd != nil {
			*k.odd = append(*k.odd, Odd{k.here().path, "is a keyed list, but not every entry has a key of its own: it is one rule"})
		}
		k.emit(k.here(), list)
		return
	}
	for i, name := range names {
		k.below(list[i], c, Segment{Name: name, Form: p.As})
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
		m, _ := Plain(entry).(map[string]any)
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
func LeafShape() Shape { return leaves[:1:1] }
