package request

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// candidate is one match of a rule that may hold for a request, at one place where its route is
// attached.
type candidate struct {
	route, rule topology.NodeID
	object      *model.Object // the route
	index       int           // of the rule in its route
	match       *match        // nil: the route has none, as those for TLS, TCP and UDP
	matchIndex  int           // of the match in its rule
	host        gatewayapi.Hostname
	openReason  string // why it is not known whether the route is attached here; "" if it is
}

// criterion is what decides between two candidates, in the order of the specification (gatewayapi
// G41, G42, G43).
type criterion uint8

const (
	byNothing criterion = iota
	byExactHost
	byHost
	byPath
	byMethod
	byService
	byCall
	byHeaders
	byQuery
	byAge
	byName
	byPosition
)

// matchSettings are the settings in which implementations differ about the order of candidates.
type matchSettings struct {
	sharedListeners    bool // less specific listeners answer as well: no isolation
	effectiveHostnames bool // effective hostnames decide instead of the configured ones
	stripSlash         bool // a slash at the end of a prefix does not count
	methodAsHeader     bool // a method counts like a header
	ignoreAge          bool
	unanchored         bool // expressions may match a part
	regexRank          string
	foreignDialect     bool // expressions are of another dialect than RE2
}

// ambiguousRank is the value of regexRank that leaves the place of expressions open.
const ambiguousRank = "ambiguous"

func readMatchSettings(s model.Settings) matchSettings {
	return matchSettings{
		sharedListeners:    s.IsOff(gatewayapi.ListenerIsolation),
		effectiveHostnames: s.Text(gatewayapi.HostnamePrecedence) == "intersection",
		stripSlash:         s.Text(gatewayapi.PrefixLength) == "stripped",
		methodAsHeader:     s.Text(gatewayapi.MethodRank) == "header",
		ignoreAge:          s.Text(gatewayapi.RouteAgeSource) == "none",
		unanchored:         s.IsOff(gatewayapi.RegexAnchored),
		foreignDialect:     s.Text(gatewayapi.RegexDialect) == "pcre",
		regexRank:          cmp.Or(s.Text(gatewayapi.RegexRank), ambiguousRank),
	}
}

// decidingHostname returns the hostname that decides.
func (s *matchSettings) decidingHostname(c *candidate) string {
	if s.effectiveHostnames {
		return c.host.Effective
	}
	return c.host.Configured
}

// rank is the place of a candidate by its spec: compared entry by entry, more is better. The
// criteria name the entries.
type rank [7]int

var (
	httpCriteria = [...]criterion{byExactHost, byHost, byPath, byPath, byMethod, byHeaders, byQuery}
	grpcCriteria = [...]criterion{byExactHost, byHost, byService, byCall, byHeaders, byNothing, byNothing}
)

func (s *matchSettings) rankCandidate(c *candidate) rank {
	var r rank
	host := s.decidingHostname(c)
	if !strings.HasPrefix(host, "*") {
		r[0] = len(host)
	}
	r[1] = len(host)
	switch m := c.match; {
	case m == nil:
	case m.grpc:
		r[2], r[3], r[4] = len(m.service.value), len(m.call.value), len(m.headers)
	default:
		r[2], r[3] = s.rankPath(m.path)
		r[5], r[6] = s.countHeaders(m), len(m.query)
		if m.method != "" && !s.methodAsHeader {
			r[4] = 1
		}
	}
	return r
}

// countHeaders returns how many header matches count.
func (s *matchSettings) countHeaders(m *match) int {
	if m.method != "" && s.methodAsHeader {
		return len(m.headers) + 1
	}
	return len(m.headers)
}

// rankPath returns the place of a path match: its sort, then its length. An expression has no
// portable place; without a setting it is below exact paths and above prefixes, which every answer
// that depends on it says.
func (s *matchSettings) rankPath(p pathMatch) (sort, length int) {
	switch {
	case p.form == exact:
		return 3, 0
	case p.form == expression && s.regexRank == "byLength":
		return 1, len(p.value)
	case p.form == expression && s.regexRank == "afterPrefix":
		return 0, 0
	case p.form == expression:
		return 2, 0
	case s.stripSlash:
		return 1, len(trimSlash(p.value))
	}
	return 1, len(p.value)
}

