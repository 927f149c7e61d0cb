package render

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// columnSpec is a column of `-o custom-columns`: what is written above it, and the JSONPath of what
// stands in it.
type columnSpec struct{ name, path string }

// parseColumns reads NAME:PATH,…
func parseColumns(text string) ([]columnSpec, error) {
	var out []columnSpec
	for part := range strings.SplitSeq(text, ",") {
		name, path, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("unexpected column %q, expected <header>:<json-path-expr>", part)
		}
		out = append(out, columnSpec{name, path})
	}
	return out, nil
}

// parseColumnsFile reads a line of names and, below it, a line of paths.
func parseColumnsFile(text string) ([]columnSpec, error) {
	names, rest, _ := strings.Cut(text, "\n")
	paths, _, _ := strings.Cut(rest, "\n")
	heads, cells := strings.Fields(names), strings.Fields(paths)
	switch {
	case len(heads) == 0 || len(cells) == 0:
		return nil,
			errors.New(
				"expected one line of headers separated by spaces, below it one line of paths separated by spaces")
	case len(heads) != len(cells):
		return nil, fmt.Errorf("number of headers (%d) and paths (%d) don't match", len(heads), len(cells))
	}
	out := make([]columnSpec, len(heads))
	for i := range heads {
		out[i] = columnSpec{heads[i], cells[i]}
	}
	return out, nil
}

// relaxPath makes {.x.y} of x.y, .x.y, {x.y} and {.x.y}, as kubectl does.
func relaxPath(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	found := regexp.MustCompile(`^\{\.?([^{}]+)\}$|^\.?([^{}]+)$`).FindStringSubmatch(text)
	if found == nil {
		return "",
			fmt.Errorf(
				"unexpected path %q, expected 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
				text)
	}
	return "{." + found[1] + found[2] + "}", nil
}

// newColumnTemplate prints a row for each entry of the answer's items, or one for an answer that
// has none.
func newColumnTemplate(specs []columnSpec, err error) (*Template, error) {
	if err != nil {
		return nil, err
	}
	header := make([]view.Cell, len(specs))
	paths := make([]*jsonpath.JSONPath, len(specs))
	for i, s := range specs {
		path, err := relaxPath(s.path)
		if err != nil {
			return nil, err
		}
		header[i] = view.Cell{Text: s.name}
		paths[i] = jsonpath.New(s.name).AllowMissingKeys(true)
		if err := paths[i].Parse(path); err != nil {
			return nil, fmt.Errorf("column %s: %w", s.name, err)
		}
	}
	return &Template{func(w *bufio.Writer, answer map[string]any, o Options) error {
		var rows [][]view.Cell
		if !o.NoHeaders {
			rows = append(rows, header)
		}
		entries := []any{answer}
		if items, list := answer["items"]; list {
			entries, _ = items.([]any)
		}
		for _, entry := range entries {
			row, err := evaluateColumns(paths, entry)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
		p := printer{w: w}
		p.writeRows(rows, "")
		return nil
	}}, nil
}

// evaluateColumns returns what the paths find in one entry: several values are joined with commas,
// none is <none>.
func evaluateColumns(paths []*jsonpath.JSONPath, entry any) ([]view.Cell, error) {
	row := make([]view.Cell, len(paths))
	for i, path := range paths {
		found, err := path.FindResults(entry)
		if err != nil {
			return nil, err
		}
		var texts []string
		for _, values := range found {
			for _, v := range values {
				texts = append(texts, fmt.Sprint(v.Interface()))
			}
		}
		if len(texts) == 0 {
			texts = []string{"<none>"}
		}
		row[i].Text = strings.Join(texts, ",")
	}
	return row, nil
}
