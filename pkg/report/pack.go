package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
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
// A value is the number of a node, or -1-n for string n. A node refers only to nodes before it. Nothing in the text can end a script
// element: <, >, & and what breaks lines are escaped.
type packer struct {
	strings, keyLists, nodes *textPool

	shared sharedParts

	buffer  bytes.Buffer // of encoder
	encoder *json.Encoder
	scratch []byte
	quoted  []byte
	refs    []valueRef // of the objects and lists that are being read
	keys    []int      // of the objects that are being read

	recentKeys  [256]keyNumber    // keys come again and again: comparing one costs less than looking it up
	recentLists [64]keyListNumber // so do the lists of them
}

// keyNumber is the number of a key, and keyListNumber that of the keys of an object.
type (
	keyNumber struct {
		quoted []byte
		number int
	}
	keyListNumber struct {
		keys   []int
		number int
	}
)

func newPacker() *packer {
	p := &packer{strings: newPool(), keyLists: newPool(), nodes: newPool()}
	p.encoder = json.NewEncoder(&p.buffer)
	p.encoder.SetEscapeHTML(false)
	return p
}

// packValue packs what encoding/json makes of v.
func (p *packer) packValue(v any) (valueRef, error) {
	text, err := p.encodeJSON(v)
	if err != nil {
		return 0, err
	}
	return p.packText(text)
}

// encodeJSON returns v as JSON, which is valid until the next call.
func (p *packer) encodeJSON(v any) ([]byte, error) {
	p.buffer.Reset()
	if err := p.encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("packing the report: %w", err)
	}
	return p.buffer.Bytes(), nil
}

// objectFields are the parts of an object that is not a node yet.
type objectFields struct {
	keys []int
	refs []valueRef
}

// packFields packs the values of an object and leaves the object itself to the caller.
func (p *packer) packFields(v any) (objectFields, error) {
	text, err := p.encodeJSON(v)
	if err != nil {
		return objectFields{}, err
	}
	r := textReader{packer: p, text: text}
	if err := r.readMembers(); err != nil {
		return objectFields{}, err
	}
	out := objectFields{slices.Clone(p.keys), slices.Clone(p.refs)}
	p.keys, p.refs = p.keys[:0], p.refs[:0]
	return out, nil
}

// setField gives a key another value; a key that is not there comes last.
func (f *objectFields) setField(key int, value valueRef) {
	if at := slices.Index(f.keys, key); at >= 0 {
		f.refs[at] = value
		return
	}
	f.keys, f.refs = append(f.keys, key), append(f.refs, value)
}

// clone is a copy of which the values can be set.
func (f objectFields) clone() objectFields {
	return objectFields{slices.Clone(f.keys), slices.Clone(f.refs)}
}

// numberOfKey is the number of a key.
func (p *packer) numberOfKey(name string) int {
	p.quoted = appendString(p.quoted[:0], name)
	return p.numberOfQuotedKey(p.quoted)
}

// numberOfQuotedKey is the number of a key that is encoded already.
func (p *packer) numberOfQuotedKey(quoted []byte) int {
	n := len(quoted)
	known := &p.recentKeys[(31*n+7*int(quoted[n/2])+int(quoted[n-2]))%len(p.recentKeys)]
	if !bytes.Equal(known.quoted, quoted) {
		*known = keyNumber{append(known.quoted[:0], quoted...), p.strings.addText(quoted)}
	}
	return known.number
}

// numberOfKeys is the number of the keys of an object.
func (p *packer) numberOfKeys(keys []int) int {
	n := len(keys)
	if n == 0 {
		return p.keyLists.addText([]byte("[]"))
	}
	known := &p.recentLists[(31*n+7*keys[0]+keys[n-1])%len(p.recentLists)]
	if !slices.Equal(known.keys, keys) {
		b := append(p.scratch[:0], '[')
		for _, k := range keys {
			b = append(strconv.AppendInt(b, int64(k), 10), ',')
		}
		b[len(b)-1] = ']'
		p.scratch = b
		*known = keyListNumber{append(known.keys[:0], keys...), p.keyLists.addText(b)}
	}
	return known.number
}

// addObject makes a node of an object.
func (p *packer) addObject(keys []int, values []valueRef) valueRef {
	list := p.numberOfKeys(keys) // it uses the scratch as well
	return p.addNode(strconv.AppendInt(append(p.scratch[:0], "[0,"...), int64(list), 10), values)
}

// addList makes a node of a list.
func (p *packer) addList(values []valueRef) valueRef {
	return p.addNode(append(p.scratch[:0], "[1"...), values)
}

// addNode ends a node that is begun with its values.
func (p *packer) addNode(b []byte, values []valueRef) valueRef {
	for _, v := range values {
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(v), 10)
	}
	b = append(b, ']')
	p.scratch = b
	return valueRef(p.nodes.addText(b))
}

// addString packs a string that is encoded already.
func (p *packer) addString(quoted []byte) valueRef { return valueRef(-p.strings.addText(quoted) - 1) }

// estimateSize is about how many bytes are written.
func (p *packer) estimateSize() int { return p.strings.size + p.keyLists.size + p.nodes.size }

// writePack writes the pack.
func (p *packer) writePack(w io.Writer, root valueRef) error {
	for _, part := range []any{`{"v":` + strconv.Itoa(packVersion) + `,"s":[`, p.strings, `],"k":[`, p.keyLists, `],"n":[`, p.nodes,
		`],"root":` + strconv.Itoa(int(root)) + `}`} {
		var err error
		switch t := part.(type) {
		case string:
			_, err = io.WriteString(w, t)
		case *textPool:
			err = t.writeTexts(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
