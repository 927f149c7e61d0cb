package request

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostWide is with how many matches without conditions those of one hostname are compared, and
// mostPattern how large an expression is that is looked at.
const mostWide, mostPattern = 50, 10_000

// reach says how much of a match another one takes.
type reach uint8

const (
	reachSome  reach = iota // not all of it
	reachBelow              // everything but the path that is the prefix itself
	reachAll
)

// findCovered calls late with the matches that come too late because one without conditions, for a
// wider path, comes first at the data plane: expressions behind a prefix, prefixes behind an
// expression.
func (s *shadowFinder) findCovered(met []attachedRoute, late func(*shadow)) {
	settings := s.settings
	if settings.hasUnknownRank() || settings.foreignDialect || slices.Contains(settings.Order, routing.MatchedLength) {
		return
	}
	prefixFirst := settings.Regex.Rank == routing.RankAfterPrefix
	wide := s.listWide(met, prefixFirst)
	if len(wide) == 0 {
		return
	}
	for _, m := range met {
		for _, p := range s.sums[m.route] {
			if p.late || p.form != expression && (p.form != prefix || prefixFirst) {
				continue
			}
			own := s.buildCandidate(s.routes[m.route], p, m)
			for i := range wide {
				w := &wide[i]
				order, how := settings.compare(&w.candidate, &own)
				if w.rule == own.rule || order >= 0 || !s.areOrdered(&w.candidate, &own) {
					continue
				}
				if found := w.reachOf(&own.match.path, settings); found != reachSome {
					late(&shadow{own: own, by: w.candidate, criterion: how, settings: settings, wider: found})
					break
				}
			}
		}
	}
}

// listWide returns the matches that ask for a path alone, of which one may take all of another match:
// expressions and, where these come after prefixes, prefixes. It returns none where there are no
// expressions.
func (s *shadowFinder) listWide(met []attachedRoute, prefixFirst bool) []wideMatch {
	var found []candidate
	expressions := false
	for _, m := range met {
		for _, p := range s.sums[m.route] {
			expressions = expressions || p.form == expression
			if p.late || p.form != expression && (p.form != prefix || !prefixFirst) {
				continue
			}
			if c := s.buildCandidate(s.routes[m.route], p, m); s.settings.isUnconditional(&c) && !s.isOut(&c) {
				found = append(found, c)
			}
		}
		if expressions && len(found) > 20*mostWide {
			break
		}
	}
	if !expressions {
		return nil
	}
	s.settings.sortCandidates(found)
	var out []wideMatch
	for i := range found[:min(len(found), mostWide)] {
		if w, ok := s.readWide(&found[i]); ok {
			out = append(out, w)
		}
	}
	return out
}

// isOut reports whether a candidate keeps nothing from others: it delegates to other routes, or its
// hostname belongs to another listener.
func (s *shadowFinder) isOut(c *candidate) bool {
	return isDelegating(s.matcher.graph, c.rule) ||
		s.matcher.graph.Node(c.place).Role == topology.Listener && s.matcher.isHostnameTaken(c, s.settings)
}

// areOrdered reports whether the order of two candidates is the one that compare tells.
func (s *shadowFinder) areOrdered(a, b *candidate) bool {
	if s.settings.HostGroups == routing.GroupsUnsorted && a.host.Configured != b.host.Configured {
		return false
	}
	t := trace{matcher: s.matcher, settings: s.settings}
	return t.explainUndecided(a, b) == ""
}

// isUnconditional reports whether a candidate asks for nothing but a path, as the data plane reads
// it.
func (s *matchSettings) isUnconditional(c *candidate) bool {
	return !s.asksForMethod(c) && len(c.match.headers) == 0 &&
		(len(c.match.query) == 0 || s.Ignores(routing.IgnoredQuery))
}

// wideMatch is a match that asks for a path alone.
type wideMatch struct {
	candidate
	start   *regexp.Regexp // of an expression: what follows a text for which it holds does not matter
	oneMore bool           // but there has to be something
	whole   *regexp.Regexp // the expression
}

