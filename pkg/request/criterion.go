package request

import (
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// measure returns what a criterion makes of a candidate; more is better.
func (s *matchSettings) measure(by routing.Criterion, c *candidate) int {
	switch by {
	case routing.ExactHost, routing.HostLength, routing.Labels:
		return measureHost(by, s.decidingHostname(c))
	}
	if c.match == nil {
		return 0
	}
	switch by {
	case routing.WildcardHostLast:
		return s.rankWildcardHost(c)
	case routing.LongestHost:
		return c.routeFacts.longestExact<<16 + c.routeFacts.longest
	case routing.PathType:
		return s.rankPathType(c)
	case routing.PathLength:
		return s.countPathLength(c)
	case routing.MatchedLength:
		return c.matchedLength
	case routing.Method:
		if s.asksForMethod(c) {
			return 1
		}
		return 0
	case routing.Service:
		return len(c.match.service.value)
	case routing.Call:
		return len(c.match.call.value)
	case routing.Headers:
		return s.countHeaders(c, false)
	case routing.HeadersAndMethod:
		return s.countHeaders(c, true)
	case routing.ExactHeaders:
		n := countExact(c.match.headers)
		if s.asksForMethod(c) {
			n++
		}
		return n
	case routing.Query:
		if s.Ignores(routing.IgnoredQuery) {
			return 0
		}
		return len(c.match.query)
	case routing.ExactQuery:
		if s.Ignores(routing.IgnoredQuery) {
			return 0
		}
		return countExact(s.queryOf(c.match))
	case routing.Kind:
		if c.match.grpc {
			return 0
		}
		return 1
	case routing.Score:
		return s.score(c)
	}
	return 0
}

// measureHost returns what a criterion makes of a hostname.
func measureHost(by routing.Criterion, host string) int {
	switch {
	case by == routing.Labels:
		return len(strings.FieldsFunc(host, func(r rune) bool { return r == '.' }))
	case by == routing.ExactHost && strings.HasPrefix(host, "*"):
		return 0
	}
	return len(host)
}

// rankWildcardHost returns the place of a candidate where exact hostnames come first, then wildcards
// and expressions by the length of both, then no hostname.
func (s *matchSettings) rankWildcardHost(c *candidate) int {
	host := s.decidingHostname(c)
	wildcard := strings.HasPrefix(host, "*")
	switch {
	case host == "":
		return 0
	case wildcard && !s.asksForPath(c.match):
		return 1 + len(host)
	case wildcard || s.asksForPath(c.match) && c.rankedPath(s).form == expression:
		return 1 + len(host) + len(c.rankedPath(s).value)
	}
	return 1 << 16
}

// asksForMethod reports whether a candidate is for one method of HTTP alone.
func (s *matchSettings) asksForMethod(c *candidate) bool {
	return c.match.method != "" && !s.Ignores(routing.IgnoredMethod)
}

// countHeaders returns how many header matches count: with a method of gRPC that is one of them, and
// with one of HTTP where that is.
func (s *matchSettings) countHeaders(c *candidate, withMethod bool) int {
	n := len(c.match.headers)
	if withMethod && s.asksForMethod(c) || s.asksForPath(c.match) && c.pathMatch(s).asRoot {
		n++
	}
	return n
}

func countExact(of []valueMatch) int {
	n := 0
	for i := range of {
		if of[i].form == exact {
			n++
		}
	}
	return n
}

// isLast reports whether a candidate is of a GRPCRoute and asks for no service and no method, which
// the data plane has behind all paths.
func (s *matchSettings) isLast(c *candidate) bool {
	if c.match.bare {
		return c.match.grpc && s.GRPCBare == routing.GRPCLast
	}
	return c.match.grpc && c.match.anyCall && s.GRPCAny == routing.GRPCLast
}

// rankPathType returns the place of a path match by its type. An expression has no portable place;
// without one it is below exact paths and above prefixes, which every answer that depends on it
// says.
func (s *matchSettings) rankPathType(c *candidate) int {
	const bareLast, anyLast, afterPrefixes, prefixes, beforePrefixes, itself, exactPaths = 0, 1, 2, 3, 4, 5, 6
	path := c.pathMatch(s)
	form := path.form
	switch {
	case path.asRoot && s.GRPCAny != routing.GRPCLast:
		return prefixes
	case path.asRoot:
		return anyLast
	case s.isLast(c) && c.match.bare:
		return bareLast
	case s.isLast(c):
		return anyLast
	case form == exact:
		return exactPaths
	case c.isPathItself:
		return itself
	case form == prefix:
		return prefixes
	}
	switch s.Regex.Rank {
	case routing.RankByLength, routing.RankAsRoot:
		return prefixes
	case routing.RankAfterPrefix:
		return afterPrefixes
	}
	return beforePrefixes
}

// countPathLength returns how many characters of a path match count among those of one type.
func (s *matchSettings) countPathLength(c *candidate) int {
	path := c.pathMatch(s)
	switch {
	case path.asRoot:
		return len("/")
	case path.form == exact && s.Prefix != routing.Typeless && s.Prefix != routing.PatternExact:
		return 0 // of two that hold, both have one text
	case path.form == exact:
		return len(path.value)
	case path.form == expression && s.Regex.Rank == routing.RankAsRoot:
		return len(s.trimPrefix("/"))
	case path.form == expression && (s.Regex.Longer || s.Regex.Rank == routing.RankByLength):
		return len(path.value)
	case path.form == expression:
		return 0
	}
	if c.match.grpc { // its slash is none that somebody wrote
		return len(path.value)
	}
	return len(s.trimPrefix(path.value))
}

// trimPrefix returns what counts of a path prefix. The slash of / is all that it has.
func (s *matchSettings) trimPrefix(value string) string {
	if s.PrefixLength == routing.Trimmed && value != "/" {
		return trimSlash(value)
	}
	return value
}

// score returns one number for all that a match asks for: 100000 for an exact path, 1 for the prefix
// /, 10000 and 100 a character for others, 1000 for a method, 100 for a header, 10 for a query
// parameter, one for each character of the longest hostname and for each rule of the route from this
// one on. Of a GRPCRoute it is the length of its text as a rule of a router.
func (s *matchSettings) score(c *candidate) int {
	m, facts := c.match, c.routeFacts
	if m.grpc {
		return facts.longest + len(formatRouterRule(m, s.GRPCPath))
	}
	n := facts.longest + facts.rules - c.index + 100*len(m.headers)
	if !s.Ignores(routing.IgnoredQuery) {
		n += 10 * len(m.query)
	}
	switch path := m.path; {
	case path.form == exact:
		n += 100_000
	case path.form == prefix && path.value == "/":
		n++
	default:
		n += 10_000 + 100*len(path.value)
	}
	if s.asksForMethod(c) {
		n += 1000
	}
	return n
}

// formatRouterRule returns a match of a GRPCRoute as the text of a rule, of which the length counts.
func formatRouterRule(m *match, calls routing.GRPCPath) string {
	parts := []string{`PathPrefix("/")`}
	if !m.anyCall {
		parts[0] = "PathRegexp(" + strconv.Quote(m.callPath(calls).value) + ")"
	}
	for _, h := range m.headers {
		function := "Header"
		if h.form == expression {
			function = "HeaderRegexp"
		}
		parts = append(parts, function+"("+strconv.Quote(h.name)+","+strconv.Quote(h.value)+")")
	}
	return strings.Join(parts, " && ")
}
