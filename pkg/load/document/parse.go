package document

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxDirectives is how many %TAG directives a document may hold: the YAML reader compares each with
// all others.
const maxDirectives = 100

// parseDocument returns the content of one document as YAML nodes, whose lines count from 1 at the
// beginning of its text. There is one document as a rule; JSON values may follow each other, and
// then an error leaves those before it. Documents behind the first, which kubectl does not read,
// are returned as behind.
func parseDocument(p Raw, limits Limits) (docs, behind []*yaml.Node, failed *Problem) {
	if p.refused != nil {
		refused := *p.refused
		return nil, nil, &refused
	}
	docs, isJSON, failed := parseValues(p.Text, limits)
	if isJSON && !p.IsStream && failed == nil {
		failed = checkJSONAsYAML(p.Text)
	}
	if p.isBatch || p.IsStream && isJSON || len(docs) == 0 {
		return docs, nil, failed
	}
	if behind = docs[1:]; failed != nil && failed.Message == noDocumentStart {
		behind, failed = append(behind, nodeOfRest(p.Text, failed.Line)), nil
	}
	return docs[:1], behind, failed
}

// noDocumentStart is the message for a document behind a line `...` that does not begin with ---.
const noDocumentStart = "not used: did not find expected <document start>"

// nodeOfRest returns a node for what stands in text from a line on: a map with a kind if it may be
// an object, else a text.
func nodeOfRest(text []byte, line int) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: line}
	at := 0
	for range line - 1 {
		at = findLineEnd(text, at)
	}
	if rest := text[at:]; bytes.Contains(rest, []byte("apiVersion")) || bytes.Contains(rest, []byte("kind")) {
		n.Kind, n.Content = yaml.MappingNode, []*yaml.Node{{Kind: yaml.ScalarNode, Value: "kind"},
			{Kind: yaml.ScalarNode}}
	}
	return n
}

// checkJSONAsYAML returns the problem of JSON that kubectl reads as YAML, as all that is not at the
// start of a file: it may have escapes that YAML does not.
func checkJSONAsYAML(text []byte) *Problem {
	if _, err := kyaml.YAMLToJSON(text); err != nil {
		message, line := splitErrorLine(err)
		t := invalidYAML(max(line, lineOfByte(text, FindContentStart(text))),
			"kubectl cannot read it, as it reads JSON behind --- as YAML: %s", message)
		t.Hint = "write it as YAML, or into a file of its own"
		return t
	}
	return nil
}

// parseValues returns all documents or JSON values in text.
func parseValues(text []byte, limits Limits) (docs []*yaml.Node, isJSON bool, failed *Problem) {
	first := FindContentStart(text)
	line := lineOfByte(text, first)
	switch {
	case len(text) > limits.Document:
		return nil, false, limitExceeded(line, "not used: the document is larger than %d bytes", limits.Document)
	case first == len(text):
		return nil, false, nil
	case text[first] != '{' && text[first] != '[' || hasRareBreak(text[:first]):
		docs, failed = parseYAML(text, limits)
		return docs, false, failed
	}
	docs, failed = parseJSON(text[first:], line, limits)
	if failed == nil || failed.Code == model.LimitExceeded {
		return docs, true, failed
	}
	flow, failedToo := parseYAML(text, limits)
	if failedToo != nil && (len(docs) > 0 || isLikelyJSON(text[first:])) {
		return docs, true, failed
	}
	return flow, false, failedToo
}

