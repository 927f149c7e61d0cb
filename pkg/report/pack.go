package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// packVersion is the version of the form below.
const packVersion = 1

// The forms of a node.
const (
	objectNode  = 0 // [0, key list, value …]
	listNode    = 1 // [1, value …]
	literalNode = 2 // [2, literal]: a number, true, false or null; a text is a number that JavaScript cannot hold
)

// valueRef is a value: a node n ≥ 0, or the string -n-1.
type valueRef int

// packer stores every distinct value once and refers to it by number. What it writes is
//
//	{"v":1,"s":[string …],"k":[[string number …] …],"n":[node …],"root":value}
//
// A value is the number of a node, or -1-n for string n. A node refers only to nodes before it.
// Nothing in the text can end a script element: <, >, & and what breaks lines are escaped.
type packer struct {
	strings, keyLists, nodes textPool

	shared  sharedParts
	scratch []byte // for the text of a node
}

// textPool holds distinct texts, numbered in the order in which they came.
type textPool struct {
	numbers map[string]int
	texts   []string
}

func newPacker() *packer {
	newPool := func() textPool { return textPool{numbers: map[string]int{}} }
	return &packer{strings: newPool(), keyLists: newPool(), nodes: newPool()}
}

// addText returns the number of a text, which is taken in if it is new.
func (p *textPool) addText(text []byte) int {
	n, known := p.numbers[string(text)]
	if !known {
		n = len(p.texts)
		p.texts = append(p.texts, string(text))
		p.numbers[p.texts[n]] = n
	}
	return n
}

// packValue packs what encoding/json makes of v.
func (p *packer) packValue(v any) (valueRef, error) {
	d, err := newDecoder(v)
	if err != nil {
		return 0, err
	}
	return p.read(d)
}

// newDecoder reads what encoding/json makes of v.
func newDecoder(v any) (*jsontext.Decoder, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("packing the report: %w", err)
	}
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true)), nil
}

// read packs the next value.
func (p *packer) read(d *jsontext.Decoder) (valueRef, error) {
	switch d.PeekKind() {
	case '{':
		o, err := p.readObject(d)
		return p.addObject(o), err
	case '[':
		return p.readList(d)
	}
	value, err := d.ReadValue()
	if err != nil {
		return 0, err
	}
	if value.Kind() == '"' {
		n, err := p.packText(value)
		return valueRef(-n - 1), err
	}
	b := append(p.scratch[:0], "[2,"...)
	if value.Kind() != '0' || isExact(value) {
		b = append(b, value...)
	} else {
		b = strconv.AppendQuote(b, string(value))
	}
	p.scratch = append(b, ']')
	return valueRef(p.nodes.addText(p.scratch)), nil
}

// packText packs a JSON text as encoding/json writes it.
func (p *packer) packText(quoted jsontext.Value) (int, error) {
	text, err := jsontext.AppendUnquote(p.scratch[:0], quoted)
	p.scratch = text
	return p.strings.addText(text), err
}

// object is an object that is not a node yet.
type object struct {
	keys   []int
	values []valueRef
}

// setField gives a key another value; a key that is not there comes last.
func (o *object) setField(key int, value valueRef) {
	if at := slices.Index(o.keys, key); at >= 0 {
		o.values[at] = value
		return
	}
	o.keys, o.values = append(o.keys, key), append(o.values, value)
}

// clone is a copy of which the values can be set.
func (o object) clone() object { return object{slices.Clone(o.keys), slices.Clone(o.values)} }

// numberOfKey is the number of a key.
func (p *packer) numberOfKey(name string) int { return p.strings.addText([]byte(name)) }

// packFields packs the values of an object and leaves the object itself to the caller.
func (p *packer) packFields(v any) (object, error) {
	d, err := newDecoder(v)
	if err != nil {
		return object{}, err
	}
	return p.readObject(d)
}

// readObject packs the values of the next object.
func (p *packer) readObject(d *jsontext.Decoder) (object, error) {
	var o object
	if _, err := d.ReadToken(); err != nil {
		return o, err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return o, err
		}
		key, err := p.packText(name)
		if err != nil {
			return o, err
		}
		value, err := p.read(d)
		if err != nil {
			return o, err
		}
		o.keys, o.values = append(o.keys, key), append(o.values, value)
	}
	_, err := d.ReadToken()
	return o, err
}

// readList packs the next list.
func (p *packer) readList(d *jsontext.Decoder) (valueRef, error) {
	var values []valueRef
	if _, err := d.ReadToken(); err != nil {
		return 0, err
	}
	for d.PeekKind() != ']' {
		value, err := p.read(d)
		if err != nil {
			return 0, err
		}
		values = append(values, value)
	}
	_, err := d.ReadToken()
	return p.addList(values), err
}

// addObject makes a node of an object.
func (p *packer) addObject(o object) valueRef {
	b := append(p.scratch[:0], '[')
	for i, key := range o.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(key), 10)
	}
	b = append(b, ']')
	p.scratch = b
	list := p.keyLists.addText(b)
	return p.addNode(strconv.AppendInt(append(b[:0], "[0,"...), int64(list), 10), o.values)
}

// addList makes a node of a list.
func (p *packer) addList(values []valueRef) valueRef {
	return p.addNode(append(p.scratch[:0], "[1"...), values)
}

// addNode ends a node that is begun with its values.
func (p *packer) addNode(b []byte, values []valueRef) valueRef {
	for _, v := range values {
		b = strconv.AppendInt(append(b, ','), int64(v), 10)
	}
	p.scratch = append(b, ']')
	return valueRef(p.nodes.addText(p.scratch))
}

// isExact reports whether JavaScript holds what a number says.
func isExact(number []byte) bool {
	if bytes.ContainsAny(number, ".eE") {
		return true
	}
	const largest = 1<<53 - 1 // up to which JavaScript holds every whole number
	n, err := strconv.ParseInt(string(number), 10, 64)
	return err == nil && n <= largest && n >= -largest
}

// encodeDocument is the pack, with a value as its root.
func (p *packer) encodeDocument(root valueRef) ([]byte, error) {
	text, err := json.Marshal(struct {
		Version  int               `json:"v"`
		Strings  []string          `json:"s"`
		KeyLists []json.RawMessage `json:"k"`
		Nodes    []json.RawMessage `json:"n"`
		Root     valueRef          `json:"root"`
	}{packVersion, p.strings.texts, toRawMessages(p.keyLists.texts), toRawMessages(p.nodes.texts), root})
	if err != nil {
		return nil, fmt.Errorf("packing the report: %w", err)
	}
	return escape.EscapeJSON(text), nil
}

// toRawMessages are texts that are JSON already.
func toRawMessages(texts []string) []json.RawMessage {
	out := make([]json.RawMessage, len(texts))
	for i, text := range texts {
		out[i] = json.RawMessage(text)
	}
	return out
}
