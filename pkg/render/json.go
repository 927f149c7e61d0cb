package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// writeJSON writes v with an indent of two. Large answers are written item by item, so that memory does not hold them a second time.
func writeJSON(w *bufio.Writer, v any) error {
	if err := writeJSONBehind(w, v, ""); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// writeJSONBehind is writeJSON with every line but the first behind a prefix, and no line break at the end.
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
	open, closing, found := bytes.Cut(text, []byte("\n"+prefix+`  "items": []`)) // nothing else begins a line with this indent
	if !found {
		return fmt.Errorf("writing JSON: %T has no empty items", v)
	}
	closing = bytes.Clone(bytes.TrimSuffix(closing, []byte("\n")))
	_, _ = w.Write(open)
	_, _ = w.WriteString("\n" + prefix + `  "items": `)
	separator, end := "[\n", "[]"
	indent := prefix + "    "
	err = eachItemText(items, func() *jsonItems { return newJSONItems(indent, false) }, func(text []byte) {
		_, _ = w.WriteString(separator)
		_, _ = w.WriteString(indent)
		_, _ = w.Write(text)
		separator, end = ",\n", "\n"+prefix+"  ]"
	})
	if err != nil {
		return err
	}
	_, _ = w.WriteString(end)
	_, err = w.Write(closing)
	return err
}

// jsonText encodes values one after the other into the same memory.
type jsonText struct {
	buffer  bytes.Buffer
	encoder *json.Encoder
	layout  []jsontext.Options // nil: on one line
	body    []byte
	lines   []byte
}

// newJSONText indents by two behind a prefix, and leaves < and & as they are.
func newJSONText(prefix string) *jsonText {
	t := newPlainJSONText()
	t.layout = []jsontext.Options{jsontext.WithIndentPrefix(prefix), jsontext.WithIndent("  "), jsontext.PreserveRawStrings(true), jsontext.AllowDuplicateNames(true)}
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
	text, err := t.encodeLine(v)
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
	return escapeUnsafe(text, escapeJSONRune), nil
}

// encodeLine returns v on one line.
func (t *jsonText) encodeLine(v any) ([]byte, error) {
	if body, ok := v.(model.Body); ok { // the encoder would read again what it writes
		t.body = append(model.AppendJSON(t.body[:0], body), '\n')
		return t.body, nil
	}
	t.buffer.Reset()
	err := t.encoder.Encode(v)
	return t.buffer.Bytes(), err
}
