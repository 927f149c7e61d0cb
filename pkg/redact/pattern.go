package redact

import (
	"slices"
	"strings"
)

// mode is what becomes of a scalar.
type mode byte

const (
	gone     mode = iota
	texts         // text is replaced, numbers stay
	hidden        // it is replaced
	numbered      // it is replaced, and told apart from others
	duration      // it is replaced unless it is one
	whole         // it stays
)

// pattern is a path of a row.
type pattern struct {
	fields []string
	mode   mode
}

var marks = map[byte]mode{'=': hidden, '#': numbered, '?': duration, '~': texts}

// expand writes out the braces of a text.
func expand(text string) []string {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		return []string{text}
	}
	var parts []string
	depth, begin, end := 0, open+1, open
	for i := open; i < len(text) && end == open; i++ {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				parts, end = append(parts, text[begin:i]), i
			}
		case c == ',' && depth == 1:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	var out []string
	for _, part := range parts {
		out = append(out, expand(text[:open]+part+text[end+1:])...)
	}
	return out
}

func patterns(rows ...Row) []pattern {
	var out []pattern
	for _, row := range rows {
		for _, text := range row.Paths {
			for _, one := range expand(text) {
				p := pattern{mode: whole}
				if m, marked := marks[one[len(one)-1]]; marked {
					p.mode, one = m, one[:len(one)-1]
				}
				p.fields = strings.Split(one, ".")
				out = append(out, p)
			}
		}
	}
	return out
}

// step is what is left of the patterns behind a field.
func step(all []pattern, field string) []pattern {
	var out []pattern
	for _, p := range all {
		if len(p.fields) == 0 {
			continue
		}
		switch first := p.fields[0]; {
		case first == "**":
			out = append(out, p)
			out = append(out, step([]pattern{{p.fields[1:], p.mode}}, field)...)
		case first == "*", first == field:
			out = append(out, pattern{p.fields[1:], p.mode})
		}
	}
	return out
}

// final is what becomes of a scalar here.
func final(all []pattern) mode {
	out := gone
	for _, p := range all {
		if len(p.fields) == 0 || len(p.fields) == 1 && p.fields[0] == "**" {
			out = max(out, p.mode)
		}
	}
	return out
}

// deeper reports whether something below may stay.
func deeper(all []pattern) bool {
	return slices.ContainsFunc(all, func(p pattern) bool { return len(p.fields) > 0 })
}
