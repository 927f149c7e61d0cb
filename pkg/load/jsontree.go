package load

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// errTooDeep is what readTree returns for values that are nested deeper than allowed.
var errTooDeep = errors.New("maps and lists are nested too deep")

// answerPart is where in an answer of an API server a value stands.
type answerPart int

const (
	elsewhere   answerPart = iota
	wholeAnswer            // the answer: a list or an object
	listItems              // the items of the list
	listItem
	metadataOf // of the list, or of an object
	bookkeeping
)

// below is the place of what stands at a key, or in a list.
func (p answerPart) below(key string) answerPart {
	switch {
	case p == wholeAnswer && key == "items":
		return listItems
	case p == listItems:
		return listItem
	case (p == wholeAnswer || p == listItem) && key == "metadata":
		return metadataOf
	case p == metadataOf && key == "managedFields":
		return bookkeeping
	}
	return elsewhere
}

// treeReader reads JSON whose lines mean nothing, as servers write it, without making nodes of it first.
type treeReader struct {
	tokens *jsontext.Decoder
	words  *words
	depth  int            // still allowed
	take   func(item any) // of a list, in place of keeping it; nil: all are kept
	items  int            // of a list

	open []kid // of the lists and maps that are being read
}

// readTree is the one JSON value in text, without lines.
func readTree(text []byte, words *words, limits Limits) (any, error) {
	r := newTreeReader(text, words, limits)
	return r.all(elsewhere)
}

// readAnswer is what an API server says, without lines and managed fields, and how many items it has. These are handed to take, which must
// not keep them: one at a time is in memory.
func readAnswer(text []byte, words *words, limits Limits, take func(item any)) (v any, items int, err error) {
	r := newTreeReader(text, words, limits)
	r.take = take
	v, err = r.all(wholeAnswer)
	return v, r.items, err
}

func newTreeReader(text []byte, words *words, limits Limits) *treeReader {
	return &treeReader{tokens: jsontext.NewDecoder(bytes.NewBuffer(text)), words: words, depth: limits.Depth}
}

func (r *treeReader) all(at answerPart) (any, error) {
	v, err := r.value(at)
	if err != nil {
		return nil, err
	}
	if _, err := r.tokens.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

func (r *treeReader) value(at answerPart) (any, error) {
	if r.tokens.PeekKind() == '"' {
		return r.text()
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
		return number(token.String()), nil
	}
	if r.depth == 0 {
		return nil, errTooDeep
	}
	r.depth--
	defer func() { r.depth++ }()
	return r.inside(token.Kind() == '[', at)
}

// text is the string that follows, as a value. Most are words that were read before.
func (r *treeReader) text() (any, error) {
	quoted, err := r.tokens.ReadValue()
	if err != nil {
		return nil, err
	}
	if plain := quoted[1 : len(quoted)-1]; bytes.IndexByte(plain, '\\') < 0 {
		return r.words.bytes(plain), nil
	}
	text, err := jsontext.AppendUnquote(nil, quoted)
	if err != nil {
		return nil, err
	}
	return r.words.bytes(text), nil
}

// inside reads what follows an opening bracket, up to the closing one.
func (r *treeReader) inside(list bool, at answerPart) (any, error) {
	first := len(r.open)
	for {
		switch r.tokens.PeekKind() {
		case ']', '}':
			_, err := r.tokens.ReadToken()
			return r.closed(list, first), err
		}
		var e kid
		if !list {
			key, err := r.text()
			if err != nil {
				return nil, err
			}
			e.key = key.(string)
		}
		below := at.below(e.key)
		if below == bookkeeping {
			if err := r.tokens.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		if below == listItem && list {
			if taken, err := r.item(); taken || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		var err error
		if e.value, err = r.value(below); err != nil {
			return nil, err
		}
		r.open = append(r.open, e)
	}
}

// item reads an item of a list and hands it over, if that is wanted.
func (r *treeReader) item() (taken bool, err error) {
	r.items++
	if r.take == nil {
		return false, nil
	}
	v, err := r.value(listItem)
	if err != nil {
		return true, err
	}
	r.take(v)
	return true, nil
}

// closed is a list or map that ends. Its entries are moved out of the way of those around it.
func (r *treeReader) closed(list bool, first int) *tree {
	t := &tree{list: list, kids: slices.Clone(r.open[first:])}
	r.open = r.open[:first]
	return t
}

// number is a JSON number as the reader of manifests takes it.
func number(text string) any {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return integral(f)
}
