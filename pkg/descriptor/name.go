package descriptor

import "strings"

// Plural is the English plural of a kind in lower case, as CRDs are usually named.
func Plural(kind string) string {
	s := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(s, "y") && !strings.ContainsAny(s[max(0, len(s)-2):len(s)-1], "aeiou"):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"):
		return s + "es"
	}
	return s + "s"
}
