package model

import "strings"

// HasVariable reports whether there is a variable in a text that nobody has given a value.
func HasVariable(text string) bool {
	_, _, found := CutVariable(text)
	return found
}

// CutVariable finds the first variable in a text: ${NAME}, or with more behind the name as in ${NAME:-default}. $${NAME} is none.
func CutVariable(text string) (name, after string, found bool) {
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			return "", "", false
		}
		escaped := at > 0 && text[at-1] == '$'
		inner, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			return "", "", false
		}
		if name := inner[:nameLength(inner)]; name != "" && !escaped {
			return name, rest, true
		}
		text = rest
	}
}

// nameLength is how much of a text is the name of a variable.
func nameLength(text string) int {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n] >= 'a' && text[n] <= 'z' || text[n] >= 'A' && text[n] <= 'Z' || n > 0 && text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n
}
