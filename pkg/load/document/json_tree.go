package document

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// errTooDeep is what readAnswer returns for values that are nested deeper than allowed.
var errTooDeep = errors.New("maps and lists are nested too deep")

// answerPart is where in an answer of an API server a value stands.
type answerPart int

const (
	otherPart  answerPart = iota
	answerRoot            // the answer: a list or an object
	itemsPart             // the items of the list
	itemPart
	metadataPart // of the list, or of an object
	managedFieldsPart
)

// partBelow returns the place of what stands at a key, or in a list.
func (p answerPart) partBelow(key string) answerPart {
	switch {
	case p == answerRoot && key == "items":
		return itemsPart
	case p == itemsPart:
		return itemPart
	case (p == answerRoot || p == itemPart) && key == "metadata":
		return metadataPart
	case p == metadataPart && key == "managedFields":
		return managedFieldsPart
	}
	return otherPart
}

// treeReader reads JSON whose lines mean nothing, as servers write it, without making nodes of it
// first.
type treeReader struct {
	tokens    *jsontext.Decoder
	texts     *textCache
	depth     int            // still allowed
	takeItem  func(item any) // of a list, in place of keeping it; nil: all are kept
	itemCount int            // of a list

	openEntries []treeEntry // of the lists and maps that are being read
}

// readServerAnswer returns what an API server says, without lines and managed fields, and how many
// items it has. The items are handed to take, which must not keep them: one at a time is in memory.
func readServerAnswer(text []byte, words *textCache, limits Limits, take func(item any)) (v any, items int, err error) {
	r := newTreeReader(text, words, limits)
	r.takeItem = take
	v, err = r.readToEnd(answerRoot)
	return v, r.itemCount, err
}

func newTreeReader(text []byte, words *textCache, limits Limits) *treeReader {
	return &treeReader{tokens: jsontext.NewDecoder(bytes.NewBuffer(text)), texts: words, depth: limits.Depth}
}

func (r *treeReader) readToEnd(at answerPart) (any, error) {
	v, err := r.readValue(at)
	if err != nil {
		return nil, err
	}
	if _, err := r.tokens.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

func (r *treeReader) readValue(at answerPart) (any, error) {
	if r.tokens.PeekKind() == '"' {
		return r.readText()
	}
	token, err := r.tokens.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '0':
		return parseNumber(token.String()), nil
	}
	if r.depth == 0 {
		return nil, errTooDeep
	}
	r.depth--
	defer func() { r.depth++ }()
	return r.readEntries(token.Kind() == '[', at)
}

// readText returns the string that follows, as a value. Most are words that were read before.
func (r *treeReader) readText() (any, error) {
	quoted, err := r.tokens.ReadValue()
	if err != nil {
		return nil, err
	}
	if plain := quoted[1 : len(quoted)-1]; bytes.IndexByte(plain, '\\') < 0 {
		return r.texts.internBytes(plain), nil
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return nil, err
	}
	return r.texts.internBytes(text), nil
}

// readEntries reads what follows an opening bracket, up to the closing one.
func (r *treeReader) readEntries(list bool, at answerPart) (any, error) {
	first := len(r.openEntries)
	for {
		switch r.tokens.PeekKind() {
		case ']', '}':
			_, err := r.tokens.ReadToken()
			return r.closeTree(list, first), err
		}
		var e treeEntry
		if !list {
			key, err := r.readText()
			if err != nil {
				return nil, err
			}
			e.key = key.(string)
		}
		below := at.partBelow(e.key)
		if below == managedFieldsPart {
			if err := r.tokens.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		if below == itemPart && list {
			if taken, err := r.readItem(); taken || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		var err error
		if e.value, err = r.readValue(below); err != nil {
			return nil, err
		}
		r.openEntries = append(r.openEntries, e)
	}
}

// readItem reads an item of a list and hands it over, if that is wanted.
func (r *treeReader) readItem() (taken bool, err error) {
	r.itemCount++
	if r.takeItem == nil {
		return false, nil
	}
	v, err := r.readValue(itemPart)
	if err != nil {
		return true, err
	}
	r.takeItem(v)
	return true, nil
}

// closeTree returns a list or map that ends. Its entries are moved out of the way of those around
// it.
func (r *treeReader) closeTree(list bool, first int) *tree {
	t := &tree{isList: list, entries: slices.Clone(r.openEntries[first:])}
	r.openEntries = r.openEntries[:first]
	return t
}

// parseNumber returns a JSON number as the reader of manifests takes it.
func parseNumber(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return toInteger(f)
}
