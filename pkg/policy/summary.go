package policy

import "strings"

// Summary says what a part of the settings comes to in a few words, for tables: a rate {limit: 100,
// window: 1s} as "100 per 1s".
type Summary struct {
	// where the part is, from the root of the settings; "*" stands for any name, and for any entry
	// of a list
	Field []string
	Text  []string // words and, at odd places, the fields whose values stand between them
}

// NewSummary reads a text in which {field} stands for the value of a field of the part, {} for the
// part itself. ok is false if a brace has no partner.
func NewSummary(field []string, text string) (s Summary, ok bool) {
	s.Field = field
	for {
		words, rest, found := strings.Cut(text, "{")
		if strings.Contains(words, "}") {
			return s, false
		}
		s.Text = append(s.Text, words)
		if !found {
			return s, true
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || strings.Contains(name, "{") {
			return s, false
		}
		s.Text = append(s.Text, name)
		text = after
	}
}

// FitsPath reports whether the summary is about what stands at a place in the settings.
func (s *Summary) FitsPath(at []string) bool {
	if len(at) != len(s.Field) {
		return false
	}
	for i, name := range s.Field {
		if name != "*" && name != at[i] {
			return false
		}
	}
	return true
}
