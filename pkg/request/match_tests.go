package request

import (
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// toTests returns what a candidate asks for as the data plane reads it, that of the path first. An
// Expression has to match a whole text.
func (s *matchSettings) toTests(c *candidate) []Test {
	m := c.match
	if m == nil {
		return nil
	}
	var out []Test
	add := func(of Aspect, v valueMatch, tied routing.Tied) {
		switch v.form {
		case exact:
			out = append(out, Test{Aspect: of, Name: v.name, Form: Exact, Value: v.value})
		case expression:
			out = append(out, Test{Aspect: of, Name: v.name, Form: Expression, Value: completeExpression(v.value, tied),
				Text: v.value})
		}
	}
	path := c.pathMatch(s)
	switch {
	case !s.asksForPath(m):
		add(AspectService, m.service, s.Regex.Tied)
		add(AspectCall, m.call, s.Regex.Tied)
	case path.form == prefix:
		out = s.addPrefixTest(out, path.value)
	case path.glob != nil && s.Prefix == routing.PatternExact:
		out = append(out, Test{Aspect: AspectPath, Form: Expression, Value: globToExpression(path.value),
			Text: path.value})
	default:
		add(AspectPath, valueMatch{form: path.form, value: path.value}, s.Regex.Tied)
	}
	if m.method != "" && !s.Ignores(routing.IgnoredMethod) {
		out = append(out, Test{Aspect: AspectMethod, Value: m.method})
	}
	for _, h := range m.headers {
		if s.Headers == routing.SplitValues && h.form == exact {
			out = append(out, Test{Aspect: AspectHeader, Name: h.name, Form: Expression,
				Value: `(?:.*,)?[ \t]*` + regexp.QuoteMeta(h.value) + `[ \t]*(?:,.*)?`, Text: h.value})
			continue
		}
		add(AspectHeader, h, s.Regex.HeaderTied)
	}
	if !s.Ignores(routing.IgnoredQuery) {
		for _, q := range s.queryOf(m) {
			add(AspectQuery, q, s.Regex.HeaderTied)
		}
	}
	return out
}

// addPrefixTest adds what a prefix asks for; none asks for the root.
func (s *matchSettings) addPrefixTest(to []Test, value string) []Test {
	stem := trimSlash(value)
	switch {
	case stem == "":
		return to
	case s.Prefix == routing.ByCharacters, s.Prefix == routing.OwnExact && strings.HasSuffix(value, "/"):
		return append(to, Test{Aspect: AspectPath, Form: Expression, Value: regexp.QuoteMeta(value) + `(?s:.*)`,
			Text: value + "…"})
	}
	return append(to, Test{Aspect: AspectPath, Form: Prefix, Value: stem})
}

// completeExpression returns an expression that matches whole texts where one that is tied to some
// ends of a text matches a part.
func completeExpression(text string, tied routing.Tied) string {
	switch tied {
	case routing.TiedStart:
		return `(?:` + text + `)(?s:.*)`
	case routing.TiedNowhere:
		return `(?s:\A.*)(?:` + text + `)(?s:.*\z)`
	}
	return text
}
