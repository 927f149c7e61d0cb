package model

import "strings"

// HasVariable reports whether there is something in a text that stands for a value which nobody has
// filled in.
func HasVariable(text string) bool {
	_, _, found := CutVariable(text)
	return found
}

// EncryptedVariable is how CutVariable calls every value that SOPS has encrypted.
const EncryptedVariable = "ENC[…]"

// CutVariable finds the first thing in a text that stands for a value: ${NAME}, or with more behind
// the name as in ${NAME:-default} ($${NAME} is none); {{ a template }}; <path:a secret of a
// vault#key> or <secret:name>; or a value that SOPS has encrypted. The variable is as it stands,
// without what is behind the name.
func CutVariable(text string) (variable, after string, found bool) {
	for at := 0; at < len(text); at++ {
		switch text[at] { // nearly no byte begins one of those below
		case '$', '{', '<', 'E':
		default:
			continue
		}
		rest := text[at:]
		switch {
		case strings.HasPrefix(rest, "${"):
			inner, after, closed := strings.Cut(rest[2:], "}")
			escaped := at > 0 && text[at-1] == '$'
			if name := inner[:variableNameLength(inner)]; closed && name != "" && !escaped {
				return "${" + name + "}", after, true
			}
		case strings.HasPrefix(rest, "{{"):
			if inner, after, closed := strings.Cut(rest[2:], "}}"); closed {
				return "{{ " + strings.TrimSpace(inner) + " }}", after, true
			}
		case strings.HasPrefix(rest, "<path:"), strings.HasPrefix(rest, "<secret:"):
			if inner, after, closed := strings.Cut(rest[1:], ">"); closed {
				return "<" + inner + ">", after, true
			}
		case strings.HasPrefix(rest, "ENC[AES256_GCM,"):
			if _, after, closed := strings.Cut(rest, "]"); closed {
				return EncryptedVariable, after, true
			}
		}
	}
	return "", "", false
}

// variableNameLength is how much of a text is the name of a variable.
func variableNameLength(text string) int {
	n := 0
	for n < len(text) && (text[n] == '_' || text[n] >= 'a' && text[n] <= 'z' || text[n] >= 'A' && text[n] <= 'Z' ||
		n > 0 && text[n] >= '0' && text[n] <= '9') {
		n++
	}
	return n
}