// readWide reads a match that may take all of another one; false: an expression that takes all that
// begins with no text.
func (s *shadowFinder) readWide(c *candidate) (w wideMatch, ok bool) {
	w.candidate = *c
	if c.match.path.form == prefix {
		return w, true
	}
	text, tied := c.match.path.value, s.settings.Regex.Tied
	if model.PatternSize(text) > mostPattern {
		return w, false
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil || endsText(re) {
		return w, false
	}
	var errWhole error
	w.whole, errWhole = regexp.Compile(tieExpression(text, tied))
	if tied == routing.TiedBoth || tied == routing.TiedUnknown { // then it has to take the rest as well
		parts := flatten(re)
		last := parts[len(parts)-1]
		w.oneMore = last.Op == syntax.OpPlus
		if last.Op != syntax.OpStar && !w.oneMore || !isAnyText(last.Sub[0]) {
			return w, false
		}
		text, tied = "", routing.TiedStart
		for _, part := range parts[:len(parts)-1] {
			text += "(?:" + part.String() + ")"
		}
	}
	w.start, err = regexp.Compile(tieExpression(text, tied))
	return w, err == nil && errWhole == nil
}

// reachOf says how much of the paths of another match this one holds for.
func (w *wideMatch) reachOf(own *pathMatch, s *matchSettings) reach {
	stem := trimSlash(own.value) + "/"
	if own.form == expression {
		stem = literalStart(own, s.Regex.Tied)
	}
	switch {
	case w.start == nil && s.holdsFrom(&w.match.path, stem):
		return reachAll
	case w.start == nil, !w.start.MatchString(stem[:max(0, len(stem)-len(chooseText(w.oneMore, "/", "")))]):
		return reachSome
	case own.form == expression, s.Prefix == routing.OwnExact && strings.HasSuffix(own.value, "/"):
		return reachAll
	case s.Prefix == routing.OwnExact: // which comes before expressions
		return reachBelow
	case w.whole.MatchString(chooseText(stem == "/", "/", trimSlash(stem))):
		return reachAll
	}
	return reachSome
}

// holdsFrom reports whether a prefix holds for every path that begins with a text.
func (s *matchSettings) holdsFrom(p *pathMatch, stem string) bool {
	with := trimSlash(p.value)
	if s.Prefix != routing.ByCharacters {
		with += "/"
	}
	return with == "/" || with == "" || strings.HasPrefix(stem, with)
}

// literalStart returns a text with which every path begins that an expression holds for.
func literalStart(p *pathMatch, tied routing.Tied) string {
	if tied != routing.TiedBoth && tied != routing.TiedStart || model.PatternSize(p.value) > mostPattern {
		return ""
	}
	re, err := regexp.Compile(strings.TrimPrefix(p.value, "^"))
	if err != nil {
		return ""
	}
	start, _ := re.LiteralPrefix()
	return start
}

// flatten returns the parts of an expression that follow each other, groups opened.
func flatten(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture:
		return flatten(re.Sub[0])
	case syntax.OpConcat:
		var out []*syntax.Regexp
		for _, sub := range re.Sub {
			out = append(out, flatten(sub)...)
		}
		return out
	}
	return []*syntax.Regexp{re}
}

// endsText reports whether an expression asks where a text, a line or a word ends.
func endsText(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpEndText, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, endsText)
}

func isAnyText(re *syntax.Regexp) bool {
	return re.Op == syntax.OpAnyChar || re.Op == syntax.OpAnyCharNotNL
}

// explain says why the match comes too late.
func (s *shadow) explain(g *topology.Graph) string {
	by, why := g.Node(s.by.rule).Ref, s.settings.explainOrder(&s.by, &s.own, s.criterion)
	switch {
	case s.wider == reachBelow:
		return fmt.Sprintf("only requests to %s itself reach it: %s takes all below that, without conditions, and comes first: %s",
			s.own.match.path.value, by, why)
	case s.wider == reachAll:
		return fmt.Sprintf("no request reaches it: %s is for all of its paths, without conditions, and comes first: %s", by,
			why)
	}
	return fmt.Sprintf("no request reaches it: %s has the same matches%s and comes first: %s", by, s.formatDifference(),
		why)
}

// formatDifference says in which conditions two matches differ that count as one.
func (s *shadow) formatDifference() string {
	if s.own.match == nil || string(s.own.match.appendKey(nil)) == string(s.by.match.appendKey(nil)) {
		return ""
	}
	return " but for " + s.settings.formatIgnored() + ", which " + s.settings.Name + " does not look at,"
}

// formatIgnored says which conditions are not looked at.
func (s *matchSettings) formatIgnored() string {
	var out []string
	if s.Ignores(routing.IgnoredMethod) {
		out = append(out, "methods")
	}
	if s.Ignores(routing.IgnoredQuery) {
		out = append(out, "query parameters")
	}
	return strings.Join(out, " and ")
}

// sumsAt returns the sums of the matches of a route as the data plane reads them.
func (s *shadowFinder) sumsAt(route int) []matchSum {
	if !s.settings.ignoresConditions() {
		return s.sums[route]
	}
	key := s.settings.formatIgnored()
	if s.otherSums[key] == nil {
		s.otherSums[key] = map[int][]matchSum{}
	}
	known, ok := s.otherSums[key][route]
	if !ok {
		known = s.sumMatches(s.routes[route], s.settings)
		for i := range known {
			known[i].late = s.sums[route][i].late
		}
		s.otherSums[key][route] = known
	}
	return known
}

// ignoresConditions reports whether the data plane does not look at some conditions of matches.
func (s *matchSettings) ignoresConditions() bool {
	return s.Ignores(routing.IgnoredMethod) || s.Ignores(routing.IgnoredQuery)
}

// readMatch returns a match as the data plane reads it.
func (s *matchSettings) readMatch(m *match) *match {
	if !s.ignoresConditions() {
		return m
	}
	out := *m
	if s.Ignores(routing.IgnoredMethod) {
		out.method = ""
	}
	if s.Ignores(routing.IgnoredQuery) {
		out.query = nil
	}
	return &out
}
