package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// jsonReader builds YAML nodes from JSON, so that lines and keys written twice are found in one
// way. The YAML reader itself takes most JSON, but neither tabs nor surrogate pairs.
type jsonReader struct {
	text      []byte
	tokens    *json.Decoder
	limits    Limits
	offset    int // up to which lines are counted
	line      int
	openNodes []*yaml.Node // the maps and lists around the next token
	documents []*yaml.Node
}

// parseJSON reads values that follow each other, the first of them beginning on the given line.
// With a problem come the values before it.
func parseJSON(text []byte, line int, limits Limits) ([]*yaml.Node, *Problem) {
	if isTooDense(text, jsonMarks, limits.Nodes) {
		return nil, limitExceeded(line, "not used: the document may hold more than %d keys and values", limits.Nodes)
	}
	r := &jsonReader{text: text, tokens: json.NewDecoder(bytes.NewReader(text)), limits: limits, line: line}
	r.tokens.UseNumber()
	for {
		token, err := r.tokens.Token()
		if errors.Is(err, io.EOF) && len(r.openNodes) == 0 {
			return r.documents, nil
		}
		if err != nil {
			return r.completeValues(), r.describeError(err)
		}
		r.advanceTo(int(r.tokens.InputOffset()))
		if failed := r.addToken(token); failed != nil {
			return r.completeValues(), failed
		}
	}
}

// advanceTo counts lines up to the given offset.
func (r *jsonReader) advanceTo(to int) {
	r.line += bytes.Count(r.text[r.offset:to], []byte("\n"))
	r.offset = to
}

func (r *jsonReader) addToken(token json.Token) *Problem {
	if token == json.Delim('}') || token == json.Delim(']') {
		r.openNodes = r.openNodes[:len(r.openNodes)-1]
		return nil
	}
	n := newJSONNode(token, r.line)
	if len(r.openNodes) == 0 {
		r.documents = append(r.documents, n)
	} else {
		parent := r.openNodes[len(r.openNodes)-1]
		parent.Content = append(parent.Content, n)
	}
	if n.Kind != yaml.ScalarNode {
		r.openNodes = append(r.openNodes, n)
	}
	if len(r.openNodes) > r.limits.Depth {
		return limitExceeded(r.line, "not used: maps and lists are nested deeper than %d", r.limits.Depth)
	}
	return nil
}

// completeValues returns the values that were read to their end.
func (r *jsonReader) completeValues() []*yaml.Node {
	if len(r.openNodes) > 0 {
		return r.documents[:len(r.documents)-1]
	}
	return r.documents
}

// describeError says what is wrong and where.
func (r *jsonReader) describeError(err error) *Problem {
	message := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		message = "the document ends too early"
	}
	at := int(r.tokens.InputOffset())
	for at < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	r.advanceTo(at)
	return invalidYAML(r.line, "not used: %s", message)
}

// isLikelyJSON reports whether text, which begins with a bracket, goes on like JSON rather than
// YAML's flow style.
func isLikelyJSON(text []byte) bool {
	rest := bytes.TrimLeft(text[1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '"' || text[0] == '[' && rest[0] == '{')
}

func newJSONNode(token json.Token, line int) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: line, Tag: "!!null"}
	switch t := token.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if t == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
	case string:
		n.Value, n.Tag, n.Style = t, "!!str", yaml.DoubleQuotedStyle
	case bool:
		n.Value, n.Tag = strconv.FormatBool(t), "!!bool"
	case json.Number:
		n.Value, n.Tag = t.String(), "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	}
	return n
}
