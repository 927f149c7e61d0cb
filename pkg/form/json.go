package form

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// jsonDocuments splits a file that is a JSON list of documents. Its nodes have no lines: a program's own file is tested where it
// is made.
func jsonDocuments(src Source) ([]*yaml.Node, error) {
	d := newJSONReader(src.Text)
	n, err := d.node()
	if err == nil && n.Kind != yaml.SequenceNode {
		err = errors.New("a list is expected")
	}
	if err != nil {
		return nil, &Error{[]string{fmt.Sprintf("%s: %v", src.Name, err)}}
	}
	return n.Content, nil
}

// jsonReader makes nodes of JSON. Every command waits for it, so nodes are made many at a time.
type jsonReader struct {
	*jsontext.Decoder
	free  []yaml.Node  // nodes that are not in use yet
	stack []*yaml.Node // the entries read so far of the values that are open
}

func newJSONReader(text []byte) *jsonReader {
	return &jsonReader{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text))}
}

// make is a new node.
func (d *jsonReader) make(kind yaml.Kind, tag, value string) *yaml.Node {
	if len(d.free) == 0 {
		const together = 64
		d.free = make([]yaml.Node, together)
	}
	n := &d.free[0]
	d.free = d.free[1:]
	n.Kind, n.Tag, n.Value = kind, tag, value
	return n
}

// node reads the next value.
func (d *jsonReader) node() (*yaml.Node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return d.entries(d.make(yaml.MappingNode, "!!map", ""))
	case '[':
		return d.entries(d.make(yaml.SequenceNode, "!!seq", ""))
	case '"':
		return d.make(yaml.ScalarNode, "!!str", t.String()), nil
	case 't', 'f':
		return d.make(yaml.ScalarNode, "!!bool", t.String()), nil
	case '0':
		return d.make(yaml.ScalarNode, "!!int", t.String()), nil
	default:
		return d.make(yaml.ScalarNode, "!!null", "null"), nil
	}
}

// entries reads what is in a list or an object up to its end; of an object, keys and values in turn.
func (d *jsonReader) entries(n *yaml.Node) (*yaml.Node, error) {
	first := len(d.stack)
	for k := d.PeekKind(); k != '}' && k != ']'; k = d.PeekKind() {
		entry, err := d.node()
		if err != nil {
			return nil, err
		}
		d.stack = append(d.stack, entry)
	}
	n.Content = slices.Clone(d.stack[first:])
	d.stack = d.stack[:first]
	_, err := d.ReadToken()
	return n, err
}
