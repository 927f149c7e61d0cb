package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// writeJSON writes v with an indent of two. Large answers are written item by item, so that memory
// does not hold them a second time.
func writeJSON(w *bufio.Writer, v any) error {
	if err := writeJSONBehind(w, v, ""); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// writeJSONBehind is writeJSON with every line but the first behind a prefix, and no line break at
// the end.
func writeJSONBehind(w *bufio.Writer, v any, prefix string) error {
	head, items, ok := splitItems(v)
	if !ok {
		text, err := newJSONText(prefix).encode(v)
		if err != nil {
			return err
		}
		_, err = w.Write(bytes.TrimSuffix(text, []byte("\n")))
		return err
	}
	text, err := newJSONText(prefix).encode(head)
	if err != nil {
		return err
	}
	// nothing else begins a line with this indent
	open, closing, found := bytes.Cut(text, []byte("\n"+prefix+`  "items": []`))
	if !found {
		return fmt.Errorf("writing JSON: %T has no empty items", v)
	}
	closing = bytes.Clone(bytes.TrimSuffix(closing, []byte("\n")))
	_, _ = w.Write(open)
	_, _ = w.WriteString("\n" + prefix + `  "items": `)
	separator, end := "[\n", "[]"
	item := newJSONText(prefix + "    ")
	for v := range items {
		text, err := item.encode(v)
		if err != nil {
			return err
		}
		_, _ = w.WriteString(separator + prefix + "    ")
		_, _ = w.Write(bytes.TrimSuffix(text, []byte("\n")))
		separator, end = ",\n", "\n"+prefix+"  ]"
	}
	_, _ = w.WriteString(end)
	_, err = w.Write(closing)
	return err
}

// jsonText encodes values one after the other into the same memory.
type jsonText struct {
	lead []jsonMember // what objects begin with
	skip []string     // the names, in quotes, of the members of objects that are left out

	buffer  bytes.Buffer
	encoder *json.Encoder
	layout  []jsontext.Options // nil: on one line
	changed []byte
	lines   []byte
}

// jsonMember is a member of an object: its name in quotes, and its value as JSON.
type jsonMember struct{ name, value string }

// newJSONText indents by two behind a prefix, and leaves < and & as they are.
func newJSONText(prefix string) *jsonText {
	t := newPlainJSONText()
	t.layout = []jsontext.Options{jsontext.WithIndentPrefix(prefix), jsontext.WithIndent("  "),
		jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true)}
	return t
}

// newPlainJSONText writes values on one line.
func newPlainJSONText() *jsonText {
	t := &jsonText{}
	t.encoder = json.NewEncoder(&t.buffer)
	t.encoder.SetEscapeHTML(false)
	return t
}

// encode returns v as JSON with a line break at the end. It is valid until the next call.
func (t *jsonText) encode(v any) ([]byte, error) {
	t.buffer.Reset()
	if err := t.encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	text, err := t.withMembers(t.buffer.Bytes())
	if err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	if t.layout != nil { // the encoder's own indent takes twice as long
		lines, err := jsontext.AppendFormat(t.lines[:0], text, t.layout...)
		if err != nil {
			return nil, fmt.Errorf("writing JSON: %w", err)
		}
		t.lines = append(lines, '\n')
		text = t.lines
	}
	return escape.EscapeUnsafe(text, escape.EscapeJSONRune), nil
}

// withMembers is the text of an object with the leading members, and without those that are left
// out.
func (t *jsonText) withMembers(text []byte) ([]byte, error) {
	if text[0] != '{' {
		return text, nil
	}
	if len(t.skip) > 0 {
		var err error
		if text, err = withoutMembers(text, t.skip); err != nil {
			return nil, err
		}
	}
	if len(t.lead) == 0 {
		return text, nil
	}
	out := append(t.changed[:0], '{')
	for _, m := range t.lead {
		out = append(append(append(append(out, m.name...), ':'), m.value...), ',')
	}
	if text[1] == '}' {
		out = out[:len(out)-1]
	}
	t.changed = append(out, text[1:]...)
	return t.changed, nil
}

// withoutMembers is the text of an object without the members that have one of the names, which are
// in quotes.
func withoutMembers(text []byte, names []string) ([]byte, error) {
	out := []byte("{")
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		key := string(name)
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, key) {
			out = append(append(append(append(out, key...), ':'), value...), ',')
		}
	}
	return append(bytes.TrimSuffix(out, []byte(",")), "}\n"...), nil
}
