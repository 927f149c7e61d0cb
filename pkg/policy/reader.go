package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Source is a descriptor file: its name, for messages, and its text.
type Source struct {
	Name string
	Text []byte
	JSON bool // Text is a JSON list of the documents
}

// DescriptorError is everything wrong with a descriptor file, each line as file:line: what.
type DescriptorError struct{ Lines []string }

// Error lists the mistakes, one a line.
func (e *DescriptorError) Error() string { return strings.Join(e.Lines, "\n") }

// reader walks the YAML nodes of descriptors and collects mistakes with their lines. Unknown fields are mistakes: a typing error must
// not silently change an answer.
type reader struct {
	file  string
	lines []mistake
}

type mistake struct {
	line int
	text string
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.lines = append(r.lines, mistake{n.Line, fmt.Sprintf(format, args...)})
}

func (r *reader) err() error {
	if len(r.lines) == 0 {
		return nil
	}
	slices.SortStableFunc(r.lines, func(a, b mistake) int { return cmp.Compare(a.line, b.line) })
	e := &DescriptorError{}
	for _, m := range r.lines {
		e.Lines = append(e.Lines, fmt.Sprintf("%s:%d: %s", r.file, m.line, m.text))
	}
	return e
}

// field is what to do with one field of a mapping; nil means: known to the schema, not built yet.
type field func(*yaml.Node)

// object reads a mapping whose fields must all be known.
func (r *reader) object(n *yaml.Node, fields map[string]field) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "an object is expected here")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, known := fields[key.Value]
		switch {
		case seen[key.Value]:
			r.fail(key, "field %q is written twice", key.Value)
		case !known:
			r.fail(key, "unknown field %q%s", key.Value, nearHint(key.Value, sortedKeys(fields)))
		case read == nil:
			r.fail(key, "field %q is not supported yet", key.Value)
		case value.Tag != "!!null":
			read(value)
		}
		seen[key.Value] = true
	}
}

// list reads a sequence.
func (r *reader) list(n *yaml.Node, each func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "a list is expected here")
		return
	}
	if len(n.Content) == 0 {
		r.fail(n, "the list is empty")
	}
	for _, entry := range n.Content {
		each(entry)
	}
}

// text reads a string.
func (r *reader) text(into *string) field {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			r.fail(n, "a text is expected here")
			return
		}
		*into = n.Value
	}
}

// flag reads true or false.
func (r *reader) flag(into *bool) field {
	return func(n *yaml.Node) {
		if n.Decode(into) != nil {
			r.fail(n, "true or false is expected here")
		}
	}
}

// texts reads a list of strings.
func (r *reader) texts(into *[]string) field {
	return func(n *yaml.Node) {
		*into = []string{}
		r.list(n, func(e *yaml.Node) {
			var s string
			r.text(&s)(e)
			*into = append(*into, s)
		})
	}
}

// path reads a dotted path.
func (r *reader) path(into *[]string) field {
	return func(n *yaml.Node) {
		var s string
		r.text(&s)(n)
		if s == "" {
			r.fail(n, "a path is expected here")
			return
		}
		*into = strings.Split(s, ".")
	}
}

// word reads one of a set of words; later ones belong to the schema but are not built yet.
func (r *reader) word(into *string, now []string, later ...string) field {
	return func(n *yaml.Node) {
		if member(n, "func") != nil {
			r.fail(n, "a function is not supported here yet")
			return
		}
		var s string
		before := len(r.lines)
		r.text(&s)(n)
		switch {
		case len(r.lines) > before:
		case slices.Contains(now, s):
			*into = s
		case slices.Contains(later, s):
			r.fail(n, "%q is not supported yet", s)
		default:
			r.fail(n, "%q is not one of %s", s, strings.Join(slices.Concat(now, later), ", "))
		}
	}
}

func sortedKeys(m map[string]field) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// nearHint suggests the nearest of the known words, or nothing.
func nearHint(word string, known []string) string {
	if near := Nearest(word, known); len(near) > 0 {
		return fmt.Sprintf(" (did you mean %q?)", near[0])
	}
	return ""
}

// Nearest lists the words of known that word may be a typing error of, best first, at most three.
func Nearest(word string, known []string) []string {
	type scored struct {
		word string
		d    int
	}
	var near []scored
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if d <= max(1, len(k)/3) || len(word) > 2 && strings.HasPrefix(k, word) {
			near = append(near, scored{k, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int { return cmp.Or(cmp.Compare(a.d, b.d), strings.Compare(a.word, b.word)) })
	var out []string
	for i := 0; i < len(near) && i < 3; i++ {
		out = append(out, near[i].word)
	}
	return out
}

// distance is the number of edits between two words, of which two letters in the wrong order are one; very long words are not compared.
func distance(a, b string) int {
	const tooLong = 128
	if len(a) > tooLong || len(b) > tooLong {
		return tooLong
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// follow puts the nodes that aliases stand for in their place; false if the document is nested too deeply, as one within itself is.
func follow(n *yaml.Node, depth int) bool {
	const deepest = 50
	if depth > deepest {
		return false
	}
	for i, kid := range n.Content {
		if kid.Kind == yaml.AliasNode {
			n.Content[i] = kid.Alias
		}
		if !follow(n.Content[i], depth+1) {
			return false
		}
	}
	return true
}

// documents splits a descriptor file.
func documents(src Source) ([]*yaml.Node, error) {
	if src.JSON {
		return jsonDocuments(src)
	}
	dec := yaml.NewDecoder(strings.NewReader(string(src.Text)))
	var out []*yaml.Node
	for {
		var n yaml.Node
		err := dec.Decode(&n)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return out, nil
			}
			text, hasLine := strings.CutPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "line ")
			if !hasLine {
				text = "1: " + text
			}
			return nil, &DescriptorError{[]string{src.Name + ":" + text}}
		}
		if len(n.Content) == 1 && n.Content[0].ShortTag() != "!!null" {
			if !follow(n.Content[0], 0) {
				return nil, &DescriptorError{[]string{fmt.Sprintf("%s:%d: nested too deeply", src.Name, n.Content[0].Line)}}
			}
			out = append(out, n.Content[0])
		}
	}
}
