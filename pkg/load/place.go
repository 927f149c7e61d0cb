package load

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v3"
)

// text is a piece that has been read, kept to find lines in it. It is parsed again when the first line is asked for:
// most objects are never asked, and their bytes are the least that can be kept.
type text struct {
	first  int // line of the file on which it begins
	limits *Limits
	once   sync.Once
	bytes  []byte
	docs   []place
}

// place is where a part of a document stands.
type place struct {
	key  string
	line int
	list bool    // the kids are list entries in their order; else they are map entries, sorted by key
	kids []place // shared where aliases repeat them
}

// places finds the lines of one object: the document itself, or an item of it.
type places struct {
	in   *text
	doc  int
	path []string
}

// Line implements model.Places.
func (p *places) Line(path ...string) int {
	p.in.once.Do(p.in.load)
	if p.doc >= len(p.in.docs) {
		return 0
	}
	at := &p.in.docs[p.doc]
	for _, key := range slices.Concat(p.path, path) {
		kid := at.kid(key)
		if kid == nil {
			break
		}
		at = kid
	}
	return p.in.first + at.line - 1
}

// load finds the places; the bytes are not needed afterwards.
func (t *text) load() {
	docs, _ := parse(t.bytes, *t.limits)
	t.keep(docs)
	t.bytes = nil
}

// keep takes the places of the documents; nil stands for one that has none.
func (t *text) keep(docs []*yaml.Node) {
	s := surveyor{shared: map[*yaml.Node]place{}}
	t.docs = make([]place, len(docs))
	for i, n := range docs {
		if n != nil {
			t.docs[i] = s.survey(n)
			t.docs[i].line = n.Line
		}
	}
}

// forget takes the places now and wipes the bytes, which hold something that must not be kept.
func (t *text) forget(docs []*yaml.Node) {
	t.once.Do(func() { t.keep(docs) })
	clear(t.bytes)
	t.bytes = nil
}

func (p *place) kid(key string) *place {
	if p.list {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(p.kids) {
			return &p.kids[i]
		}
		return nil
	}
	i, found := slices.BinarySearchFunc(p.kids, key, func(p place, key string) int { return cmp.Compare(p.key, key) })
	if !found {
		return nil
	}
	return &p.kids[i]
}

// surveyor finds the places of nodes that could be converted.
type surveyor struct {
	shared map[*yaml.Node]place // of the nodes with an anchor
}

// survey is the place of n's parts; key and line of its own are the caller's to say.
func (s *surveyor) survey(n *yaml.Node) (p place) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
		if p, seen := s.shared[n]; seen {
			return p
		}
	}
	switch n.Kind {
	case yaml.SequenceNode:
		p = s.list(n)
	case yaml.MappingNode:
		p = place{kids: s.entries(n)}
	}
	if n.Anchor != "" {
		s.shared[n] = p
	}
	return p
}

func (s *surveyor) list(n *yaml.Node) place {
	p := place{list: true, kids: make([]place, len(n.Content))}
	for i, kid := range n.Content {
		p.kids[i] = s.survey(kid)
		p.kids[i].line = kid.Line
	}
	return p
}

// entries lists the places of a map by key. Of those with the same key, the last written is the one in force, as in
// converter.mapping.
func (s *surveyor) entries(n *yaml.Node) []place {
	kids := make([]place, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if isMerge(k) {
			for _, from := range mergeOrder(v) {
				kids = append(kids, s.survey(from).kids...)
			}
			continue
		}
		p := s.survey(v)
		p.key, _, _ = keyText(k)
		p.line = k.Line
		kids = append(kids, p)
	}
	slices.SortStableFunc(kids, func(a, b place) int { return cmp.Compare(a.key, b.key) })
	last := kids[:0]
	for i, p := range kids {
		if i+1 == len(kids) || kids[i+1].key != p.key {
			last = append(last, p)
		}
	}
	return last
}

// child is the node at a key written in n itself, or nil.
func child(n *yaml.Node, key string) *yaml.Node {
	if n = resolved(n); n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if resolved(n.Content[i]).Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
