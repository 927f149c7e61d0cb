package kustomize

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// declaration is an object as a resource file declares it.
type declaration struct {
	kind model.GroupKind
	name string
	line int
}

// addDeclarations keeps what the resource file at s declares.
func (w *Walk) addDeclarations(s FileLocation, docs []document.Manifest) {
	if _, known := w.declarations[s.Name]; known {
		return
	}
	list := []declaration{}
	for _, doc := range docs {
		for _, v := range document.FlattenList(doc.Value) {
			list = append(list, declaration{kind: model.NewGroupKind(model.Text(v, "apiVersion"), model.Text(v, "kind")),
				name: model.Text(v, "metadata", "name"), line: doc.LineOf()})
		}
	}
	w.declarations[s.Name] = list
}

// findDeclaredLine returns the line on which a file declares an object that the build has made
// something of, which may have another name by now. It is 0 where several could be meant.
func (w *Walk) findDeclaredLine(file string, kind model.GroupKind, name string) int {
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
