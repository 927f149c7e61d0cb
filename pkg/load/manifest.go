package load

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// manifest is one document of a file that a kustomization names.
type manifest struct {
	firstLine int // line of the file on which its text begins
	node      *yaml.Node
	value     any
}

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

// readManifests reads the documents of the YAML or JSON file at s. Those that cannot be read or are
// beyond a limit are an error here, as the build would fail, or not end.
func (w *kustomizationWalk) readManifests(ctx context.Context, s fileLocation) ([]manifest, error) {
	if docs, ok := w.manifestsByPath[s.fullPath()]; ok {
		return docs, nil
	}
	raw, err := w.readFile(ctx, s)
	if err != nil {
		return nil, err
	}
	text := toUTF8(raw)
	docs, failed := w.parseManifests(text)
	if failed != nil {
		at := model.Origin{File: s.name, Line: failed.line}
		return nil, &document.Error{What: at.String(), Err: errors.New(failed.message), Hint: failed.hint}
	}
	w.fileSystem.files[s.fullPath()], w.manifestsByPath[s.fullPath()] = text, docs
	return docs, nil
}

// parseManifests reads the documents of a text. The line of the problem is that of the text.
func (w *kustomizationWalk) parseManifests(text []byte) ([]manifest, *documentProblem) {
	var docs []manifest
	for _, p := range splitText(inputFile{}, text) {
		nodes, behind, failed := parseDocument(p, w.limits)
		if failed == nil {
			failed = secondDocumentProblem(behind)
		}
		scale := newSizeChecker(w.limits)
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
			failed.message = strings.TrimPrefix(failed.message, "not used: ") // the build is refused as a whole
			return nil, failed
		}
	}
	return docs, nil
}

// declaration is an object as a resource file declares it.
type declaration struct {
	kind model.GroupKind
	name string
	line int
}

// addDeclarations keeps what the resource file at s declares.
func (w *kustomizationWalk) addDeclarations(s fileLocation, docs []manifest) {
	if _, known := w.declarations[s.name]; known {
		return
	}
	list := []declaration{}
	for _, doc := range docs {
		for _, v := range flattenList(doc.value) {
			group, _, found := strings.Cut(model.Text(v, "apiVersion"), "/")
			if !found {
				group = ""
			}
			list = append(list, declaration{
				kind: model.GroupKind{Group: group, Kind: model.Text(v, "kind")}, name: model.Text(v, "metadata", "name"), line: doc.lineOf(),
			})
		}
	}
	w.declarations[s.name] = list
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

// findDeclaredLine returns the line on which a file declares an object that the build has made
// something of, which may have another name by now. It is 0 where several could be meant.
func (w *kustomizationWalk) findDeclaredLine(file string, kind model.GroupKind, name string) int {
	var exact, alike []int
	for _, d := range w.declarations[file] {
		switch {
		case d.kind != kind:
		case d.name == name:
			exact = append(exact, d.line)
		case strings.Contains(name, d.name):
			alike = append(alike, d.line)
		}
	}
	for _, lines := range [][]int{exact, alike} {
		if len(lines) == 1 {
			return lines[0]
		}
	}
	return 0
}
