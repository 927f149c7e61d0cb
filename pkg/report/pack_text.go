package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
)

// errNotJSON is what reading comes to if the text is no JSON as encoding/json writes it.
var errNotJSON = errors.New("packing the report: not the text of a value")

// textReader packs a JSON text without blanks, in one pass.
type textReader struct {
	*packer
	text []byte
	at   int
}

// packText packs a JSON text as encoding/json writes it.
func (p *packer) packText(text []byte) (valueRef, error) {
	r := textReader{packer: p, text: text}
	return r.readValue()
}

// peekByte returns the byte to be read, 0 at the end.
func (r *textReader) peekByte() byte {
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// skipByte reads a byte if it is the next one.
func (r *textReader) skipByte(c byte) bool {
	if r.peekByte() != c {
		return false
	}
	r.at++
	return true
}

func (r *textReader) readValue() (valueRef, error) {
	switch r.peekByte() {
	case '{':
		refs, keys := len(r.refs), len(r.keys)
		if err := r.readMembers(); err != nil {
			return 0, err
		}
		out := r.addObject(r.keys[keys:], r.refs[refs:])
		r.refs, r.keys = r.refs[:refs], r.keys[:keys]
		return out, nil
	case '[':
		return r.readItems()
	case '"':
		quoted, err := r.readQuotedString()
		if err != nil {
			return 0, err
		}
		return r.packer.addString(quoted), nil
	}
	return r.readLiteral()
}

// readMembers reads an object, and leaves its keys and values at the end of the packer's.
func (r *textReader) readMembers() error {
	if !r.skipByte('{') {
		return errNotJSON
	}
	for !r.skipByte('}') {
		key, err := r.readQuotedString()
		if err != nil {
			return err
		}
		r.keys = append(r.keys, r.numberOfQuotedKey(key))
		if !r.skipByte(':') {
			return errNotJSON
		}
		v, err := r.readValue()
		if err != nil {
			return err
		}
		r.refs = append(r.refs, v)
		if !r.skipByte(',') && r.peekByte() != '}' {
			return errNotJSON
		}
	}
	return nil
}

func (r *textReader) readItems() (valueRef, error) {
	refs := len(r.refs)
	r.at++
	for !r.skipByte(']') {
		v, err := r.readValue()
		if err != nil {
			return 0, err
		}
		r.refs = append(r.refs, v)
		if !r.skipByte(',') && r.peekByte() != ']' {
			return 0, errNotJSON
		}
	}
	out := r.addList(r.refs[refs:])
	r.refs = r.refs[:refs]
	return out, nil
}

// largestExact is the largest whole number up to which JavaScript holds every one.
const largestExact = 1<<53 - 1

// readLiteral packs a number, true, false or null. A whole number that JavaScript would round is
// packed as its text.
func (r *textReader) readLiteral() (valueRef, error) {
	from := r.at
	for r.at < len(r.text) && !slices.Contains([]byte(",]}\n"), r.text[r.at]) {
		r.at++
	}
	token := r.text[from:r.at]
	if !json.Valid(token) {
		return 0, fmt.Errorf("%w: %q", errNotJSON, token)
	}
	b := append(r.scratch[:0], "[2,"...)
	if isExact(token) {
		b = append(b, token...)
	} else {
		b = append(append(append(b, '"'), token...), '"')
	}
	r.scratch = append(b, ']')
	return valueRef(r.nodes.addText(r.scratch)), nil
}

// isExact reports whether JavaScript holds what a literal says.
func isExact(token []byte) bool {
	const few = 15 // digits that always fit
	if len(token) <= few || slices.ContainsFunc(token, func(c byte) bool { return (c < '0' || c > '9') && c != '-' }) {
		return true
	}
	n, err := strconv.ParseInt(string(token), 10, 64)
	return err == nil && n <= largestExact && n >= -largestExact
}

// readQuotedString reads a string and returns it as it is packed. It is valid until the next call.
func (r *textReader) readQuotedString() ([]byte, error) {
	if r.peekByte() != '"' {
		return nil, errNotJSON
	}
	from, plain := r.at, true
	for r.at++; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			if token := r.text[from:r.at]; plain {
				return token, nil
			}
			return r.encodeAgain(r.text[from:r.at])
		case c == '\\':
			r.at++ // what follows is no end
			plain = plain && r.peekByte() != 'u' && r.peekByte() != '/'
		case !isPlain(c), c == '[' && render.OpensCommand(r.text[from:r.at]):
			plain = false
		}
	}
	return nil, errNotJSON
}

// isPlain reports whether a byte stands in a packed string as it is.
func isPlain(c byte) bool {
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
}

// encodeAgain writes a string as it is packed, whatever the escapes in the text: equal strings are to be equal texts.
func (r *textReader) encodeAgain(token []byte) ([]byte, error) {
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		return nil, fmt.Errorf("packing the report: %w", err)
	}
	r.quoted = appendString(r.quoted[:0], s)
	return r.quoted, nil
}

// appendString appends a JSON string in which nothing is left that markup or a script could take for its own, or that a reader of the
// page's source would not see.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c == '[' && render.OpensCommand(b):
			b = appendEscape(b, c)
		case c < utf8.RuneSelf && isPlain(byte(c)):
			b = append(b, byte(c))
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c < utf8.RuneSelf || unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point):
			b = appendEscape(b, c)
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}

func appendEscape(b []byte, c rune) []byte {
	if c > 0xffff {
		high, low := utf16.EncodeRune(c)
		return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(b, `\u%04x`, c)
}
