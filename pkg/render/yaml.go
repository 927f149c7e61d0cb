package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// writeYAML writes v as block-style YAML with the keys in the order of the JSON form, item by item
// where v allows it.
func writeYAML(w *bufio.Writer, v any) error { return writeYAMLStamped(w, v, nil) }

// writeYAMLStamped is writeYAML with lines that every item begins with.
func writeYAMLStamped(w *bufio.Writer, v any, lines []byte) error {
	lines, _, _ = bytes.Cut(lines, []byte("\n")) // the cluster; when it was read is said once
	head, items, ok := splitItems(v)
	if !ok {
		text, err := appendYAML(nil, v)
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
	text, err := appendYAML(nil, head)
	if err != nil {
		return err
	}
	open, closing, found := bytes.Cut(text, []byte("\nitems: []\n")) // what belongs to other fields is indented
	if !found {
		return fmt.Errorf("writing YAML: %T has no empty items", v)
	}
	_, _ = w.Write(open)
	_, _ = w.WriteString("\nitems:")
	closing = bytes.Clone(closing)
	end := " []\n"
	one := make([]any, 1)
	for item := range items {
		one[0] = item
		if text, err = appendYAML(text[:0], one); err != nil {
			return err
		}
		if end != "" {
			_ = w.WriteByte('\n')
			end = ""
		}
		if len(lines) > 0 {
			_, _ = w.WriteString("- ")
			_, _ = w.Write(lines)
			_, _ = w.WriteString("\n ")
			text = text[1:]
		}
		_, _ = w.Write(text)
	}
	_, _ = w.WriteString(end)
	_, err = w.Write(closing)
	return err
}

// appendYAML appends v as YAML. It goes through JSON, whose struct tags are the contract: the
// tokens of a compact JSON text are laid out anew.
func appendYAML(out []byte, v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	y := yamlWriter{in: escape.EscapeUnsafe(text.Bytes(), escape.EscapeYAMLRune), out: out}
	y.writeNode(0)
	return y.out, nil
}

// yamlWriter turns compact JSON, as encoding/json writes it, into YAML.
type yamlWriter struct {
	in  []byte // what is still to be read
	out []byte
}

// writeNode writes the next value with its lines at indent; the first one may have been begun by "-
// ".
func (y *yamlWriter) writeNode(indent int) {
	switch {
	case y.in[0] == '{' && y.in[1] != '}':
		y.writeMembers(indent)
	case y.in[0] == '[' && y.in[1] != ']':
		y.writeEntries(indent)
	default:
		y.writeScalar(indent)
	}
}

func (y *yamlWriter) writeMembers(indent int) {
	for y.in[0] != '}' {
		y.in = y.in[1:] // { or ,
		y.writeIndent(indent)
		y.writeKey(indent)
		y.in = y.in[1:] // :
		switch {
		case y.in[0] == '{' && y.in[1] != '}':
			y.out = append(y.out, '\n')
			y.writeMembers(indent + 2)
		case y.in[0] == '[' && y.in[1] != ']':
			y.out = append(y.out, '\n')
			y.writeEntries(indent)
		default:
			y.out = append(y.out, ' ')
			y.writeScalar(indent + 2)
		}
	}
	y.in = y.in[1:]
}

func (y *yamlWriter) writeEntries(indent int) {
	for y.in[0] != ']' {
		y.in = y.in[1:] // [ or ,
		y.writeIndent(indent)
		y.out = append(y.out, '-', ' ')
		y.writeNode(indent + 2)
	}
	y.in = y.in[1:]
}

// writeIndent indents a line that is not begun yet.
func (y *yamlWriter) writeIndent(indent int) {
	if len(y.out) == 0 || y.out[len(y.out)-1] == '\n' {
		y.out = append(y.out, strings.Repeat(" ", indent)...)
	}
}

// nextToken takes the next string, number or word, or an empty list or object.
func (y *yamlWriter) nextToken() []byte {
	end := 0
	switch y.in[0] {
	case '"':
		for end = 1; y.in[end] != '"'; end++ {
			if y.in[end] == '\\' {
				end++
			}
		}
		end++
	case '{', '[':
		end = 2
	default:
		if end = bytes.IndexAny(y.in, ",]}\n"); end < 0 {
			end = len(y.in)
		}
	}
	token := y.in[:end]
	y.in = y.in[end:]
	return token
}

// longKey is near the length up to which YAML lets a key stand without "? " in front.
const longKey = 1000

func (y *yamlWriter) writeKey(indent int) {
	token := y.nextToken()
	switch {
	case len(token) > longKey:
		y.out = append(append(y.out, "? "...), token...)
		y.out = append(y.out, '\n')
		y.writeIndent(indent)
	case isPlain(token):
		y.out = append(y.out, token[1:len(token)-1]...)
	default:
		y.out = append(y.out, token...)
	}
	y.out = append(y.out, ':')
}

// writeScalar writes a value without a structure, and ends the line. Text of several lines stands
// at indent.
func (y *yamlWriter) writeScalar(indent int) {
	token := y.nextToken()
	if token[0] != '"' {
		y.out = append(append(y.out, token...), '\n')
		return
	}
	if isPlain(token) {
		y.out = append(append(y.out, token[1:len(token)-1]...), '\n')
		return
	}
	if text, ok := parseLiteral(token); ok {
		y.writeLiteral(text, indent)
		return
	}
	y.out = append(append(y.out, token...), '\n') // what JSON puts between double quotes means the same in YAML
}

// writeLiteral writes a text that ends with a line break, or with none, as a block.
func (y *yamlWriter) writeLiteral(text string, indent int) {
	body, ends := strings.CutSuffix(text, "\n")
	y.out = append(y.out, '|')
	if !ends {
		y.out = append(y.out, '-')
	}
	y.out = append(y.out, '\n')
	for _, line := range strings.Split(body, "\n") {
		if line != "" {
			y.writeIndent(indent)
			y.out = append(y.out, line...)
		}
		y.out = append(y.out, '\n')
	}
}

// parseLiteral is the text of a JSON string that a block can hold as it is: several lines, the
// first of which shows the indent, nothing that hides or gets lost at an end.
func parseLiteral(token []byte) (string, bool) {
	if !bytes.Contains(token, []byte(`\n`)) || bytes.Contains(token, []byte(`\u`)) ||
		bytes.Contains(token, []byte(`\U`)) {
		return "", false
	}
	text, err := strconv.Unquote(string(token))
	if err != nil || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\n") || strings.HasSuffix(text, "\n\n") {
		return "", false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsFunc(line, escape.IsUnsafe) || strings.HasSuffix(line, " ") ||
			strings.HasPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::") {
			return "", false
		}
	}
	return text, strings.Contains(text, "\n")
}

// isPlain reports whether the JSON string in token can stand without quotes and is a string to
// every reader, YAML 1.1 included. It says no where it is not sure.
func isPlain(token []byte) bool {
	s := token[1 : len(token)-1]
	first, _ := utf8.DecodeRune(s)
	switch {
	case len(s) == 0, bytes.IndexByte(s, '\\') >= 0, bytes.Contains(s, []byte(": ")), bytes.Contains(s, []byte(" #")):
		return false
	case s[len(s)-1] == ':', s[len(s)-1] == ' ':
		return false
	case first >= '0' && first <= '9':
		return isQuantity(s)
	case !unicode.IsLetter(first) && first != '/' && first != '_':
		return false
	}
	return !slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"},
		strings.ToLower(string(s)))
}

// isQuantity recognises a number with a unit behind it: 10s, 5Mi.
func isQuantity(s []byte) bool {
	unit := bytes.TrimLeft(s, "0123456789")
	letters := bytes.Trim(unit, "abcdefghijklmnopqrstuvwyzABCDEFGHIJKLMNOPQRSTUVWYZ") // no x: 0xff is a number
	return len(unit) > 0 && len(letters) == 0
}