// compare tells which of two candidates comes first by what their specs say: less than 0 if a does.
// It also tells what decided.
func (s *matchSettings) compare(a, b *candidate) (int, criterion) {
	ra, rb := s.rankCandidate(a), s.rankCandidate(b)
	for i := range ra {
		if ra[i] != rb[i] {
			if a.match != nil && a.match.grpc {
				return cmp.Compare(rb[i], ra[i]), grpcCriteria[i]
			}
			return cmp.Compare(rb[i], ra[i]), httpCriteria[i]
		}
	}
	return 0, byNothing
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
			order, _ := breakTie(&a, &b, aged)
			return order
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
		if order, _ := breakTie(&same[i], best, aged); order < 0 {
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
	return !s.ignoreAge && !slices.ContainsFunc(cs, func(c candidate) bool { return creationTime(c.object).IsZero() })
}

func creationTime(o *model.Object) time.Time {
	return o.Created
}

// breakTie orders candidates whose specs say the same: older route, then namespace/name as one
// string, then the rule's place.
func breakTie(a, b *candidate, aged bool) (int, criterion) {
	if aged {
		if order := creationTime(a.object).Compare(creationTime(b.object)); order != 0 {
			return order, byAge
		}
	}
	if order := strings.Compare(a.object.Ref.FullName(), b.object.Ref.FullName()); order != 0 {
		return order, byName
	}
	return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.matchIndex, b.matchIndex)), byPosition
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
func (s *matchSettings) decidingCriteria(cs []candidate) []criterion {
	aged := s.canOrderByAge(cs[:s.countEqual(cs)])
	out := make([]criterion, 0, len(cs)-1)
	for i := range cs[1:] {
		_, by := s.compare(&cs[0], &cs[i+1])
		if by == byNothing {
			_, by = breakTie(&cs[0], &cs[i+1], aged)
		}
		out = append(out, by)
	}
	return out
}

// explainOrder says in words why a comes before b.
func (s *matchSettings) explainOrder(a, b *candidate, by criterion) string {
	host := func(c *candidate) string { return cmp.Or(s.decidingHostname(c), "no hostname") }
	switch by {
	case byExactHost:
		if strings.HasPrefix(s.decidingHostname(b), "*") || s.decidingHostname(b) == "" {
			return fmt.Sprintf("hostname %s is exact, %s is not", host(a), host(b))
		}
		return formatLonger("hostname", host(a), host(b))
	case byHost:
		if s.decidingHostname(b) == "" {
			return fmt.Sprintf("it is for hostname %s, the other for any", host(a))
		}
		return formatLonger("hostname", host(a), host(b))
	case byPath:
		if a.match.path.form == b.match.path.form {
			return formatLonger(strings.TrimSuffix(pathMatch{form: a.match.path.form}.formatText(), " "),
				a.match.path.value, b.match.path.value)
		}
		return a.match.path.formatText() + " comes before " + b.match.path.formatText()
	case byMethod:
		return "it is for method " + a.match.method + ", the other for any"
	case byService:
		return formatNamed("service", a.match.service.value, b.match.service.value)
	case byCall:
		return formatNamed("method", a.match.call.value, b.match.call.value)
	case byHeaders:
		return formatCounts(s.countHeaders(a.match), s.countHeaders(b.match), "header match", "header matches")
	case byQuery:
		return formatCounts(len(a.match.query), len(b.match.query), "query match", "query matches")
	case byAge:
		return fmt.Sprintf("the route is older (%s, %s)", formatCreation(a), formatCreation(b))
	case byName:
		reason := "equally old"
		if s.ignoreAge {
			reason = "age does not count"
		} else if creationTime(a.object).IsZero() || creationTime(b.object).IsZero() {
			reason = "no creation time"
		}
		return fmt.Sprintf("%s comes before %s by name: %s", a.object.Ref.FullName(), b.object.Ref.FullName(), reason)
	case byPosition:
		return "it is the earlier rule of the route"
	}
	return "they are the same"
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
