package redact

import (
	"slices"
	"strings"
)

// scalarMode is what becomes of a scalar.
type scalarMode byte

const (
	dropped          scalarMode = iota
	textsReplaced               // text is replaced, numbers stay
	replaced                    // it is replaced
	replacedByNumber            // it is replaced by a number, the same for equal texts
	durationsKept               // it is replaced unless it is one
	kept                        // it stays
)

// pathPattern is a path of a row.
type pathPattern struct {
	fields []string
	mode   scalarMode
}

var modeMarks = map[byte]scalarMode{'=': replaced, '#': replacedByNumber, '?': durationsKept, '~': textsReplaced}

// expandBraces writes out the braces of a text.
func expandBraces(text string) []string {
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
		out = append(out, expandBraces(text[:open]+part+text[end+1:])...)
	}
	return out
}

func parsePatterns(rows ...Row) []pathPattern {
	var out []pathPattern
	for _, row := range rows {
		for _, text := range row.Paths {
			for _, one := range expandBraces(text) {
				p := pathPattern{mode: kept}
				if m, marked := modeMarks[one[len(one)-1]]; marked {
					p.mode, one = m, one[:len(one)-1]
				}
				p.fields = strings.Split(one, ".")
				out = append(out, p)
			}
		}
	}
	return out
}

// stepInto returns what is left of the patterns behind a field.
func stepInto(all []pathPattern, field string) []pathPattern {
	var out []pathPattern
	for _, p := range all {
		if len(p.fields) == 0 {
			continue
		}
		switch first := p.fields[0]; {
		case first == "**":
			out = append(out, p)
			out = append(out, stepInto([]pathPattern{{p.fields[1:], p.mode}}, field)...)
		case first == "*", first == field:
			out = append(out, pathPattern{p.fields[1:], p.mode})
		}
	}
	return out
}

// scalarModeOf is what becomes of a scalar here.
func scalarModeOf(all []pathPattern) scalarMode {
	out := dropped
	for _, p := range all {
		if len(p.fields) == 0 || len(p.fields) == 1 && p.fields[0] == "**" {
			out = max(out, p.mode)
		}
	}
	return out
}

// hasDeeper reports whether something below may stay.
func hasDeeper(all []pathPattern) bool {
	return slices.ContainsFunc(all, func(p pathPattern) bool { return len(p.fields) > 0 })
}
