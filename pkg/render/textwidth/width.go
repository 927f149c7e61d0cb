package textwidth

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// DisplayWidth is how many columns of a terminal s takes: none for a combining mark, two for a wide
// East Asian character.
func DisplayWidth(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			n++
		case unicode.In(r, unicode.Mn, unicode.Me):
		default:
			n += runeWidth(r)
		}
	}
	return n
}

func runeWidth(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
