package load

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// errTooDeep is what readTree returns for values that are nested deeper than allowed.
var errTooDeep = errors.New("maps and lists are nested too deep")

// treeReader reads JSON whose lines mean nothing, as servers write it, without making nodes of it first.
type treeReader struct {
	tokens *jsontext.Decoder
	words  *words
	depth  int // still allowed
}

// readTree is the one JSON value in text, without lines.
func readTree(text []byte, words *words, limits Limits) (any, error) {
	r := &treeReader{tokens: jsontext.NewDecoder(bytes.NewBuffer(text)), words: words, depth: limits.Depth}
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	if _, err := r.tokens.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the value")
	}
	return v, nil
}

func (r *treeReader) value() (any, error) {
	token, err := r.tokens.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return r.words.value(token.String()), nil
	case '0':
		return number(token.String()), nil
	}
	if r.depth == 0 {
		return nil, errTooDeep
	}
	r.depth--
	defer func() { r.depth++ }()
	return r.inside(token.Kind() == '[')
}

// inside reads what follows an opening bracket, up to the closing one.
func (r *treeReader) inside(list bool) (any, error) {
	t := &tree{list: list}
	for {
		switch r.tokens.PeekKind() {
		case ']', '}':
			_, err := r.tokens.ReadToken()
			return t, err
		}
		var e kid
		if !list {
			token, err := r.tokens.ReadToken()
			if err != nil {
				return nil, err
			}
			e.key = r.words.text(token.String())
		}
		var err error
		if e.value, err = r.value(); err != nil {
			return nil, err
		}
		t.kids = append(t.kids, e)
	}
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
