package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// splitObject returns the fields of a JSON object, in their order.
func splitObject(text []byte) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("the answer is no JSON object: %w", err)
	}
	var out []field
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		one := field{name: fmt.Sprint(name)}
		if err := d.Decode(&one.value); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// joinObject writes fields, whose values have no white space, as a JSON object.
func joinObject(fields []field) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(f.name) // a string
		out.Write(name)
		out.WriteByte(':')
		out.Write(f.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// splitList returns the entries of a JSON list; null has none.
func splitList(text json.RawMessage) ([]json.RawMessage, error) {
	var out []json.RawMessage
	err := json.Unmarshal(text, &out)
	return out, err
}

// joinList writes entries as a JSON list.
func joinList(entries []json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, entry := range entries {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(entry)
	}
	out.WriteByte(']')
	return out.Bytes()
}

// compactValue returns a JSON value without white space.
func compactValue(text json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return text
	}
	return out.Bytes()
}

// cuts are how much is kept of the lists, maps and texts of a value, from what is tried first.
var cuts = []struct{ entries, runes int }{{50, 1000}, {10, 300}, {3, 100}, {1, 40}}

// shortenValue returns a JSON value of at most so many bytes, and whether that is all of it. Of a larger one only
// the first entries of lists and maps and the begin of texts are kept; nothing, null, if that is still too large.
func shortenValue(text json.RawMessage, limit int) (json.RawMessage, bool) {
	compact := compactValue(text)
	if len(compact) <= limit {
		return compact, true
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(compact))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return json.RawMessage("null"), false
	}
	for _, cut := range cuts {
		short, err := json.Marshal(cutValue(v, cut.entries, cut.runes))
		if err == nil && len(short) <= limit {
			return short, false
		}
	}
	return json.RawMessage("null"), false
}

// maxFields is how many fields an object of the contract has at most: a map with more is of the input.
const maxFields = 60

// cutValue keeps the first entries of lists and maps, and the begin of texts.
func cutValue(v any, entries, runes int) any {
	switch v := v.(type) {
	case string:
		if text := []rune(v); len(text) > runes {
			return string(text[:runes]) + "…"
		}
	case []any:
		out := make([]any, 0, min(len(v), entries))
		for _, inner := range v[:min(len(v), entries)] {
			out = append(out, cutValue(inner, entries, runes))
		}
		return out
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) > maxFields {
			names = names[:entries]
		}
		out := map[string]any{}
		for _, name := range names {
			out[name] = cutValue(v[name], entries, runes)
		}
		return out
	}
	return v
}
