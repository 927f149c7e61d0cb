package model

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// AppendJSON appends a value as encoding/json writes it, with the keys in order and without its
// escapes for HTML. Bodies may be part of it.
func AppendJSON(dst []byte, v any) []byte {
	switch t := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, t)
	case int64:
		return strconv.AppendInt(dst, t, 10)
	case string:
		return appendText(dst, t)
	case Body:
		return t.appendJSON(dst)
	case map[string]any:
		open := byte('{')
		for _, key := range slices.Sorted(maps.Keys(t)) {
			dst = append(appendText(append(dst, open), key), ':')
			dst, open = AppendJSON(dst, t[key]), ','
		}
		return closeJSON(dst, open, "{}")
	case []any:
		open := byte('[')
		for _, entry := range t {
			dst, open = AppendJSON(append(dst, open), entry), ','
		}
		return closeJSON(dst, open, "[]")
	}
	return appendAny(dst, v)
}

// closeJSON ends a list or object; open is still its first byte if nothing is in it.
func closeJSON(dst []byte, open byte, both string) []byte {
	if open != ',' {
		return append(dst, both...)
	}
	return append(dst, both[1])
}

func (b Body) appendJSON(dst []byte) []byte {
	switch {
	case b.IsList():
		open := byte('[')
		for _, entry := range b.Items {
			dst, open = entry.appendJSON(append(dst, open)), ','
		}
		return closeJSON(dst, open, "[]")
	case !b.IsObject():
		return AppendJSON(dst, b.Value())
	}
	type field struct {
		key   string
		value Body
	}
	var fields []field
	for key, value := range b.Fields {
		fields = append(fields, field{key, value})
	}
	slices.SortFunc(fields, func(x, y field) int { return strings.Compare(x.key, y.key) })
	open := byte('{')
	for _, f := range fields {
		dst = append(appendText(append(dst, open), f.key), ':')
		dst, open = f.value.appendJSON(dst), ','
	}
	return closeJSON(dst, open, "{}")
}

// appendText appends a string. What needs other escapes than expressions have is left to
// encoding/json.
func appendText(dst []byte, s string) []byte {
	start, done := len(dst), 0
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c >= 0x7f:
			return appendAny(dst[:start], s)
		case c == '"' || c == '\\':
			dst = append(append(dst, s[done:i]...), '\\')
			done = i
		}
	}
	return append(append(dst, s[done:]...), '"')
}

func appendAny(dst []byte, v any) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil { // what no manifest can hold
		return append(dst, "null"...)
	}
	return append(dst, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}
