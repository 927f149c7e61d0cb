package merge

import "encoding/binary"

// Form says how a segment of a path is meant.
type Form uint8

// The forms of a segment.
const (
	Key       Form = iota // a map's key
	Entry                 // an entry of a keyed list, printed [name]
	ListEntry             // an entry of a list-map, printed like a key
	Any                   // in patterns: any one key
	// in patterns, last: any depth; first: at any depth, of a pattern that only says how units are
	// combined
	Deep
	Prefix    // in patterns: a key that begins so and goes on with a capital letter
	HiddenKey // a map's key below an entry of a list, left out of printed names
	EntryKey  // the field that identifies an entry and is in its name already: it is no rule
)

// Segment is one step of a Path. The form keeps a map key that looks like [x] apart from a list
// entry.
type Segment struct {
	Name string
	Form Form
}

// Path leads from the settings root to a value. The empty path is the whole of the settings,
// printed "*".
type Path []Segment

// KeyPath makes a path of map keys.
func KeyPath(names ...string) Path {
	p := make(Path, len(names))
	for i, n := range names {
		p[i].Name = n
	}
	return p
}

// String is the dotted name under which the path is printed: rules.authentication.a,
// compressor[gzip].
func (p Path) String() string {
	if len(p) == 0 {
		return "*"
	}
	b := make([]byte, 0, 64)
	for i, s := range p {
		switch {
		case s.Form == HiddenKey || s.Form == EntryKey:
			continue
		case s.Form == Entry:
			b = append(append(append(b, '['), s.Name...), ']')
			continue
		case i > 0:
			b = append(b, '.')
		}
		b = append(b, s.printedName()...)
	}
	return string(b)
}

func (s Segment) printedName() string {
	switch s.Form {
	case Any:
		return "*"
	case Deep:
		return "**"
	case Prefix:
		return s.Name + "*"
	}
	return s.Name
}

// encode returns the path as a string, so that equal paths have equal codes and a path's code is a
// string prefix of exactly the codes below it, whatever characters the keys hold.
func (p Path) encode() string {
	b := make([]byte, 0, 64)
	for _, s := range p {
		b = append(b, byte(s.Form))
		b = binary.AppendUvarint(b, uint64(len(s.Name)))
		b = append(b, s.Name...)
	}
	return string(b)
}

// yieldAncestors calls yield with the code of every proper prefix of the path behind code, the
// root's "" first.
func yieldAncestors(code string, yield func(string) bool) {
	for at := 0; at < len(code); {
		if !yield(code[:at]) {
			return
		}
		length, width := binary.Uvarint([]byte(code[at+1 : min(len(code), at+1+binary.MaxVarintLen64)]))
		at += 1 + width + int(length)
	}
}

// appendSegment joins p and one more segment in memory of its own.
func (p Path) appendSegment(s Segment) Path {
	out := make(Path, len(p)+1)
	copy(out, p)
	out[len(p)] = s
	return out
}
