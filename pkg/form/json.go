package form

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// jsonDocuments splits a file that is a JSON list of documents. Its nodes have no lines: a
// program's own file is tested where it is made.
func jsonDocuments(src Source) ([]*yaml.Node, error) {
	d := newJSONReader(src.Text)
	n, err := d.readNode()
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
	freeNodes   []yaml.Node  // nodes that are not in use yet
	openEntries []*yaml.Node // the entries read so far of the values that are open
}

func newJSONReader(text []byte) *jsonReader {
	return &jsonReader{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text))}
}

// newNode returns a new node.
func (d *jsonReader) newNode(kind yaml.Kind, tag, value string) *yaml.Node {
	if len(d.freeNodes) == 0 {
		const together = 64
		d.freeNodes = make([]yaml.Node, together)
	}
	n := &d.freeNodes[0]
	d.freeNodes = d.freeNodes[1:]
	n.Kind, n.Tag, n.Value = kind, tag, value
	return n
}

// readNode reads the next value.
func (d *jsonReader) readNode() (*yaml.Node, error) {
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{':
		return d.readEntries(d.newNode(yaml.MappingNode, "!!map", ""))
	case '[':
		return d.readEntries(d.newNode(yaml.SequenceNode, "!!seq", ""))
	case '"':
		return d.newNode(yaml.ScalarNode, "!!str", t.String()), nil
	case 't', 'f':
		return d.newNode(yaml.ScalarNode, "!!bool", t.String()), nil
	case '0':
		return d.newNode(yaml.ScalarNode, "!!int", t.String()), nil
	default:
		return d.newNode(yaml.ScalarNode, "!!null", "null"), nil
	}
}

// readEntries reads what is in a list or an object up to its end; of an object, keys and values in
// turn.
func (d *jsonReader) readEntries(n *yaml.Node) (*yaml.Node, error) {
	first := len(d.openEntries)
	for k := d.PeekKind(); k != '}' && k != ']'; k = d.PeekKind() {
		entry, err := d.readNode()
		if err != nil {
			return nil, err
		}
		d.openEntries = append(d.openEntries, entry)
	}
	n.Content = slices.Clone(d.openEntries[first:])
	d.openEntries = d.openEntries[:first]
	_, err := d.ReadToken()
	return n, err
}
