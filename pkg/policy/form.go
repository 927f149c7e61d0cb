package policy

import (
	"errors"

	"go.yaml.in/yaml/v3"
)

// Form reads a file in the manner of descriptors: every field has to be known, every mistake is kept with its line.
type Form struct{ r reader }

// NewForm begins to read a file; the name is for messages.
func NewForm(file string) *Form { return &Form{reader{file: file}} }

// Documents splits the text of a file into its documents. The error is one of form: file:line: what.
func Documents(src Source) ([]*yaml.Node, error) {
	docs, err := documents(src)
	var wrong *DescriptorError
	if errors.As(err, &wrong) {
		return nil, errors.New(wrong.Error())
	}
	return docs, err
}

// Object reads a mapping, each field with the function under its name.
func (f *Form) Object(n *yaml.Node, fields map[string]func(*yaml.Node)) {
	known := make(map[string]field, len(fields))
	for name, read := range fields {
		known[name] = read
	}
	f.r.object(n, known)
}

// List reads a sequence, which may not be empty.
func (f *Form) List(n *yaml.Node, each func(*yaml.Node)) { f.r.list(n, each) }

// Text reads a string.
func (f *Form) Text(into *string) func(*yaml.Node) { return f.r.text(into) }

// Texts reads a list of strings.
func (f *Form) Texts(into *[]string) func(*yaml.Node) { return f.r.texts(into) }

// Word reads one of a set of words.
func (f *Form) Word(into *string, words ...string) func(*yaml.Node) { return f.r.word(into, words) }

// Fail keeps a mistake at a node.
func (f *Form) Fail(n *yaml.Node, format string, args ...any) { f.r.fail(n, format, args...) }

// Err is all mistakes, a line each, or nil.
func (f *Form) Err() error {
	if err := f.r.err(); err != nil {
		return errors.New(err.Error())
	}
	return nil
}
