package load

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// converter turns YAML nodes that have been weighed into JSON values. What aliases repeat is converted once and shared:
// maps and lists that it returns are not to be changed.
type converter struct {
	first  int // the file's line on which the text begins
	words  *words
	shared map[*yaml.Node]any // what the nodes with an anchor hold
	odd    []oddKey
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
	list := make([]any, len(n.Content))
	for i, kid := range n.Content {
		v, failed := c.value(kid)
		if failed != nil {
			return nil, failed
		}
		list[i] = v
	}
	return list, nil
}

// mapping takes the entries in the order in which they are written, merges (<<) among them: like kubectl's reader, and
// unlike YAML's own rule, a merge replaces keys in front of it.
func (c *converter) mapping(n *yaml.Node) (any, *trouble) {
	m := make(map[string]any, len(n.Content)/2)
	var merged map[string]bool  // keys that only merges have set so far
	var letters map[string]bool // what kubectl reads for the keys y and n
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			if merged == nil {
				merged = map[string]bool{}
			}
			if failed := c.merge(m, merged, n.Content[i+1]); failed != nil {
				return nil, failed
			}
			continue
		}
		key, failed := c.key(n.Content[i])
		if failed != nil {
			return nil, failed
		}
		if _, taken := m[key]; taken && !merged[key] || letters[key] {
			return nil, c.collision(n, i, key)
		}
		if read := letter(resolved(n.Content[i])); read != "" {
			if _, taken := m[read]; taken || letters[read] {
				return nil, c.collision(n, i, read)
			}
			if letters == nil {
				letters = map[string]bool{}
			}
			letters[read] = true
		}
		v, failed := c.value(n.Content[i+1])
		if failed != nil {
			return nil, failed
		}
		m[key] = v
		delete(merged, key)
	}
	return m, nil
}

func (c *converter) key(n *yaml.Node) (string, *trouble) {
	key, changed, failed := keyText(n)
	if read := letter(resolved(n)); changed || read != "" {
		c.odd = append(c.odd, oddKey{line: n.Line, written: resolved(n).Value, key: key, kubectl: read})
	}
	return c.words.text(key), failed
}

func (c *converter) merge(into map[string]any, merged map[string]bool, n *yaml.Node) *trouble {
	for _, from := range mergeOrder(n) {
		v, failed := c.value(from)
		if failed != nil {
			return failed
		}
		m, ok := v.(map[string]any)
		if !ok {
			return invalid(n.Line, "not used: << merges something that is not a map")
		}
		for key, v := range m {
			if _, taken := into[key]; !taken {
				merged[key] = true
			}
			into[key] = v
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
func (c *converter) collision(n *yaml.Node, i int, key string) *trouble {
	second := n.Content[i]
	j := 0
	for ; j < i; j += 2 {
		k, _, _ := keyText(n.Content[j])
		if (k == key || letter(resolved(n.Content[j])) == key) && !isMerge(n.Content[j]) {
			break
		}
	}
	first := n.Content[j]
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
