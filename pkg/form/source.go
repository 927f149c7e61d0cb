package form

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Source is a file: its name, for messages, and its text.
type Source struct {
	Name string
	Text []byte
	JSON bool // Text is a JSON list of the documents
}

// Error is everything wrong with a file, each line as file:line: what.
type Error struct{ Lines []string }

// Error lists the mistakes, one a line.
func (e *Error) Error() string { return strings.Join(e.Lines, "\n") }

// Member is the value of a mapping's key, or nil.
func Member(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// TextOf is the scalar of a mapping's key, "" if there is none.
func TextOf(n *yaml.Node, key string) string {
	if v := Member(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// What a file that people write may hold at most, aliases counted as what they stand for.
const (
	maxDepth = 50 // maps and lists inside each other
	maxNodes = 1_000_000
)

// aliasExpander puts the nodes that aliases stand for in their place.
type aliasExpander struct{ remaining int }

// expandAliases puts nodes in the place of aliases, and says what is wrong with a document that is
// too large, as one within itself is; "" if nothing is.
func (f *aliasExpander) expandAliases(n *yaml.Node, depth int) string {
	if depth > maxDepth {
		return fmt.Sprintf("nested deeper than %d", maxDepth)
	}
	for i, kid := range n.Content {
		if f.remaining--; f.remaining < 0 {
			return fmt.Sprintf("more than %d keys and values, with what aliases repeat", maxNodes)
		}
		if kid.Kind == yaml.AliasNode {
			n.Content[i] = kid.Alias
		}
		if wrong := f.expandAliases(n.Content[i], depth+1); wrong != "" {
			return wrong
		}
	}
	return ""
}

// ReadDocuments splits the file into its documents, without empty ones. The error is an *Error.
func (src Source) ReadDocuments() ([]*yaml.Node, error) {
	if src.JSON {
		return jsonDocuments(src)
	}
	f := aliasExpander{maxNodes}
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
			return nil, &Error{[]string{src.Name + ":" + text}}
		}
		if len(n.Content) == 1 && n.Content[0].ShortTag() != "!!null" {
			if wrong := f.expandAliases(n.Content[0], 0); wrong != "" {
				return nil, &Error{[]string{fmt.Sprintf("%s:%d: %s", src.Name, n.Content[0].Line, wrong)}}
			}
			out = append(out, n.Content[0])
		}
	}
}
