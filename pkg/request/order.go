package request

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// decidingHostname returns the hostname that decides.
func (s *matchSettings) decidingHostname(c *candidate) string {
	if s.Hostname == routing.Effective {
		return c.host.Effective
	}
	return c.host.Configured
}

// matchCriteria returns the criteria about what matches say, in order, for candidates of the kind of
// one: those of GRPCRoutes have their own where they do not compete with HTTPRoutes (gatewayapi G42).
func (s *matchSettings) matchCriteria(c *candidate) []routing.Criterion {
	switch {
	case c.match == nil:
		return []routing.Criterion{routing.ExactHost, routing.HostLength}
	case c.match.grpc && s.Kinds == routing.KindsSeparate:
		if s.callCriteria == nil {
			s.callCriteria = toCallCriteria(s.MatchCriteria())
		}
		return s.callCriteria
	}
	return s.MatchCriteria()
}

// toCallCriteria returns an order for GRPCRoutes alone: the length of the service and of the method
// in the place of that of the path, and nothing of methods of HTTP and of queries. It is never nil.
func toCallCriteria(of []routing.Criterion) []routing.Criterion {
	out := []routing.Criterion{}
	for _, by := range of {
		switch by {
		case routing.PathType, routing.Method, routing.Query, routing.ExactQuery, routing.Kind:
		case routing.PathLength, routing.MatchedLength, routing.Score:
			out = append(out, routing.Service, routing.Call)
		case routing.HeadersAndMethod:
			out = append(out, routing.Headers)
		default:
			out = append(out, by)
		}
	}
	return out
}

// compare tells which of two candidates comes first by what their specs say: less than 0 if a does.
// It also tells what decided, "" if nothing did.
func (s *matchSettings) compare(a, b *candidate) (int, routing.Criterion) {
	for _, by := range s.matchCriteria(a) {
		if order := s.compareBy(by, a, b); order != 0 {
			return order, by
		}
	}
	return 0, ""
}

// compareBy compares two candidates by one criterion about what their matches say.
func (s *matchSettings) compareBy(by routing.Criterion, a, b *candidate) int {
	if by == routing.PathText {
		return strings.Compare(s.pathText(b), s.pathText(a))
	}
	return cmp.Compare(s.measure(by, b), s.measure(by, a))
}

func (s *matchSettings) pathText(c *candidate) string {
	switch {
	case c.match == nil:
		return ""
	case !s.asksForPath(c.match):
		return c.match.service.value + "/" + c.match.call.value
	}
	return c.rankedPath(s).value
}

// rankedPath returns what the match asks of the path as it is ranked.
func (c *candidate) rankedPath(s *matchSettings) pathMatch {
	if path := c.pathMatch(s); !path.asRoot {
		return path
	}
	return pathMatch{form: prefix, value: "/"}
}

