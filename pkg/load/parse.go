package load

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxDirectives is how many %TAG directives a document may hold: the YAML reader compares each with all others.
const maxDirectives = 100

// parse is the content of one piece as YAML nodes, whose lines count from 1 at the beginning of text. There is one
// document as a rule; JSON values may follow each other, and then an error leaves those before it.
func parse(text []byte, limits Limits) ([]*yaml.Node, *trouble) {
	first := contentStart(text)
	line := lineAt(text, first)
	switch {
	case len(text) > limits.Document:
		return nil, exceeded(line, "not used: the document is larger than %d bytes", limits.Document)
	case first == len(text):
		return nil, nil
	case text[first] != '{' && text[first] != '[':
		return parseYAML(text, limits)
	}
	docs, failed := parseJSON(text[first:], line, limits)
	if failed == nil || failed.code == model.LimitExceeded {
		return docs, failed
	}
	flow, failedToo := parseYAML(text, limits)
	if failedToo != nil && (len(docs) > 0 || looksJSON(text[first:])) {
		return docs, failed
	}
	return flow, failedToo
}

// parseYAML parses text as one YAML document.
func parseYAML(text []byte, limits Limits) ([]*yaml.Node, *trouble) {
	line := lineAt(text, contentStart(text))
	if tooDense(text, yamlMarks, limits.Nodes) {
		return nil, exceeded(line, "not used: the document may hold more than %d keys and values", limits.Nodes)
	}
	if bytes.Count(text, []byte("%TAG")) > maxDirectives {
		return nil, exceeded(line, "not used: the document has more than %d directives", maxDirectives)
	}
	docs, err := decodeYAML(text)
	if err == nil {
		fixLines(text, docs)
		return docs, nil
	}
	message, reported := errorText(err)
	if strings.Contains(message, "exceeded max depth") {
		return nil, exceeded(max(line, reported), "not used: maps and lists are nested deeper than %d", limits.Depth)
	}
	failed := invalid(errorLine(text, message, max(line, reported)), "not used: %s", message)
	if bytes.Contains(text, []byte("{{")) {
		failed.hint = "if it is a template, render it first"
	}
	return nil, failed
}

// decodeYAML hands text to the YAML reader, and takes its panics for what they are: text it cannot read.
func decodeYAML(text []byte) (docs []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			docs, err = nil, errors.New("the YAML reader cannot read it")
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		err := d.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		case len(n.Content) == 1:
			docs = append(docs, n.Content[0])
		}
	}
}

// Bytes after which nodes begin: in JSON every node but the first follows one of them, and in YAML at most two nodes
// follow each. In YAML so does a dash in front of a space.
const (
	jsonMarks = ",:[{"
	yamlMarks = jsonMarks + "?\n\r"
)

// tooDense bounds the memory that nodes take, before they are made: it reports whether text has more marks than limit.
// They are counted only for texts that are long enough.
func tooDense(text []byte, marks string, limit int) bool {
	if len(text) <= limit {
		return false
	}
	var mark [256]bool
	for _, b := range []byte(marks) {
		mark[b] = true
	}
	found := 0
	for i, b := range text {
		if mark[b] || b == '-' && marks == yamlMarks && (i+1 == len(text) || text[i+1] <= ' ' || text[i+1] >= 0x80) {
			found++
		}
	}
	return found > limit
}

// errorText is the YAML reader's message without its line, and the line it names (0: none). The name of an unknown
// anchor is left out: it may be an unquoted password that begins with a star.
func errorText(err error) (message string, line int) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, text, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			message, line = text, n
		}
	}
	if strings.HasPrefix(message, "unknown anchor ") {
		message = "an alias (*name) to an anchor that is not there; quote the text if it is none"
	}
	return message, line
}

// errorLine is the line up to which text must be read to see the error. The line that the YAML reader reports is often
// that of an enclosing block, or none. For large texts, which would have to be read over and over, it is good enough.
func errorLine(text []byte, message string, reported int) int {
	const large = 1 << 20
	if len(text) > large {
		return reported
	}
	var ends []int
	for at := 0; at < len(text); {
		at = lineEnd(text, at)
		ends = append(ends, at)
	}
	return 1 + sort.Search(len(ends)-1, func(i int) bool {
		_, err := decodeYAML(text[:ends[i]])
		if err == nil {
			return false
		}
		found, _ := errorText(err)
		return found == message
	})
}

// fixLines makes the lines of the nodes those of an editor. To YAML a line also ends at a lone carriage return and at
// three rare characters.
func fixLines(text []byte, docs []*yaml.Node) {
	rare := [][]byte{[]byte("\u0085"), []byte("\u2028"), []byte("\u2029")}
	lone := bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n"))
	if !lone && !slices.ContainsFunc(rare, func(b []byte) bool { return bytes.Contains(text, b) }) {
		return
	}
	lines := []int{0, 1} // the editor's line of each of YAML's, from 1
	line := 1
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			line++
		case text[i] == '\r' && !bytes.HasPrefix(text[i+1:], []byte("\n")):
		case slices.ContainsFunc(rare, func(b []byte) bool { return bytes.HasPrefix(text[i:], b) }):
		default:
			continue
		}
		lines = append(lines, line)
	}
	var fix func(n *yaml.Node)
	fix = func(n *yaml.Node) {
		n.Line = lines[min(n.Line, len(lines)-1)]
		for _, kid := range n.Content {
			fix(kid)
		}
	}
	for _, doc := range docs {
		fix(doc)
	}
}
