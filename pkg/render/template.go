package render

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// The formats that need a Template. They are kubectl's, and what they print is the JSON form of a
// view.
const (
	JSONPath       Format = "jsonpath"
	JSONPathAsJSON Format = "jsonpath-as-json"
	GoTemplate     Format = "go-template"
	CustomColumns  Format = "custom-columns"      // NAME:PATH,…
	ColumnsFile    Format = "custom-columns-file" // a line of names, below it a line of paths
)

// Template is a form of output that the user wrote.
type Template struct {
	execute func(w *bufio.Writer, answer map[string]any, o Options) error
}

// TemplateOptions say how a template is read.
type TemplateOptions struct {
	RequireKeys bool // a JSONPath or a Go template that asks for what is not there is an error
}

// TemplateError says what is wrong with a template, or with the answer it was given.
type TemplateError struct {
	Format  Format
	Message string
}

// Error names the format.
func (e *TemplateError) Error() string { return string(e.Format) + ": " + e.Message }

// NewTemplate reads the template behind a format of this file. It returns a *TemplateError if the
// text is no such template.
func NewTemplate(f Format, text string, o TemplateOptions) (*Template, error) {
	var t *Template
	var err error
	switch f {
	case JSONPath, JSONPathAsJSON:
		t, err = newPathTemplate(text, f == JSONPathAsJSON, o)
	case GoTemplate:
		t, err = newGoTemplate(text, o)
	case CustomColumns:
		t, err = newColumnTemplate(parseColumns(text))
	case ColumnsFile:
		t, err = newColumnTemplate(parseColumnsFile(text))
	default:
		err = fmt.Errorf("it takes no template")
	}
	if err != nil {
		return nil, &TemplateError{f, strings.TrimSpace(err.Error())}
	}
	inner := t.execute
	t.execute = func(w *bufio.Writer, answer map[string]any, o Options) error {
		if err := inner(w, answer, o); err != nil {
			return &TemplateError{f, strings.TrimSpace(err.Error())}
		}
		return nil
	}
	return t, nil
}

func newPathTemplate(text string, asJSON bool, o TemplateOptions) (*Template, error) {
	p, err := printers.NewJSONPathPrinter(text)
	if err != nil {
		return nil, err
	}
	p.AllowMissingKeys(!o.RequireKeys)
	p.EnableJSONOutput(asJSON)
	return &Template{bufferOutput(func(w io.Writer, answer map[string]any) error { return p.Execute(w, answer) })}, nil
}

func newGoTemplate(text string, o TemplateOptions) (*Template, error) {
	p, err := printers.NewGoTemplatePrinter([]byte(text))
	if err != nil {
		return nil, err
	}
	p.AllowMissingKeys(!o.RequireKeys)
	return &Template{bufferOutput(func(w io.Writer, answer map[string]any) error {
		err := p.PrintObj(&unstructured.Unstructured{Object: answer}, w)
		if err == nil {
			return nil
		}
		return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("error executing template %q: ", text)))
	})}, nil
}

// bufferOutput prints all or, if there is an error, nothing.
func bufferOutput(print func(w io.Writer, answer map[string]any) error) func(*bufio.Writer, map[string]any,
	Options) error {
	return func(w *bufio.Writer, answer map[string]any, _ Options) error {
		var text bytes.Buffer
		if err := print(&text, answer); err != nil {
			return err
		}
		_, _ = w.Write(text.Bytes())
		return nil
	}
}

// toJSONValue is v as its JSON form reads back: objects, lists, texts, numbers (whole ones as
// int64), true and false.
func toJSONValue(v View) (map[string]any, error) {
	var text bytes.Buffer
	w := bufio.NewWriter(&text)
	if err := writeJSON(w, v); err != nil {
		return nil, err
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(text.Bytes(), &out); err != nil {
		return nil, fmt.Errorf("reading the JSON of the answer: %w", err)
	}
	return out, nil
}

// escapeTexts escapes the texts within v, keys included. Line breaks and tabs stay: templates are
// about text, not about lines.
func escapeTexts(v any) any {
	switch v := v.(type) {
	case string:
		return escapeLines(v)
	case []any:
		for i := range v {
			v[i] = escapeTexts(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[escapeLines(key)] = escapeTexts(value)
		}
		return out
	}
	return v
}

// escapeLines is Escape for text of several lines.
func escapeLines(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, "\n\t")
		if at < 0 {
			b.WriteString(escape.Escape(s))
			return b.String()
		}
		b.WriteString(escape.Escape(s[:at]))
		b.WriteByte(s[at])
		s = s[at+1:]
	}
}

// writeTemplate writes v as t says.
func writeTemplate(w *bufio.Writer, v View, t *Template, o Options) error {
	answer, err := toJSONValue(v)
	if err != nil {
		return err
	}
	if o.Terminal {
		answer, _ = escapeTexts(answer).(map[string]any)
	}
	return t.execute(w, answer, o)
}
