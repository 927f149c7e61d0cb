package policy

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// jsonDocuments splits a descriptor file that is a JSON list of documents. Its nodes have no lines: a program's own file is tested where it
// is made.
func jsonDocuments(src Source) ([]*yaml.Node, error) {
	n, err := jsonNode(jsontext.NewDecoder(bytes.NewBuffer(src.Text)))
	if err == nil && n.Kind != yaml.SequenceNode {
		err = errors.New("a list is expected")
	}
	if err != nil {
		return nil, &DescriptorError{[]string{fmt.Sprintf("%s: %v", src.Name, err)}}
	}
	return n.Content, nil
}

// jsonNode reads the next value.
func jsonNode(dec *jsontext.Decoder) (*yaml.Node, error) {
	t, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch t.Kind() {
	case '{', '[':
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if t.Kind() == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		for k := dec.PeekKind(); k != '}' && k != ']'; k = dec.PeekKind() {
			entry, err := jsonNode(dec) // of an object, keys and values in turn
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, entry)
		}
		if _, err := dec.ReadToken(); err != nil {
			return nil, err
		}
	case '"':
		n.Tag, n.Value = "!!str", t.String()
	case 't', 'f':
		n.Tag, n.Value = "!!bool", t.String()
	case '0':
		n.Tag, n.Value = "!!int", t.String()
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}
