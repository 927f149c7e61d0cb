package space

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// alphabet says which texts there are.
type alphabet uint8

const (
	valueAlphabet  alphabet = iota // of query parameters
	headerAlphabet                 // of headers: no blank at an end
	pathAlphabet                   // as they stand in a request: a slash first, no blank, no question mark
)

// textSplitter splits the values of one part of a request: each exact one, what is below each
// prefix and below no longer one, and by which expressions hold.
type textSplitter struct {
	alphabet    alphabet
	exact       map[string]bool
	prefixes    map[string]bool // "" is everything
	expressions []string
	regexes     []*regexp.Regexp
	texts       map[string]string // of expressions: as they are configured
	stepsLeft   *int              // that are left for all of a walk; nil: only the bound of each counts
	sets        []textSet
}

// textSet is a set of texts that nothing tells apart.
type textSet struct {
	textKey
	text string // the shortest of them
}

// textKey tells sets of texts apart.
type textKey struct {
	exact  bool
	prefix string // the exact text, or the prefix
	holds  string // a byte for each expression: 1 if it holds
}

func newTextSplitter(of alphabet, tests []request.Test) *textSplitter {
	t := &textSplitter{alphabet: of, exact: map[string]bool{}, prefixes: map[string]bool{"": true},
		texts: map[string]string{}}
	for i := range tests {
		switch test := &tests[i]; test.Form {
		case request.Exact:
			if t.canBeValue(test.Value) {
				t.exact[test.Value] = true
			}
		case request.Prefix:
			if t.canBeValue(test.Value) {
				t.prefixes[test.Value] = true
			}
		case request.Expression:
			if !slices.Contains(t.expressions, test.Value) {
				t.expressions = append(t.expressions, test.Value)
				t.regexes = append(t.regexes, regexp.MustCompile(anchorExpression(test.Value)))
				t.texts[test.Value] = cmp.Or(test.Text, test.Value)
			}
		}
	}
	return t
}

// anchorExpression returns an expression that has to match a whole text.
func anchorExpression(expr string) string {
	return `\A(?:` + expr + `)\z`
}

// canBeValue reports whether a request can have the text.
func (t *textSplitter) canBeValue(text string) bool {
	control := func(r rune) bool { return r < 0x20 || r == 0x7f }
	switch {
	case strings.ContainsFunc(text, control):
		return false
	case t.alphabet == headerAlphabet:
		return strings.TrimSpace(text) == text
	case t.alphabet == pathAlphabet:
		return strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " ?#")
	}
	return true
}

// keyOf returns the key of the set that a text is in.
func (t *textSplitter) keyOf(text string) textKey {
	p := textKey{exact: t.exact[text], prefix: text, holds: t.matchExpressions(text)}
	if p.exact {
		return p
	}
	t.eachPrefix(text, func(stem string) {
		if t.prefixes[stem] {
			p.prefix = stem
		}
	})
	return p
}

// eachPrefix calls see for every prefix of a text that ends where an element does, the shortest
// first.
func (t *textSplitter) eachPrefix(text string, see func(string)) {
	see("")
	for i := 1; i <= len(text) && len(t.prefixes) > 1; i++ {
		if i == len(text) || text[i] == '/' {
			see(text[:i])
		}
	}
}

func (t *textSplitter) matchExpressions(text string) string {
	if len(t.expressions) == 0 {
		return ""
	}
	out := make([]byte, len(t.expressions))
	for i, re := range t.regexes {
		if re.MatchString(text) {
			out[i] = 1
		}
	}
	return string(out)
}

// splitTexts finds the sets, in the order of their texts; false if there are more than can be told.
func (t *textSplitter) splitTexts() bool {
	if len(t.expressions) > 0 {
		found, ok := exploreTexts(t)
		t.sets = found
		return ok
	}
	for text := range t.exact {
		t.sets = append(t.sets, textSet{t.keyOf(text), text})
	}
	for stem := range t.prefixes {
		t.sets = append(t.sets, textSet{textKey{prefix: stem}, t.findShortest(stem)})
	}
	t.sortSets()
	return true
}

func (t *textSplitter) sortSets() {
	slices.SortFunc(t.sets, func(a, b textSet) int { return strings.Compare(a.text, b.text) })
}

// findShortest returns a shortest text below a prefix that is below no longer one and is no exact
// text.
func (t *textSplitter) findShortest(stem string) string {
	here := func(text string) bool { return t.canBeValue(text) && t.keyOf(text) == textKey{prefix: stem} }
	begin := stem
	if t.alphabet == pathAlphabet {
		if stem != "" && here(stem) {
			return stem
		}
		begin += "/"
	}
	if t.alphabet == pathAlphabet && here(begin) {
		return begin
	}
	const letters = "xyzabcdefghijklmnopqrstuvw0123456789"
	for last := []string{begin}; ; {
		next := make([]string, 0, len(last)*len(letters))
		for _, text := range last {
			for _, c := range letters {
				if one := text + string(c); here(one) {
					return one
				} else {
					next = append(next, one)
				}
			}
		}
		last = next
	}
}

// isTestMet reports whether a test holds for the texts of a set.
func (t *textSplitter) isTestMet(test *request.Test, p *textSet) bool {
	switch test.Form {
	case request.Exact:
		return p.text == test.Value
	case request.Prefix:
		rest, found := strings.CutPrefix(p.text, test.Value)
		return found && (rest == "" || rest[0] == '/')
	}
	return p.textKey.holds[slices.Index(t.expressions, test.Value)] == 1
}

// literalPrefix returns what all texts begin with for which an expression holds, as far as it says
// so plainly.
func literalPrefix(expr string) string {
	re, err := regexp.Compile(strings.TrimPrefix(strings.TrimPrefix(expr, "^"), `\A`))
	if err != nil {
		return ""
	}
	text, _ := re.LiteralPrefix()
	return text
}

// canBeginWith reports whether a text of a set of paths may begin with what is given.
func (p *textSet) canBeginWith(lead string) bool {
	if p.exact {
		return strings.HasPrefix(p.text, lead)
	}
	begin := p.prefix + "/"
	return strings.HasPrefix(begin, lead) || strings.HasPrefix(lead, begin)
}
