package form

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Document is a document whose last fields are read when they are asked for: most commands need few of the many.
type Document struct {
	outline *yaml.Node
	source  []byte // all of it as JSON; nil: the outline is all of it
	file    string
}

// NewDocument returns a document that is in no file.
func NewDocument(n *yaml.Node) Document { return Document{outline: n} }

// Outline is the document up to the first of the fields that were put off.
func (d Document) Outline() *yaml.Node { return d.outline }

// ReadAll returns the document with all its fields. The error is an *Error.
func (d Document) ReadAll() (*yaml.Node, error) {
	if d.source == nil {
		return d.outline, nil
	}
	n, err := newJSONReader(d.source).readNode()
	if err != nil {
		return nil, &Error{[]string{fmt.Sprintf("%s: %v", d.file, err)}}
	}
	return n, nil
}

// ReadOutlines splits the file into its documents, and puts off, in JSON with one document a line,
// the fields from the first on of which later says so. The error is an *Error.
func (src Source) ReadOutlines(later func(field string) bool) ([]Document, error) {
	var out []Document
	if !src.JSON {
		docs, err := src.ReadDocuments()
		for _, n := range docs {
			out = append(out, Document{outline: n})
		}
		return out, err
	}
	d := newJSONReader(nil)
	for line := range bytes.Lines(src.Text) {
		line = bytes.TrimSuffix(bytes.TrimSpace(line), []byte(","))
		if len(line) == 0 || line[0] != '{' { // the brackets of the list
			continue
		}
		d.Reset(bytes.NewBuffer(line))
		n, all, err := d.readOutline(later)
		if err != nil {
			return nil, &Error{[]string{fmt.Sprintf("%s: %v", src.Name, err)}}
		}
		one := Document{outline: n}
		if !all {
			one.source, one.file = line, src.Name
		}
		out = append(out, one)
	}
	return out, nil
}

// readOutline reads an object up to the first field that is for later, and reports whether there is none.
func (d *jsonReader) readOutline(later func(field string) bool) (n *yaml.Node, all bool, err error) {
	if _, err = d.ReadToken(); err != nil {
		return nil, false, err
	}
	n = d.newNode(yaml.MappingNode, "!!map", "")
	for d.PeekKind() == '"' {
		key, err := d.readNode()
		if err != nil {
			return nil, false, err
		}
		if later(key.Value) {
			return n, false, nil
		}
		value, err := d.readNode()
		if err != nil {
			return nil, false, err
		}
		n.Content = append(n.Content, key, value)
	}
	_, err = d.ReadToken()
	return n, true, err
}
