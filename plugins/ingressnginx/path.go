package ingressnginx

import (
	"strings"
)

// normalizePath returns the path by which nginx chooses a location: escapes are decoded once, slashes that
// follow each other are one, and elements of dots are resolved; false if it refuses the request (N17).
func normalizePath(path string) (string, bool) {
	plain, ok := decodePath(path)
	if !ok || !strings.HasPrefix(plain, "/") {
		return "", false
	}
	elements := strings.Split(plain[1:], "/")
	var out []string
	for i, e := range elements {
		last := i == len(elements)-1
		switch e {
		case "":
			if last {
				out = append(out, "")
			}
			continue
		case ".":
		case "..":
			if len(out) == 0 {
				return "", false
			}
			out = out[:len(out)-1]
		default:
			out = append(out, e)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/"), true
}

// decodePath decodes the escapes of a path.
func decodePath(path string) (string, bool) {
	if !strings.Contains(path, "%") {
		return path, true
	}
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			out.WriteByte(path[i])
			continue
		}
		if i+2 >= len(path) {
			return "", false
		}
		high, ok1 := parseHex(path[i+1])
		low, ok2 := parseHex(path[i+2])
		if !ok1 || !ok2 || high == 0 && low == 0 {
			return "", false
		}
		out.WriteByte(high<<4 | low)
		i += 2
	}
	return out.String(), true
}

func parseHex(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// escapePath escapes a path that nginx has changed, as it does for the backend.
func escapePath(path string) string {
	return escapeBytes(path, func(c byte) bool {
		return c <= ' ' || c >= 0x7f || strings.IndexByte("\"#%<>?\\^`{|}", c) >= 0
	})
}

// escapeComponent escapes a text that becomes the value of a parameter.
func escapeComponent(text string) string {
	return escapeBytes(text, func(c byte) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && strings.IndexByte("-._~", c) < 0
	})
}

func escapeBytes(text string, isSpecial func(byte) bool) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if c := text[i]; isSpecial(c) {
			out.WriteByte('%')
			out.WriteByte(digits[c>>4])
			out.WriteByte(digits[c&15])
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// expandVariables puts values in the place of the variables of a text; known is false if one is not known, which
// becomes "...".
func expandVariables(text string, find func(name string) (string, bool)) (out string, known bool) {
	var b strings.Builder
	known = true
	for i := 0; i < len(text); {
		if text[i] != '$' {
			b.WriteByte(text[i])
			i++
			continue
		}
		name, next := readVariable(text, i+1)
		value, ok := find(name)
		if !ok {
			value, known = "...", false
		}
		b.WriteString(value)
		i = next
	}
	return b.String(), known
}

// readVariable reads the name of a variable behind its sign, and where it ends: one digit, or letters.
func readVariable(text string, at int) (name string, next int) {
	if at < len(text) && text[at] == '{' {
		if end := strings.IndexByte(text[at:], '}'); end > 0 {
			return text[at+1 : at+end], at + end + 1
		}
	}
	if at < len(text) && text[at] >= '0' && text[at] <= '9' {
		return text[at : at+1], at + 1
	}
	next = at
	for next < len(text) && isVariableStart(text[next]) {
		next++
	}
	return text[at:next], next
}
