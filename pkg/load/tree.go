package load

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// tree is a list or map of JSON values with their lines. What aliases repeat is one tree: trees are not changed once they are made.
type tree struct {
	list   bool
	shared bool // it has an anchor
	kids   []kid
}

// kid is a value of a list or map: nil, bool, int64, float64, string or *tree. In a list the key is "".
type kid struct {
	key   string
	line  int // of the key, counted from the first line of the text
	value any
}

// find is the entry at a key of a map, or nil.
func (t *tree) find(key string) *kid {
	if t == nil || t.list {
		return nil
	}
	if i := slices.IndexFunc(t.kids, func(e kid) bool { return e.key == key }); i >= 0 {
		return &t.kids[i]
	}
	return nil
}

// at is the value at a key of a map, or nil.
func (t *tree) at(key string) any {
	if e := t.find(key); e != nil {
		return e.value
	}
	return nil
}

// text is the string at a key of a map, or "".
func (t *tree) text(key string) string {
	s, _ := t.at(key).(string)
	return s
}

// asMap is v as a map, or nil; its methods take that for an empty one.
func asMap(v any) *tree {
	if t, ok := v.(*tree); ok && !t.list {
		return t
	}
	return nil
}

// asList is the entries of v if it is a list.
func asList(v any) (entries []kid, ok bool) {
	t, ok := v.(*tree)
	if !ok || !t.list {
		return nil, false
	}
	return t.kids, true
}

// without is a copy of t less a key.
func (t *tree) without(key string) *tree {
	return &tree{kids: slices.DeleteFunc(slices.Clone(t.kids), func(e kid) bool { return e.key == key })}
}

// with is a copy of t with another value at a key. A new key has the given line.
func (t *tree) with(key string, line int, value any) *tree {
	out := &tree{kids: slices.Clone(t.kids)}
	if e := out.find(key); e != nil {
		e.value = value
	} else {
		out.kids = append(out.kids, kid{key, line, value})
	}
	return out
}

// goValue is v as maps and lists of Go. They are not to be changed: what aliases repeat is shared.
func goValue(v any, known map[*tree]any) any {
	t, ok := v.(*tree)
	if !ok {
		return v
	}
	if v, seen := known[t]; seen {
		return v
	}
	var out any
	if t.list {
		list := make([]any, len(t.kids))
		for i, e := range t.kids {
			list[i] = goValue(e.value, known)
		}
		out = list
	} else {
		m := make(map[string]any, len(t.kids))
		for _, e := range t.kids {
			m[e.key] = goValue(e.value, known)
		}
		out = m
	}
	if t.shared {
		known[t] = out
	}
	return out
}

// press packs objects. Those of small texts share a tape.
type press struct {
	to      *model.Packer
	first   int // the file's line on which the present text begins, or noLines
	before  int // lines of the text before the present document: small numbers take less room
	known   map[*tree]model.Mark
	objects []*model.Object // that wait for their bodies
	marks   []bodyStart
}

// bodyStart is where a body begins on the tape, and the lines of its file before those that it counts.
type bodyStart struct {
	mark   model.Mark
	before int
}

// noLines is the first line of texts that are parts of no file.
const noLines = 0

// line is that of the document for one of the text.
func (p *press) line(line int) int {
	if p.first == noLines {
		return 0
	}
	return line - p.before
}

// begin is p for a text that begins on a line of its file.
func (p *press) begin(first int) *press {
	const full = 64 << 10
	if p.to.Here() > full {
		p.deliver()
	}
	p.first, p.before, p.known = first, 0, nil
	return p
}

// turn goes on to the document that begins on a line of the text. It refers to nothing in those before.
func (p *press) turn(line int) { p.before, p.known = line-1, nil }

// add packs one more object, which gets its body later.
func (p *press) add(o *model.Object, t *tree) {
	at := bodyStart{mark: p.to.Here()}
	if p.first != noLines {
		at.before = p.first - 1 + p.before
	}
	p.objects, p.marks = append(p.objects, o), append(p.marks, at)
	p.pack(t)
}

// deliver gives the objects that wait their bodies.
func (p *press) deliver() {
	body := p.to.Bodies()
	for i, at := range p.marks {
		p.objects[i].Body = body(at.mark).After(at.before)
	}
	p.objects, p.marks = p.objects[:0], p.marks[:0]
}

func (p *press) pack(v any) {
	t, ok := v.(*tree)
	if !ok {
		p.to.Scalar(v)
		return
	}
	if at, seen := p.known[t]; seen {
		p.to.Again(at)
		return
	}
	if t.shared {
		if p.known == nil {
			p.known = map[*tree]model.Mark{}
		}
		p.known[t] = p.to.Here()
	}
	if t.list {
		at := p.to.OpenList(len(t.kids))
		for _, e := range t.kids {
			p.to.Item(p.line(e.line))
			p.pack(e.value)
		}
		p.to.Close(at)
		return
	}
	at := p.to.OpenObject(len(t.kids))
	for _, e := range t.kids {
		p.to.Field(e.key, p.line(e.line))
		p.pack(e.value)
	}
	p.to.Close(at)
}

// lineOf is where the part of v at path stands, or as much of it as there is; line is that of v.
func lineOf(v any, line int, path ...string) int {
	for _, key := range path {
		t, ok := v.(*tree)
		if !ok {
			break
		}
		e := t.find(key)
		if i, err := strconv.Atoi(key); t.list && err == nil && i >= 0 && i < len(t.kids) {
			e = &t.kids[i]
		}
		if e == nil {
			break
		}
		v, line = e.value, e.line
	}
	return line
}
