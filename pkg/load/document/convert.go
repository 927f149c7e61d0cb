package document

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// converter turns YAML nodes that have been measured into JSON values, lists and maps as trees.
// What aliases repeat is converted once and shared.
type converter struct {
	firstLine   int // the file's line on which the text begins
	texts       *textCache
	shared      map[*yaml.Node]any // what the nodes with an anchor hold
	changedKeys []changedKey
	release     bool // nodes that are converted are not needed any more: a large document should not be there twice
}

// changedKey is a key that does not mean what is written.
type changedKey struct {
	line         int
	written, key string
	kubectl      string // what kubectl reads where that is not key
}

func (c *converter) convertValue(n *yaml.Node) (v any, failed *Problem) {
	switch n.Kind {
	case yaml.AliasNode:
		if v, seen := c.shared[n.Alias]; seen {
			return v, nil
		}
		return c.convertValue(n.Alias)
	case yaml.MappingNode:
		v, failed = c.convertMapping(n)
	case yaml.SequenceNode:
		v, failed = c.convertSequence(n)
	default:
		v, failed = c.convertScalar(n)
	}
	if n.Anchor != "" && failed == nil {
		if t, ok := v.(*tree); ok {
			t.shared = true
		}
		c.shared[n] = v
	}
	return v, failed
}

func (c *converter) convertScalar(n *yaml.Node) (any, *Problem) {
	if isText(n) {
		return c.texts.internValue(n.Value), nil
	}
	return scalarValue(n)
}

func (c *converter) convertSequence(n *yaml.Node) (any, *Problem) {
	t := &tree{isList: true, entries: make([]treeEntry, len(n.Content))}
	for i, entry := range n.Content {
		v, failed := c.convertValue(entry)
		if failed != nil {
			return nil, failed
		}
		t.entries[i] = treeEntry{line: entry.Line, value: v}
		if c.release {
			n.Content[i] = nil
		}
	}
	return t, nil
}

// convertMapping takes the entries in the order in which they are written, merges (<<) among them:
// like kubectl's reader, and unlike YAML's own rule, a merge replaces keys in front of it.
func (c *converter) convertMapping(n *yaml.Node) (any, *Problem) {
	m := mapBuilder{entries: make([]treeEntry, 0, len(n.Content)/2)}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if isMerge(k) {
			if failed := c.mergeMaps(&m, n.Content[i+1]); failed != nil {
				return nil, failed
			}
			continue
		}
		key, failed := c.convertKey(k)
		if failed != nil {
			return nil, failed
		}
		if m.isWritten(key) || m.letterKeys[key] {
			return nil, c.duplicateKeyProblem(&m, n, i, key)
		}
		if read := letterBoolean(dereferenceAlias(k)); read != "" {
			if m.findKey(read) >= 0 || m.letterKeys[read] {
				return nil, c.duplicateKeyProblem(&m, n, i, read)
			}
			if m.letterKeys == nil {
				m.letterKeys = map[string]bool{}
			}
			m.letterKeys[read] = true
		}
		v, failed := c.convertValue(n.Content[i+1])
		if failed != nil {
			return nil, failed
		}
		m.putEntry(treeEntry{key, k.Line, v})
		if c.release {
			n.Content[i+1] = nil
			if k.Kind == yaml.ScalarNode && k.Value == key && letterBoolean(k) == "" {
				n.Content[i] = nil // m.kids has all that is of interest
			}
		}
		delete(m.merged, key)
	}
	return &tree{entries: m.entries}, nil
}

// mapBuilder is a map while it is being read.
type mapBuilder struct {
	entries    []treeEntry
	indexByKey map[string]int  // where keys are in kids, once there are many
	merged     map[string]bool // keys that only merges have set so far
	letterKeys map[string]bool // what kubectl reads for the keys y and n
}

// findKey returns where a key is, or -1.
func (m *mapBuilder) findKey(key string) int {
	if m.indexByKey == nil {
		return slices.IndexFunc(m.entries, func(e treeEntry) bool { return e.key == key })
	}
	if i, ok := m.indexByKey[key]; ok {
		return i
	}
	return -1
}

// isWritten reports whether a key stands in the map itself.
func (m *mapBuilder) isWritten(key string) bool { return m.findKey(key) >= 0 && !m.merged[key] }

