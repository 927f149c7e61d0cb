package model

import "regexp/syntax"

// maxPatternSize is the size from which patterns are only said to be large.
const maxPatternSize = 1 << 30

// PatternSize is about how many instructions a regular expression has, without making them; 0: it
// is none.
func PatternSize(text string) int {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0
	}
	return patternSize(parsed)
}

func patternSize(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = min(n+patternSize(sub), maxPatternSize)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxPatternSize)
}
