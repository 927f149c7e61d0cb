package document

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Manifest is one document of a text as plain values, with the lines of its parts.
type Manifest struct {
	firstLine int // line of the file on which its text begins
	node      *yaml.Node
	Value     any
}

// IsMap reports whether m is a map.
func (m Manifest) IsMap() bool { _, ok := m.Value.(map[string]any); return ok }

// LineOf returns the line on which the part of m at path stands, or as much of it as there is. Like
// the library it takes keys in either case. Without a document it is 0.
func (m Manifest) LineOf(path ...string) int {
	if m.node == nil {
		return 0
	}
	at, line := m.node, m.node.Line
	for _, key := range path {
		if at = childNode(dereferenceAlias(at), key); at == nil {
			break
		}
		line = at.Line
	}
	return m.firstLine + line - 1
}

// HasMergeKey reports whether a map in m merges another.
func (m Manifest) HasMergeKey() bool { return hasMergeKey(m.node) }

func hasMergeKey(n *yaml.Node) bool {
	return isMerge(n) || slices.ContainsFunc(n.Content, hasMergeKey)
}

// childNode returns the value at a key of a map, or the entry of a list with that number.
func childNode(n *yaml.Node, key string) *yaml.Node {
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(key); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if strings.EqualFold(dereferenceAlias(n.Content[i]).Value, key) {
			return n.Content[i+1]
		}
	}
	return nil
}

// ParseManifests reads the documents of a text that is taken as a whole: one that cannot be read,
// or is beyond a limit, is the problem of all. Its line is that of the text.
func ParseManifests(text []byte, limits Limits) ([]Manifest, *Problem) {
	var docs []Manifest
	for _, p := range Split(File{}, text) {
		nodes, behind, failed := parseDocument(p, limits)
		if failed == nil {
			failed = secondDocumentProblem(behind)
		}
		scale := newSizeChecker(limits)
		c := &converter{firstLine: p.Line, texts: newTextCache(), shared: map[*yaml.Node]any{}}
		for _, n := range nodes {
			var v any
			if failed == nil {
				_, failed = scale.measureNode(n, 0)
			}
			if failed == nil {
				v, failed = c.convertValue(n)
			}
			docs = append(docs, Manifest{firstLine: p.Line, node: n, Value: toGoValue(v, map[*tree]any{})})
		}
		if failed != nil {
			failed.Line += p.Line - 1
			failed.Message = strings.TrimPrefix(failed.Message, "not used: ")
			return nil, failed
		}
	}
	return docs, nil
}

// ListedObject is an object of a text, and the line of the text on which its document begins.
type ListedObject struct {
	Value any
	Line  int
}

// ListObjects lists the objects of a text, those in lists too. Like ParseManifests, it takes the text
// as a whole.
func ListObjects(text []byte, limits Limits) ([]ListedObject, *Problem) {
	docs, failed := ParseManifests(text, limits)
	if failed != nil {
		return nil, failed
	}
	var out []ListedObject
	for _, doc := range docs {
		for _, v := range FlattenList(doc.Value) {
			out = append(out, ListedObject{v, doc.LineOf()})
		}
	}
	return out, nil
}

// FlattenList lists the objects in v: v itself, or those among its items, whatever its kind.
func FlattenList(v any) []any {
	m, ok := v.(map[string]any)
	if list, isItems := m["items"].([]any); ok && isItems {
		var out []any
		for _, item := range list {
			out = append(out, FlattenList(item)...)
		}
		return out
	}
	return []any{v}
}
