package load

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// manifest is one document of a text as plain values, with the lines of its parts.
type manifest struct {
	firstLine int // line of the file on which its text begins
	node      *yaml.Node
	value     any
}

// isMap reports whether m is a map.
func (m manifest) isMap() bool { _, ok := m.value.(map[string]any); return ok }

// lineOf returns the line on which the part of m at path stands, or as much of it as there is. Like
// the library it takes keys in either case. Without a document it is 0.
func (m manifest) lineOf(path ...string) int {
	if m.node == nil {
		return 0
	}
	at, line := m.node, m.node.Line
	for _, key := range path {
		if at = childNode(dereference(at), key); at == nil {
			break
		}
		line = at.Line
	}
	return m.firstLine + line - 1
}

// hasMergeKey reports whether a map in m merges another.
func (m manifest) hasMergeKey() bool { return hasMergeKey(m.node) }

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
		if strings.EqualFold(dereference(n.Content[i]).Value, key) {
			return n.Content[i+1]
		}
	}
	return nil
}

// parseManifests reads the documents of a text that is taken as a whole: one that cannot be read, or
// is beyond a limit, is the problem of all. Its line is that of the text.
func parseManifests(text []byte, limits document.Limits) ([]manifest, *documentProblem) {
	var docs []manifest
	for _, p := range splitText(sourceFile{}, text) {
		nodes, behind, failed := parseDocument(p, limits)
		if failed == nil {
			failed = secondDocumentProblem(behind)
		}
		scale := newSizeChecker(limits)
		c := &converter{firstLine: p.line, texts: newTextCache(), shared: map[*yaml.Node]any{}}
		for _, n := range nodes {
			var v any
			if failed == nil {
				_, failed = scale.measureNode(n, 0)
			}
			if failed == nil {
				v, failed = c.convertValue(n)
			}
			docs = append(docs, manifest{firstLine: p.line, node: n, value: toGoValue(v, map[*tree]any{})})
		}
		if failed != nil {
			failed.line += p.line - 1
			failed.message = strings.TrimPrefix(failed.message, "not used: ")
			return nil, failed
		}
	}
	return docs, nil
}

// flattenList lists the objects in v: v itself, or those among its items, whatever its kind.
func flattenList(v any) []any {
	m, ok := v.(map[string]any)
	if list, isItems := m["items"].([]any); ok && isItems {
		var out []any
		for _, item := range list {
			out = append(out, flattenList(item)...)
		}
		return out
	}
	return []any{v}
}
