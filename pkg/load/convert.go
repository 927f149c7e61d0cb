package load

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// converter turns YAML nodes that have been weighed into JSON values, lists and maps as trees. What aliases repeat is converted once and
// shared.
type converter struct {
	first  int // the file's line on which the text begins
	words  *words
	shared map[*yaml.Node]any // what the nodes with an anchor hold
	odd    []oddKey
	spend  bool // nodes that are converted are not needed any more: a large document should not be there twice
}

// oddKey is a key that does not mean what is written.
type oddKey struct {
	line         int
	written, key string
	kubectl      string // what kubectl reads where that is not key
}

func (c *converter) value(n *yaml.Node) (v any, failed *trouble) {
	switch n.Kind {
	case yaml.AliasNode:
		if v, seen := c.shared[n.Alias]; seen {
			return v, nil
		}
		return c.value(n.Alias)
	case yaml.MappingNode:
		v, failed = c.mapping(n)
	case yaml.SequenceNode:
		v, failed = c.sequence(n)
	default:
		v, failed = c.scalar(n)
	}
	if n.Anchor != "" && failed == nil {
		if t, ok := v.(*tree); ok {
			t.shared = true
		}
		c.shared[n] = v
	}
	return v, failed
}

func (c *converter) scalar(n *yaml.Node) (any, *trouble) {
	if isText(n) {
		return c.words.value(n.Value), nil
	}
	return value(n)
}

func (c *converter) sequence(n *yaml.Node) (any, *trouble) {
	t := &tree{list: true, kids: make([]kid, len(n.Content))}
	for i, entry := range n.Content {
		v, failed := c.value(entry)
		if failed != nil {
			return nil, failed
		}
		t.kids[i] = kid{line: entry.Line, value: v}
		if c.spend {
			n.Content[i] = nil
		}
	}
	return t, nil
}

// mapping takes the entries in the order in which they are written, merges (<<) among them: like kubectl's reader, and
// unlike YAML's own rule, a merge replaces keys in front of it.
func (c *converter) mapping(n *yaml.Node) (any, *trouble) {
	m := mapping{kids: make([]kid, 0, len(n.Content)/2)}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if isMerge(k) {
			if failed := c.merge(&m, n.Content[i+1]); failed != nil {
				return nil, failed
			}
			continue
		}
		key, failed := c.key(k)
		if failed != nil {
			return nil, failed
		}
		if m.written(key) || m.letters[key] {
			return nil, c.collision(&m, n, i, key)
		}
		if read := letter(resolved(k)); read != "" {
			if m.find(read) >= 0 || m.letters[read] {
				return nil, c.collision(&m, n, i, read)
			}
			if m.letters == nil {
				m.letters = map[string]bool{}
			}
			m.letters[read] = true
		}
		v, failed := c.value(n.Content[i+1])
		if failed != nil {
			return nil, failed
		}
		m.put(kid{key, k.Line, v})
		if c.spend {
			n.Content[i+1] = nil
			if k.Kind == yaml.ScalarNode && k.Value == key && letter(k) == "" {
				n.Content[i] = nil // m.kids has all that is of interest
			}
		}
		delete(m.merged, key)
	}
	return &tree{kids: m.kids}, nil
}

// mapping is a map while it is being read.
type mapping struct {
	kids    []kid
	index   map[string]int  // where keys are in kids, once there are many
	merged  map[string]bool // keys that only merges have set so far
	letters map[string]bool // what kubectl reads for the keys y and n
}

// find is where a key is, or -1.
func (m *mapping) find(key string) int {
	if m.index == nil {
		return slices.IndexFunc(m.kids, func(e kid) bool { return e.key == key })
	}
	if i, ok := m.index[key]; ok {
		return i
	}
	return -1
}

// written reports whether a key stands in the map itself.
func (m *mapping) written(key string) bool { return m.find(key) >= 0 && !m.merged[key] }

func (m *mapping) put(e kid) {
	const many = 16
	if i := m.find(e.key); i >= 0 {
		m.kids[i] = e
		return
	}
	m.kids = append(m.kids, e)
	switch {
	case m.index != nil:
		m.index[e.key] = len(m.kids) - 1
	case len(m.kids) > many:
		m.index = map[string]int{} // it grows while the nodes that are read become garbage
		for i, e := range m.kids {
			m.index[e.key] = i
		}
	}
}

func (c *converter) key(n *yaml.Node) (string, *trouble) {
	key, changed, failed := keyText(n)
	if read := letter(resolved(n)); changed || read != "" {
		c.odd = append(c.odd, oddKey{line: n.Line, written: resolved(n).Value, key: key, kubectl: read})
	}
	return c.words.text(key), failed
}

func (c *converter) merge(into *mapping, n *yaml.Node) *trouble {
	if into.merged == nil {
		into.merged = map[string]bool{}
	}
	for _, from := range mergeOrder(n) {
		v, failed := c.value(from)
		if failed != nil {
			return failed
		}
		t := asMap(v)
		if t == nil {
			return invalid(n.Line, "not used: << merges something that is not a map")
		}
		for _, e := range t.kids {
			if into.find(e.key) < 0 {
				into.merged[e.key] = true
			}
			into.put(e)
		}
	}
	return nil
}

// isMerge reports whether a key is the one that merges another map.
func isMerge(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!merge" }

// mergeOrder lists the maps that a merge takes, so that later ones replace earlier ones: in a list, the first counts most.
func mergeOrder(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	order := slices.Clone(n.Content)
	slices.Reverse(order)
	return order
}

// resolved is the node that n stands for, if it is an alias.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// collision is the trouble of the ith node of a map, which is the same key as one in front of it.
func (c *converter) collision(m *mapping, n *yaml.Node, i int, key string) *trouble {
	second := n.Content[i]
	var first *yaml.Node
	for j := 0; j < i && first == nil; j += 2 {
		if before := n.Content[j]; before != nil && !isMerge(before) {
			if k, _, _ := keyText(before); k == key || letter(resolved(before)) == key {
				first = before
			}
		}
	}
	if first == nil { // spent
		e := m.kids[m.find(key)]
		first = &yaml.Node{Kind: yaml.ScalarNode, Value: e.key, Line: e.line}
	}
	a, b := resolved(first).Value, resolved(second).Value
	inFile := func(n *yaml.Node) int { return c.first + n.Line - 1 }
	if a == b {
		return invalid(second.Line, "not used: key %q is written twice, on lines %d and %d", a, inFile(first), inFile(second))
	}
	t := invalid(second.Line, "not used: keys %q on line %d and %q on line %d are both read as %q",
		a, inFile(first), b, inFile(second), key)
	t.hint = "quote them"
	return t
}

// words keeps the short texts that occur over and over (keys, kinds, groups, types) once.
type words struct{ known map[string]any }

const (
	maxWord  = 48      // bytes
	maxWords = 1 << 13 // no vocabulary is larger
)

func newWords() *words { return &words{known: map[string]any{}} }

func (w *words) value(s string) any {
	if len(s) > maxWord {
		return s
	}
	if v, ok := w.known[s]; ok {
		return v
	}
	var v any = s
	if len(w.known) < maxWords {
		w.known[s] = v
	}
	return v
}

func (w *words) text(s string) string { return w.value(s).(string) }

// bytes is value without making a string of a word that is known.
func (w *words) bytes(s []byte) any {
	if len(s) <= maxWord {
		if v, ok := w.known[string(s)]; ok {
			return v
		}
	}
	return w.value(string(s))
}
