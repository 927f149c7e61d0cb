package space

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// alphabet says which texts there are.
type alphabet uint8

const (
	values  alphabet = iota // of query parameters
	trimmed                 // of headers: no blank at an end
	paths                   // as they stand in a request: a slash first, no blank, no question mark
)

// texts splits the values of one part of a request: each exact one, what is below each prefix and below no longer one, and by which expressions hold.
type texts struct {
	of     alphabet
	exact  map[string]bool
	stems  map[string]bool // "" is everything
	exprs  []string
	whole  []*regexp.Regexp
	loose  bool // expressions may match a part
	steps  *int // that are left for all of a walk; nil: only the bound of each counts
	pieces []piece
}

// piece is a set of texts that nothing tells apart.
type piece struct {
	place
	text string // the shortest of them
}

// place is where a text stands.
type place struct {
	exact bool
	stem  string // the exact text, or the prefix
	holds string // a byte for each expression: 1 if it holds
}

func newTexts(of alphabet, tests []request.Test, loose bool) *texts {
	t := &texts{of: of, exact: map[string]bool{}, stems: map[string]bool{"": true}, loose: loose}
	for i := range tests {
		switch test := &tests[i]; test.Form {
		case request.Exact:
			if t.written(test.Value) {
				t.exact[test.Value] = true
			}
		case request.Prefix:
			if t.written(test.Value) {
				t.stems[test.Value] = true
			}
		case request.Expression:
			if !slices.Contains(t.exprs, test.Value) {
				t.exprs = append(t.exprs, test.Value)
				t.whole = append(t.whole, regexp.MustCompile(anchored(test.Value, loose)))
			}
		}
	}
	return t
}

// anchored is an expression that has to match a whole text.
func anchored(expr string, loose bool) string {
	if loose {
		return `(?s:\A.*)(?:` + expr + `)(?s:.*\z)`
	}
	return `\A(?:` + expr + `)\z`
}

// written reports whether a request can have the text.
func (t *texts) written(text string) bool {
	control := func(r rune) bool { return r < 0x20 || r == 0x7f }
	switch {
	case strings.ContainsFunc(text, control):
		return false
	case t.of == trimmed:
		return strings.TrimSpace(text) == text
	case t.of == paths:
		return strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " ?#")
	}
	return true
}

// at is where a text stands.
func (t *texts) at(text string) place {
	p := place{exact: t.exact[text], stem: text, holds: t.held(text)}
	if p.exact {
		return p
	}
	t.above(text, func(stem string) {
		if t.stems[stem] {
			p.stem = stem
		}
	})
	return p
}

// above calls see for every prefix of a text that ends where an element does, the shortest first.
func (t *texts) above(text string, see func(string)) {
	see("")
	for i := 1; i <= len(text) && len(t.stems) > 1; i++ {
		if i == len(text) || text[i] == '/' {
			see(text[:i])
		}
	}
}

func (t *texts) held(text string) string {
	if len(t.exprs) == 0 {
		return ""
	}
	out := make([]byte, len(t.exprs))
	for i, re := range t.whole {
		if re.MatchString(text) {
			out[i] = 1
		}
	}
	return string(out)
}

// split finds the pieces, in the order of their texts; false if there are more than can be told.
func (t *texts) split() bool {
	if len(t.exprs) > 0 {
		found, ok := explore(t)
		t.pieces = found
		return ok
	}
	for text := range t.exact {
		t.pieces = append(t.pieces, piece{t.at(text), text})
	}
	for stem := range t.stems {
		t.pieces = append(t.pieces, piece{place{stem: stem}, t.shortest(stem)})
	}
	t.sort()
	return true
}

func (t *texts) sort() {
	slices.SortFunc(t.pieces, func(a, b piece) int { return strings.Compare(a.text, b.text) })
}

// shortest is a shortest text below a prefix that is below no longer one and no exact text.
func (t *texts) shortest(stem string) string {
	here := func(text string) bool { return t.written(text) && t.at(text) == place{stem: stem} }
	begin := stem
	if t.of == paths {
		if stem != "" && here(stem) {
			return stem
		}
		begin += "/"
	}
	if t.of == paths && here(begin) {
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

// holds reports whether a test holds for the texts of a piece.
func (t *texts) holds(test *request.Test, p *piece) bool {
	switch test.Form {
	case request.Exact:
		return p.text == test.Value
	case request.Prefix:
		rest, found := strings.CutPrefix(p.text, test.Value)
		return found && (rest == "" || rest[0] == '/')
	}
	return p.place.holds[slices.Index(t.exprs, test.Value)] == 1
}

// lead is what all texts begin with for which an expression holds, as far as it says so plainly.
func lead(expr string) string {
	re, err := regexp.Compile(strings.TrimPrefix(strings.TrimPrefix(expr, "^"), `\A`))
	if err != nil {
		return ""
	}
	text, _ := re.LiteralPrefix()
	return text
}

// mayBegin reports whether a text of a piece of paths may begin with what is given.
func (p *piece) mayBegin(lead string) bool {
	if p.exact {
		return strings.HasPrefix(p.text, lead)
	}
	begin := p.stem + "/"
	return strings.HasPrefix(begin, lead) || strings.HasPrefix(lead, begin)
}
