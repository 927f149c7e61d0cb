package document

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// tree is a list or map of JSON values with their lines. What aliases repeat is one tree: trees are
// not changed once they are made.
type tree struct {
	isList  bool
	shared  bool // it has an anchor
	entries []treeEntry
}

// treeEntry is a value of a list or map: nil, bool, int64, float64, string or *tree. In a list the
// key is "".
type treeEntry struct {
	key   string
	line  int // of the key, counted from the first line of the text
	value any
}

// findEntry returns the entry at a key of a map, or nil.
func (t *tree) findEntry(key string) *treeEntry {
	if t == nil || t.isList {
		return nil
	}
	if i := slices.IndexFunc(t.entries, func(e treeEntry) bool { return e.key == key }); i >= 0 {
		return &t.entries[i]
	}
	return nil
}

// valueAt returns the value at a key of a map, or nil.
func (t *tree) valueAt(key string) any {
	if e := t.findEntry(key); e != nil {
		return e.value
	}
	return nil
}

// textAt returns the string at a key of a map, or "".
func (t *tree) textAt(key string) string {
	s, _ := t.valueAt(key).(string)
	return s
}

// asMap is v as a map, or nil; its methods take that for an empty one.
func asMap(v any) *tree {
	if t, ok := v.(*tree); ok && !t.isList {
		return t
	}
	return nil
}

// asList is the entries of v if it is a list.
func asList(v any) (entries []treeEntry, ok bool) {
	t, ok := v.(*tree)
	if !ok || !t.isList {
		return nil, false
	}
	return t.entries, true
}

// withoutKey returns a copy of t less a key.
func (t *tree) withoutKey(key string) *tree {
	return &tree{entries: slices.DeleteFunc(slices.Clone(t.entries), func(e treeEntry) bool { return e.key == key })}
}

// withValue returns a copy of t with another value at a key. A new key has the given line.
func (t *tree) withValue(key string, line int, value any) *tree {
	out := &tree{entries: slices.Clone(t.entries)}
	if e := out.findEntry(key); e != nil {
		e.value = value
	} else {
		out.entries = append(out.entries, treeEntry{key, line, value})
	}
	return out
}

// toGoValue returns v as maps and lists of Go. They are not to be changed: what aliases repeat is
// shared.
func toGoValue(v any, known map[*tree]any) any {
	t, ok := v.(*tree)
	if !ok {
		return v
	}
	if v, seen := known[t]; seen {
		return v
	}
	var out any
	if t.isList {
		list := make([]any, len(t.entries))
		for i, e := range t.entries {
			list[i] = toGoValue(e.value, known)
		}
		out = list
	} else {
		m := make(map[string]any, len(t.entries))
		for _, e := range t.entries {
			m[e.key] = toGoValue(e.value, known)
		}
		out = m
	}
	if t.shared {
		known[t] = out
	}
	return out
}

// encoder packs objects. Those of small texts share one packed text.
type encoder struct {
	packer      *model.Packer
	firstLine   int // the file's line on which the present text begins, or noLines
	linesBefore int // lines of the text before the present document: small numbers take less room
	sharedMarks map[*tree]model.Position
	objects     []*model.Object // that wait for their bodies
	bodyStarts  []bodyStart
}

// bodyStart is where a body begins in the packed text, and the lines of its file before those that
// it counts.
type bodyStart struct {
	mark        model.Position
	linesBefore int
}

// noLines is the first line of texts that are parts of no file.
const noLines = 0

// documentLine returns the line of the document for one of the text.
func (p *encoder) documentLine(line int) int {
	if p.firstLine == noLines {
		return 0
	}
	return line - p.linesBefore
}

// beginText returns p for a text that begins on a line of its file.
func (p *encoder) beginText(first int) *encoder {
	const full = 64 << 10
	if p.packer.Position() > full {
		p.assignBodies()
	}
	p.firstLine, p.linesBefore, p.sharedMarks = first, 0, nil
	return p
}

// beginDocument goes on to the document that begins on a line of the text. It refers to nothing in
// those before.
func (p *encoder) beginDocument(line int) { p.linesBefore, p.sharedMarks = line-1, nil }

// addObject packs one more object, which gets its body later.
func (p *encoder) addObject(o *model.Object, t *tree) {
	at := bodyStart{mark: p.packer.Position()}
	if p.firstLine != noLines {
		at.linesBefore = p.firstLine - 1 + p.linesBefore
	}
	p.objects, p.bodyStarts = append(p.objects, o), append(p.bodyStarts, at)
	p.packValue(t)
}

// assignBodies gives the objects that wait their bodies.
func (p *encoder) assignBodies() {
	body := p.packer.TakeBodies()
	for i, at := range p.bodyStarts {
		p.objects[i].Body = body(at.mark).WithLineOffset(at.linesBefore)
	}
	p.objects, p.bodyStarts = p.objects[:0], p.bodyStarts[:0]
}

func (p *encoder) packValue(v any) {
	t, ok := v.(*tree)
	if !ok {
		p.packer.WriteScalar(v)
		return
	}
	if at, seen := p.sharedMarks[t]; seen {
		p.packer.WriteAgain(at)
		return
	}
	if t.shared {
		if p.sharedMarks == nil {
			p.sharedMarks = map[*tree]model.Position{}
		}
		p.sharedMarks[t] = p.packer.Position()
	}
	if t.isList {
		at := p.packer.OpenList(len(t.entries))
		for _, e := range t.entries {
			p.packer.BeginItem(p.documentLine(e.line))
			p.packValue(e.value)
		}
		p.packer.Close(at)
		return
	}
	at := p.packer.OpenObject(len(t.entries))
	for _, e := range t.entries {
		p.packer.BeginField(e.key, p.documentLine(e.line))
		p.packValue(e.value)
	}
	p.packer.Close(at)
}

// lineOfPath returns where the part of v at path stands, or as much of it as there is; line is that
// of v.
func lineOfPath(v any, line int, path ...string) int {
	for _, key := range path {
		t, ok := v.(*tree)
		if !ok {
			break
		}
		e := t.findEntry(key)
		if i, err := strconv.Atoi(key); t.isList && err == nil && i >= 0 && i < len(t.entries) {
			e = &t.entries[i]
		}
		if e == nil {
			break
		}
		v, line = e.value, e.line
	}
	return line
}