// measure returns what a criterion makes of a candidate; more is better.
func (s *matchSettings) measure(by routing.Criterion, c *candidate) int {
	host := s.decidingHostname(c)
	wildcard := strings.HasPrefix(host, "*")
	switch by {
	case routing.ExactHost:
		if wildcard {
			return 0
		}
		return len(host)
	case routing.HostLength:
		return len(host)
	case routing.Labels:
		return len(strings.FieldsFunc(host, func(r rune) bool { return r == '.' }))
	}
	if c.match == nil {
		return 0
	}
	switch by {
	case routing.WildcardHostLast:
		switch {
		case host == "":
			return 0
		case wildcard && !s.asksForPath(c.match):
			return 1 + len(host)
		case wildcard || s.asksForPath(c.match) && c.rankedPath(s).form == expression:
			return 1 + len(host) + len(c.rankedPath(s).value)
		}
		return 1 << 16
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

// sortCandidates puts the best candidate first. What a spec does not decide, the age of the routes
// does, then their names. If one of several equal candidates has no creation time, these are
// ordered by name alone, because age would not order them consistently (gatewayapi G47).
func (s *matchSettings) sortCandidates(cs []candidate) {
	slices.SortStableFunc(cs, func(a, b candidate) int {
		order, _ := s.compare(&a, &b)
		return order
	})
	for first := 0; first < len(cs); {
		last := first + s.countEqual(cs[first:])
		same := cs[first:last]
		aged := s.canOrderByAge(same)
		slices.SortStableFunc(same, func(a, b candidate) int {
			order, _ := s.breakTie(&a, &b, aged)
			return cmp.Or(order, orderUndecided(&a, &b))
		})
		first = last
	}
}

// findBest returns the candidate that sortCandidates would put first, nil if there is none.
func (s *matchSettings) findBest(cs []candidate) *candidate {
	var same []candidate
	for i := range cs {
		order := -1
		if same != nil {
			order, _ = s.compare(&cs[i], &same[0])
		}
		switch {
		case order < 0:
			same = append(same[:0], cs[i])
		case order == 0:
			same = append(same, cs[i])
		}
	}
	if same == nil {
		return nil
	}
	best, aged := &same[0], s.canOrderByAge(same)
	for i := range same {
		if order, _ := s.breakTie(&same[i], best, aged); cmp.Or(order, orderUndecided(&same[i], best)) < 0 {
			best = &same[i]
		}
	}
	return best
}

func (s *matchSettings) isEqual(a, b *candidate) bool {
	order, _ := s.compare(a, b)
	return order == 0
}

// canOrderByAge reports whether the age of the routes can order the candidates.
func (s *matchSettings) canOrderByAge(cs []candidate) bool {
	return s.countsAge() && !slices.ContainsFunc(cs, func(c candidate) bool { return creationTime(c.object).IsZero() })
}

func creationTime(o *model.Object) time.Time {
	return o.Created
}

// breakTie orders candidates whose specs say the same: by the age of the route, its name and the
// rule's place, as far as these count. It is 0 for different rules where nothing orders them.
func (s *matchSettings) breakTie(a, b *candidate, aged bool) (int, routing.Criterion) {
	tieBreaks := s.TieBreaks()
	if a.match == nil { // routes of connections, which all have the same order (gatewayapi G43)
		tieBreaks = []routing.Criterion{routing.Age, routing.Name}
	}
	for _, by := range tieBreaks {
		order := 0
		switch by {
		case routing.Age:
			if aged {
				order = creationTime(a.object).Compare(creationTime(b.object))
			}
		case routing.Namespace:
			order = strings.Compare(a.object.Ref.Namespace, b.object.Ref.Namespace)
		case routing.Name:
			order = strings.Compare(a.object.Ref.FullName(), b.object.Ref.FullName())
		case routing.Rule:
			order = cmp.Compare(a.index, b.index)
		}
		if order != 0 {
			return order, by
		}
	}
	if a.rule == b.rule {
		return cmp.Compare(a.matchIndex, b.matchIndex), routing.Rule
	}
	return 0, ""
}

// orderUndecided puts candidates that nothing orders by name, so that answers do not depend on the
// order of the input.
func orderUndecided(a, b *candidate) int {
	return cmp.Or(strings.Compare(a.object.Ref.FullName(), b.object.Ref.FullName()), cmp.Compare(a.index, b.index),
		cmp.Compare(a.matchIndex, b.matchIndex))
}

// countEqual counts the first of sorted candidates and those behind it that rank equally.
func (s *matchSettings) countEqual(cs []candidate) int {
	n := 1
	for n < len(cs) && s.isEqual(&cs[0], &cs[n]) {
		n++
	}
	return n
}

// decidingCriteria returns for every candidate but the first what put the first one before it. The
// candidates are sorted.
func (s *matchSettings) decidingCriteria(cs []candidate) []routing.Criterion {
	aged := s.canOrderByAge(cs[:s.countEqual(cs)])
	out := make([]routing.Criterion, 0, len(cs)-1)
	for i := range cs[1:] {
		_, by := s.compare(&cs[0], &cs[i+1])
		if by == "" {
			_, by = s.breakTie(&cs[0], &cs[i+1], aged)
		}
		out = append(out, by)
	}
	return out
}

// explainOrder says in words why a comes before b.
func (s *matchSettings) explainOrder(a, b *candidate, by routing.Criterion) string {
	hostA, hostB := s.decidingHostname(a), s.decidingHostname(b)
	switch by {
	case routing.ExactHost:
		if strings.HasPrefix(hostB, "*") || hostB == "" {
			return fmt.Sprintf("hostname %s is exact, %s is not", cmp.Or(hostA, "no hostname"),
				cmp.Or(hostB, "no hostname"))
		}
		return formatLonger("hostname", hostA, hostB)
	case routing.HostLength, routing.Labels, routing.LongestHost:
		if hostB == "" {
			return fmt.Sprintf("it is for hostname %s, the other for any", hostA)
		}
		if by == routing.LongestHost {
			return fmt.Sprintf("%s counts the longest hostname of a route: %d characters, the other has %d", s.Name,
				a.routeFacts.longest, b.routeFacts.longest)
		}
		return formatLonger("hostname", hostA, hostB)
	case routing.WildcardHostLast:
		return s.Name + " tries exact hostnames before wildcards and expressions, and those before no hostname"
	case routing.PathType, routing.PathLength, routing.PathText:
		return s.explainPathOrder(a, b, by)
	case routing.MatchedLength:
		return fmt.Sprintf("it matches %d characters of the path, the other %d (%s)", a.matchedLength, b.matchedLength,
			s.Name)
	case routing.Method:
		return "it is for method " + a.match.method + ", the other for any"
	case routing.Service:
		return formatNamed("service", a.match.service.value, b.match.service.value)
	case routing.Call:
		return formatNamed("method", a.match.call.value, b.match.call.value)
	case routing.Headers:
		return formatCounts(s.countHeaders(a, false), s.countHeaders(b, false), "header match", "header matches")
	case routing.HeadersAndMethod:
		text := formatCounts(s.countHeaders(a, true), s.countHeaders(b, true), "header match", "header matches")
		if a.match.method != "" || b.match.method != "" {
			text += " (a method is one of them)"
		}
		return text
	case routing.ExactHeaders, routing.ExactQuery:
		return "more of its matches are exact"
	case routing.Query:
		return formatCounts(len(a.match.query), len(b.match.query), "query match", "query matches")
	case routing.Kind:
		return s.Name + " tries HTTPRoutes before GRPCRoutes"
	case routing.Score:
		return fmt.Sprintf("%s: %d beats %d", s.Name, s.score(a), s.score(b))
	case routing.Age:
		return fmt.Sprintf("the route is older (%s, %s)", formatCreation(a), formatCreation(b))
	case routing.Name, routing.Namespace:
		reason := "equally old"
		if !s.countsAge() {
			reason = "age does not count"
		} else if creationTime(a.object).IsZero() || creationTime(b.object).IsZero() {
			reason = "no creation time"
		}
		return fmt.Sprintf("%s comes before %s by name: %s", a.object.Ref.FullName(), b.object.Ref.FullName(), reason)
	case routing.Rule:
		if a.route != b.route {
			return "it is an earlier rule of its route"
		}
		return "it is the earlier rule of the route"
	}
	return "nothing orders them"
}

// explainPathOrder says why the path match of a comes before that of b.
func (s *matchSettings) explainPathOrder(a, b *candidate, by routing.Criterion) string {
	pathA, pathB := a.pathMatch(s), b.pathMatch(s)
	textA, textB := pathA.formatText(), pathB.formatText()
	switch {
	case a.isPathItself && !b.isPathItself:
		return fmt.Sprintf("%s tries %s itself as an exact path, before expressions", s.Name, textA)
	case by == routing.PathText:
		return fmt.Sprintf("of texts of one length %s tries the larger one first: %s, then %s", s.Name, pathA.value,
			pathB.value)
	case pathA.form == pathB.form || by == routing.PathLength && s.Prefix == routing.Typeless:
		return formatLonger(strings.TrimSuffix(pathMatch{form: pathA.form}.formatText(), " "), pathA.value, pathB.value)
	case s.described && pathA.form == expression && pathB.form == prefix && by == routing.PathType:
		return s.Name + " tries expressions before prefixes"
	case s.described && pathA.form == prefix && pathB.form == expression && by == routing.PathType:
		return s.Name + " tries prefixes before expressions"
	case by == routing.PathLength:
		return fmt.Sprintf("%s compares lengths: %s is longer than %s", s.Name, textA, textB)
	}
	return textA + " comes before " + textB
}

func formatCreation(c *candidate) string { return creationTime(c.object).UTC().Format(time.RFC3339) }

func formatLonger(what, a, b string) string {
	return fmt.Sprintf("%s %s is longer than %s", what, a, b)
}

func formatNamed(what, a, b string) string {
	if b == "" {
		return "it is for " + what + " " + a + ", the other for any"
	}
	return formatLonger(what, a, b)
}

func formatCounts(a, b int, one, many string) string {
	noun := many
	if a == 1 {
		noun = one
	}
	if b == 0 {
		return fmt.Sprintf("it has %d %s, the other none", a, noun)
	}
	return fmt.Sprintf("it has %d %s, the other %d", a, noun, b)
}