// parseYAML parses text as YAML. With a problem come the documents before it.
func parseYAML(text []byte, limits Limits) ([]*yaml.Node, *Problem) {
	if !bytes.HasSuffix(text, []byte("\n")) { // kubectl adds it, and it may belong to the last value
		text = append(slices.Clip(text), '\n')
		defer clear(text)
	}
	line := lineOfByte(text, FindContentStart(text))
	if isTooDense(text, yamlMarks, limits.Nodes) {
		return nil, limitExceeded(line, "not used: the document may hold more than %d keys and values", limits.Nodes)
	}
	if bytes.Count(text, []byte("%TAG")) > maxDirectives {
		return nil, limitExceeded(line, "not used: the document has more than %d directives", maxDirectives)
	}
	docs, err := decodeYAML(bytes.NewReader(text))
	fixLines(text, docs)
	if err == nil {
		return docs, nil
	}
	message, reported := splitErrorLine(err)
	if strings.Contains(message, "exceeded max depth") {
		return nil, limitExceeded(max(line, reported), "not used: maps and lists are nested deeper than %d",
			limits.Depth)
	}
	failed := invalidYAML(findErrorLine(text, message), "not used: %s", message)
	if bytes.Contains(text, []byte("{{")) {
		failed.Hint = renderTemplate
	}
	return docs, failed
}

// renderTemplate is the hint for text that may be a template.
const renderTemplate = "if it is a template, render it first"

// decodeYAML hands text to the YAML reader, and takes its panics for what they are: text it cannot
// read. With an error come the documents before it.
func decodeYAML(text io.Reader) (docs []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the YAML reader cannot read it")
		}
	}()
	d := yaml.NewDecoder(text)
	for {
		var n yaml.Node
		err := d.Decode(&n)
		switch {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return docs, err
		case len(n.Content) == 1:
			docs = append(docs, n.Content[0])
		}
	}
}

// Bytes after which nodes begin: in JSON every node but the first follows one of them, and in YAML
// at most two nodes follow each. In YAML so does a dash in front of a space.
const (
	jsonMarks = ",:[{"
	yamlMarks = jsonMarks + "?\n\r"
)

// isTooDense reports whether text has more marks than limit. It bounds the memory that nodes take,
// before they are made; marks are counted only in texts that are long enough.
func isTooDense(text []byte, marks string, limit int) bool {
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

// splitErrorLine returns the YAML reader's message without its line, and the line it names (0:
// none). The name of an unknown anchor is left out: it may be an unquoted password that begins with
// a star.
func splitErrorLine(err error) (message string, line int) {
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

// findErrorLine returns the line up to which text must be read to see the error. The line that the
// YAML reader reports is often that of an enclosing block, or none. The reader looks ahead; only in
// a text that is not large are lines left out, one, two, four and so on, to see whether the error
// is there without them.
func findErrorLine(text []byte, message string) int {
	lines := &lineReader{text: text}
	failsWith(lines, message)
	if len(text) > 16<<10 {
		return len(lines.ends)
	}
	isEnough := func(line int) bool { return line > 0 && failsWith(bytes.NewReader(text[:lines.ends[line-1]]), message) }
	enough, step := len(lines.ends), 1
	for ; isEnough(enough - step); step *= 2 {
		enough -= step
	}
	first := max(enough-step, 0) + 1
	return first + sort.Search(enough-first, func(i int) bool { return isEnough(first + i) })
}

// failsWith reports whether the YAML reader fails at text with a message.
func failsWith(text io.Reader, message string) bool {
	_, err := decodeYAML(text)
	if err == nil {
		return false
	}
	found, _ := splitErrorLine(err)
	return found == message
}

// lineReader hands out a line at a time, and remembers where those end that were asked for.
type lineReader struct {
	text []byte
	next int // what is read next
	ends []int
}

// Read implements io.Reader.
func (r *lineReader) Read(to []byte) (int, error) {
	if r.next == len(r.text) {
		return 0, io.EOF
	}
	if n := len(r.ends); n == 0 || r.next == r.ends[n-1] {
		r.ends = append(r.ends, findLineEnd(r.text, r.next))
	}
	n := copy(to, r.text[r.next:r.ends[len(r.ends)-1]])
	r.next += n
	return n, nil
}

// fixLines makes the lines of the nodes those of an editor. To YAML a line also ends at a lone
// carriage return and at three rare characters.
func fixLines(text []byte, docs []*yaml.Node) {
	if !hasRareBreak(text) {
		return
	}
	rare := rareBreaks()
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
