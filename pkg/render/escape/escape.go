package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape makes s safe to show on one line: control characters, bidirectional controls and invisible
// characters become visible escapes (\n, \x1b, \u202e), bytes that are no UTF-8 become \xff.
// Everything else stays as it is.
func Escape(s string) string {
	at := strings.IndexFunc(s, func(r rune) bool { return IsUnsafe(r) || r == utf8.RuneError })
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:at])
	for s = s[at:]; s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case IsUnsafe(r):
			b.WriteString(escapeRune(r))
		default:
			b.WriteRune(r)
		}
		s = s[size:]
	}
	return b.String()
}

// IsUnsafe reports whether r can move a cursor, reorder a line or hide: C0, C1, DEL, line and
// paragraph separators, every format character (bidirectional controls, zero-width characters,
// tags), and what Unicode keeps from being a character, which YAML refuses.
func IsUnsafe(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Noncharacter_Code_Point)
}

func escapeRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// EscapeUnsafe replaces the unsafe characters in a JSON or YAML text by what escape makes of them,
// line breaks and tabs aside: those of the text itself are layout, those of values are escaped
// already. The bracket of what CI runners take as a command is replaced too. The caller makes sure
// that all others stand in double quotes.
func EscapeUnsafe(text []byte, escape func(rune) string) []byte {
	text = EscapeBracket(text, escape('['))
	clean := true
	for _, c := range text {
		if c >= 0x7f {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if IsUnsafe(r) && r != '\n' && r != '\t' {
			out = append(out, escape(r)...)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

// EscapeJSON makes a JSON text without line breaks safe to show: what Escape makes visible is
// written as JSON escapes, and so is the bracket of what CI runners take as a command.
func EscapeJSON(text []byte) []byte { return EscapeUnsafe(text, EscapeJSONRune) }

// EscapeJSONRune is r in a JSON string.
func EscapeJSONRune(r rune) string {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// EscapeYAMLRune is r in a double-quoted YAML string.
func EscapeYAMLRune(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
