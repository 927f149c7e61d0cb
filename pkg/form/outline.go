package form

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Document is a document whose last fields are read when they are asked for: most commands need few of the many.
type Document struct {
	outline *yaml.Node
	line    []byte // all of it as JSON; nil: the outline is all of it
	file    string
}

// Made is a document that is in no file.
func Made(n *yaml.Node) Document { return Document{outline: n} }

// Outline is the document up to the first of the fields that were put off.
func (d Document) Outline() *yaml.Node { return d.outline }

// Whole is the document with all its fields. The error is an *Error.
func (d Document) Whole() (*yaml.Node, error) {
	if d.line == nil {
		return d.outline, nil
	}
	n, err := newJSONReader(d.line).node()
	if err != nil {
		return nil, &Error{[]string{fmt.Sprintf("%s: %v", d.file, err)}}
	}
	return n, nil
}

// Outlines splits the file into its documents, and puts off, in JSON with one document a line, the fields from the first on of which later
// says so. The error is an *Error.
func (src Source) Outlines(later func(field string) bool) ([]Document, error) {
	var out []Document
	if !src.JSON {
		docs, err := src.Documents()
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
		n, all, err := d.outline(later)
		if err != nil {
			return nil, &Error{[]string{fmt.Sprintf("%s: %v", src.Name, err)}}
		}
		one := Document{outline: n}
		if !all {
			one.line, one.file = line, src.Name
		}
		out = append(out, one)
	}
	return out, nil
}

// outline reads an object up to the first field that is for later, and reports whether there is none.
func (d *jsonReader) outline(later func(field string) bool) (n *yaml.Node, all bool, err error) {
	if _, err = d.ReadToken(); err != nil {
		return nil, false, err
	}
	n = d.make(yaml.MappingNode, "!!map", "")
	for d.PeekKind() == '"' {
		key, err := d.node()
		if err != nil {
			return nil, false, err
		}
		if later(key.Value) {
			return n, false, nil
		}
		value, err := d.node()
		if err != nil {
			return nil, false, err
		}
		n.Content = append(n.Content, key, value)
	}
	_, err = d.ReadToken()
	return n, true, err
}
