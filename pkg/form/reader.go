package form

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Reader walks the YAML nodes of one file and collects mistakes with their lines.
type Reader struct {
	File     string // for messages
	mistakes []mistake
}

type mistake struct {
	line int
	text string
}

// Fail keeps a mistake at a node.
func (r *Reader) Fail(n *yaml.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, mistake{n.Line, fmt.Sprintf(format, args...)})
}

// Failed reports whether there are mistakes already.
func (r *Reader) Failed() bool { return len(r.mistakes) > 0 }

// Err is all mistakes, as an *Error, or nil.
func (r *Reader) Err() error {
	if len(r.mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(r.mistakes, func(a, b mistake) int { return cmp.Compare(a.line, b.line) })
	e := &Error{}
	for _, m := range r.mistakes {
		e.Lines = append(e.Lines, fmt.Sprintf("%s:%d: %s", r.File, m.line, m.text))
	}
	return e
}

// Field is what to do with the value of one field of a mapping.
type Field = func(*yaml.Node)

// Object reads a mapping whose fields must all be known, from one of the parts.
func (r *Reader) Object(n *yaml.Node, parts ...map[string]Field) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "an object is expected here")
		return
	}
	twice := findRepeatedKeys(n)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, known := findField(key.Value, parts)
		switch {
		case twice[key]:
			r.Fail(key, "field %q is written twice", key.Value)
		case !known:
			r.Fail(key, "unknown field %q%s", key.Value, formatSuggestion(key.Value, listFieldNames(parts)))
		case value.Tag != "!!null":
			read(value)
		}
	}
}

// findField finds a field in one of the parts.
func findField(name string, parts []map[string]Field) (Field, bool) {
	for _, part := range parts {
		if f, ok := part[name]; ok {
			return f, true
		}
	}
	return nil, false
}

// findRepeatedKeys returns the keys of a mapping that stand in it before, nil if none does.
func findRepeatedKeys(n *yaml.Node) map[*yaml.Node]bool {
	var out map[*yaml.Node]bool
	var seen map[string]bool
	const few = 16 // keys, up to which a list is faster than a map
	if len(n.Content) > 2*few {
		seen = make(map[string]bool, len(n.Content)/2)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		again := seen[n.Content[i].Value]
		if seen != nil {
			seen[n.Content[i].Value] = true
		}
		for j := 0; seen == nil && j < i; j += 2 {
			again = again || n.Content[j].Value == n.Content[i].Value
		}
		if again {
			if out == nil {
				out = map[*yaml.Node]bool{}
			}
			out[n.Content[i]] = true
		}
	}
	return out
}

// List reads a sequence.
func (r *Reader) List(n *yaml.Node, each func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.Fail(n, "a list is expected here")
		return
	}
	if len(n.Content) == 0 {
		r.Fail(n, "the list is empty")
	}
	for _, entry := range n.Content {
		each(entry)
	}
}

// Text reads a string.
func (r *Reader) Text(into *string) Field {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			r.Fail(n, "a text is expected here")
			return
		}
		*into = n.Value
	}
}

// Flag reads true or false.
func (r *Reader) Flag(into *bool) Field {
	return func(n *yaml.Node) {
		if n.Tag == "!!bool" && (n.Value == "true" || n.Value == "false") { // as most are; decoding costs more
			*into = n.Value == "true"
		} else if n.Decode(into) != nil {
			r.Fail(n, "true or false is expected here")
		}
	}
}

// Texts reads a list of strings.
func (r *Reader) Texts(into *[]string) Field {
	return func(n *yaml.Node) {
		*into = []string{}
		r.List(n, func(e *yaml.Node) {
			var s string
			r.Text(&s)(e)
			*into = append(*into, s)
		})
	}
}

// Path reads a dotted path.
func (r *Reader) Path(into *[]string) Field {
	return func(n *yaml.Node) {
		var s string
		r.Text(&s)(n)
		if s == "" {
			r.Fail(n, "a path is expected here")
			return
		}
		*into = strings.Split(s, ".")
	}
}

// Word reads one of a set of words.
func (r *Reader) Word(into *string, words []string) Field {
	return func(n *yaml.Node) {
		var s string
		before := len(r.mistakes)
		r.Text(&s)(n)
		switch {
		case len(r.mistakes) > before:
		case slices.Contains(words, s):
			*into = s
		default:
			r.Fail(n, "%q is not one of %s", s, strings.Join(words, ", "))
		}
	}
}

// listFieldNames returns the names of the fields in all parts, sorted.
func listFieldNames(parts []map[string]Field) []string {
	var out []string
	for _, part := range parts {
		for name := range part {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// formatSuggestion suggests the nearest of the known words, or nothing.
func formatSuggestion(word string, known []string) string {
	if near := Nearest(word, known); len(near) > 0 {
		return fmt.Sprintf(" (did you mean %q?)", near[0])
	}
	return ""
}