func (m *mapBuilder) putEntry(e treeEntry) {
	const many = 16
	if i := m.findKey(e.key); i >= 0 {
		m.entries[i] = e
		return
	}
	m.entries = append(m.entries, e)
	switch {
	case m.indexByKey != nil:
		m.indexByKey[e.key] = len(m.entries) - 1
	case len(m.entries) > many:
		m.indexByKey = map[string]int{} // it grows while the nodes that are read become garbage
		for i, e := range m.entries {
			m.indexByKey[e.key] = i
		}
	}
}

func (c *converter) convertKey(n *yaml.Node) (string, *Problem) {
	key, changed, failed := readKeyText(n)
	if read := letterBoolean(dereferenceAlias(n)); changed || read != "" {
		c.changedKeys = append(c.changedKeys, changedKey{line: n.Line, written: dereferenceAlias(n).Value, key: key,
			kubectl: read})
	}
	return c.texts.internText(key), failed
}

func (c *converter) mergeMaps(into *mapBuilder, n *yaml.Node) *Problem {
	if into.merged == nil {
		into.merged = map[string]bool{}
	}
	for _, from := range orderMerged(n) {
		v, failed := c.convertValue(from)
		if failed != nil {
			return failed
		}
		t := asMap(v)
		if t == nil {
			return invalidYAML(n.Line, "not used: << merges something that is not a map")
		}
		for _, e := range t.entries {
			if into.findKey(e.key) < 0 {
				into.merged[e.key] = true
			}
			into.putEntry(e)
		}
	}
	return nil
}

// isMerge reports whether a key is the one that merges another map.
func isMerge(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!merge" }

// orderMerged lists the maps that a merge takes, so that later ones replace earlier ones: in a
// list, the first counts most.
func orderMerged(n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	order := slices.Clone(n.Content)
	slices.Reverse(order)
	return order
}

// dereferenceAlias returns the node that n stands for, if it is an alias.
func dereferenceAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// duplicateKeyProblem returns the problem of the ith node of a map, which is the same key as one in
// front of it.
func (c *converter) duplicateKeyProblem(m *mapBuilder, n *yaml.Node, i int, key string) *Problem {
	second := n.Content[i]
	var first *yaml.Node
	for j := 0; j < i && first == nil; j += 2 {
		if before := n.Content[j]; before != nil && !isMerge(before) {
			if k, _, _ := readKeyText(before); k == key || letterBoolean(dereferenceAlias(before)) == key {
				first = before
			}
		}
	}
	if first == nil { // released by then
		e := m.entries[m.findKey(key)]
		first = &yaml.Node{Kind: yaml.ScalarNode, Value: e.key, Line: e.line}
	}
	a, b := dereferenceAlias(first).Value, dereferenceAlias(second).Value
	inFile := func(n *yaml.Node) int { return c.firstLine + n.Line - 1 }
	if a == b {
		return invalidYAML(second.Line, "not used: key %q is written twice, on lines %d and %d", a, inFile(first),
			inFile(second))
	}
	t := invalidYAML(second.Line, "not used: keys %q on line %d and %q on line %d are both read as %q",
		a, inFile(first), b, inFile(second), key)
	t.Hint = "quote them"
	return t
}

// textCache keeps the short texts that occur over and over (keys, kinds, groups, types) once.
type textCache struct{ values map[string]any }

const (
	maxCachedBytes = 48      // bytes
	maxCachedTexts = 1 << 13 // no vocabulary is larger
)

func newTextCache() *textCache { return &textCache{values: map[string]any{}} }

func (w *textCache) internValue(s string) any {
	if len(s) > maxCachedBytes {
		return s
	}
	if v, ok := w.values[s]; ok {
		return v
	}
	var v any = s
	if len(w.values) < maxCachedTexts {
		w.values[s] = v
	}
	return v
}

func (w *textCache) internText(s string) string { return w.internValue(s).(string) }

// internBytes is internValue without making a string of a text that is known.
func (w *textCache) internBytes(s []byte) any {
	if len(s) <= maxCachedBytes {
		if v, ok := w.values[string(s)]; ok {
			return v
		}
	}
	return w.internValue(string(s))
}
