package request

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// candidate is one match of a rule that may hold for a request, at one place where its route is attached.
type candidate struct {
	route, rule topology.NodeID
	object      *model.Object // the route
	index       int           // of the rule in its route
	match       *match        // nil: the route has none, as those for TLS, TCP and UDP
	nth         int           // of the match in its rule
	host        topology.Hostname
	open        string // why it is not known whether the route is attached here; "" if it is
}

// criterion is what decides between two candidates, in the order of the specification (gatewayapi G41, G42, G43).
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

// switches are the settings in which implementations differ, as they bear on the order.
type switches struct {
	shared       bool // less specific listeners answer as well: no isolation
	intersection bool // effective hostnames decide instead of the configured ones
	stripped     bool // a slash at the end of a prefix does not count
	methodHeader bool // a method counts like a header
	ageless      bool
	loose        bool // expressions may match a part
	regexRank    string
	foreign      bool // expressions are of another dialect than RE2
}

// ambiguousRank is the value of regexRank that leaves the place of expressions open.
const ambiguousRank = "ambiguous"

func readSwitches(s model.Settings) switches {
	return switches{
		shared:       s.Off(topology.ListenerIsolation),
		intersection: s.Text(topology.HostnamePrecedence) == "intersection",
		stripped:     s.Text(topology.PrefixLength) == "stripped",
		methodHeader: s.Text(topology.MethodRank) == "header",
		ageless:      s.Text(topology.RouteAgeSource) == "none",
		loose:        s.Off(topology.RegexAnchored),
		foreign:      s.Text(topology.RegexDialect) == "pcre",
		regexRank:    cmp.Or(s.Text(topology.RegexRank), ambiguousRank),
	}
}

// hostname is the one that decides.
func (s *switches) hostname(c *candidate) string {
	if s.intersection {
		return c.host.Effective
	}
	return c.host.Configured
}

// rank is where a candidate stands by its spec: compared entry by entry, more is better. The criteria name the entries.
type rank [7]int

var (
	httpCriteria = [...]criterion{byExactHost, byHost, byPath, byPath, byMethod, byHeaders, byQuery}
	grpcCriteria = [...]criterion{byExactHost, byHost, byService, byCall, byHeaders, byNothing, byNothing}
)

func (s *switches) rank(c *candidate) rank {
	var r rank
	host := s.hostname(c)
	if !strings.HasPrefix(host, "*") {
		r[0] = len(host)
	}
	r[1] = len(host)
	switch m := c.match; {
	case m == nil:
	case m.grpc:
		r[2], r[3], r[4] = len(m.service.value), len(m.call.value), len(m.headers)
	default:
		r[2], r[3] = s.path(m.path)
		r[5], r[6] = s.headers(m), len(m.query)
		if m.method != "" && !s.methodHeader {
			r[4] = 1
		}
	}
	return r
}

// headers is how many header matches count.
func (s *switches) headers(m *match) int {
	if m.method != "" && s.methodHeader {
		return len(m.headers) + 1
	}
	return len(m.headers)
}

// path is where a path match stands: its sort, then its length. An expression has no portable place; without a setting it is below exact
// paths and above prefixes, which every answer that depends on it says.
func (s *switches) path(p pathMatch) (sort, length int) {
	switch {
	case p.form == exact:
		return 3, 0
	case p.form == expression && s.regexRank == "byLength":
		return 1, len(p.value)
	case p.form == expression && s.regexRank == "afterPrefix":
		return 0, 0
	case p.form == expression:
		return 2, 0
	case s.stripped:
		return 1, len(stem(p.value))
	}
	return 1, len(p.value)
}

// compare tells which of two candidates comes first by what their specs say: less than 0 if a does.
func (s *switches) compare(a, b *candidate) (int, criterion) {
	ra, rb := s.rank(a), s.rank(b)
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

// sort orders candidates, the first one best. What a spec does not decide, the age of the routes does, then their names. Candidates of
// which one has no creation time are ordered by name alone, because age would not order them consistently (gatewayapi G47).
func (s *switches) sort(cs []candidate) {
	slices.SortStableFunc(cs, func(a, b candidate) int {
		order, _ := s.compare(&a, &b)
		return order
	})
	for first := 0; first < len(cs); {
		last := first + s.level(cs[first:])
		same := cs[first:last]
		aged := s.aged(same)
		slices.SortStableFunc(same, func(a, b candidate) int {
			order, _ := tie(&a, &b, aged)
			return order
		})
		first = last
	}
}

// best is the candidate that sort would put first, nil if there is none.
func (s *switches) best(cs []candidate) *candidate {
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
	best, aged := &same[0], s.aged(same)
	for i := range same {
		if order, _ := tie(&same[i], best, aged); order < 0 {
			best = &same[i]
		}
	}
	return best
}

func (s *switches) equal(a, b *candidate) bool {
	order, _ := s.compare(a, b)
	return order == 0
}

// aged reports whether the age of the routes can order the candidates.
func (s *switches) aged(cs []candidate) bool {
	return !s.ageless && !slices.ContainsFunc(cs, func(c candidate) bool { return created(c.object).IsZero() })
}

func created(o *model.Object) time.Time {
	return o.Created
}

// tie orders candidates whose specs say the same: older route, then namespace/name as one string, then the rule's place.
func tie(a, b *candidate, aged bool) (int, criterion) {
	if aged {
		if order := created(a.object).Compare(created(b.object)); order != 0 {
			return order, byAge
		}
	}
	if order := strings.Compare(a.object.Ref.FullName(), b.object.Ref.FullName()); order != 0 {
		return order, byName
	}
	return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.nth, b.nth)), byPosition
}

// level counts the first of sorted candidates and those behind it of which the specs say the same.
func (s *switches) level(cs []candidate) int {
	n := 1
	for n < len(cs) && s.equal(&cs[0], &cs[n]) {
		n++
	}
	return n
}

// whyFirst tells of every candidate but the first what put the first one before it. They are sorted.
func (s *switches) whyFirst(cs []candidate) []criterion {
	aged := s.aged(cs[:s.level(cs)])
	out := make([]criterion, 0, len(cs)-1)
	for i := range cs[1:] {
		_, by := s.compare(&cs[0], &cs[i+1])
		if by == byNothing {
			_, by = tie(&cs[0], &cs[i+1], aged)
		}
		out = append(out, by)
	}
	return out
}

// beats says in words why a comes before b.
func (s *switches) beats(a, b *candidate, by criterion) string {
	host := func(c *candidate) string { return cmp.Or(s.hostname(c), "no hostname") }
	switch by {
	case byExactHost:
		if strings.HasPrefix(s.hostname(b), "*") || s.hostname(b) == "" {
			return fmt.Sprintf("hostname %s is exact, %s is not", host(a), host(b))
		}
		return longer("hostname", host(a), host(b))
	case byHost:
		if s.hostname(b) == "" {
			return fmt.Sprintf("hostname %s beats no hostname", host(a))
		}
		return longer("hostname", host(a), host(b))
	case byPath:
		if a.match.path.form == b.match.path.form {
			return longer(strings.TrimSuffix(pathMatch{form: a.match.path.form}.text(), " "), a.match.path.value, b.match.path.value)
		}
		return a.match.path.text() + " beats " + b.match.path.text()
	case byMethod:
		return "method " + a.match.method + " beats no method"
	case byService:
		return more("service", a.match.service.value, b.match.service.value)
	case byCall:
		return more("method", a.match.call.value, b.match.call.value)
	case byHeaders:
		return counts(s.headers(a.match), s.headers(b.match), "header match", "header matches")
	case byQuery:
		return counts(len(a.match.query), len(b.match.query), "query match", "query matches")
	case byAge:
		return fmt.Sprintf("the route is older (%s, %s)", stamp(a), stamp(b))
	case byName:
		reason := "equally old"
		if s.ageless {
			reason = "age does not count"
		} else if created(a.object).IsZero() || created(b.object).IsZero() {
			reason = "no creation time"
		}
		return fmt.Sprintf("%s comes before %s by name: %s", a.object.Ref.FullName(), b.object.Ref.FullName(), reason)
	case byPosition:
		return "it is the earlier rule of the route"
	}
	return "they are the same"
}

func stamp(c *candidate) string { return created(c.object).UTC().Format(time.RFC3339) }

func longer(what, a, b string) string {
	return fmt.Sprintf("%s %s (%d) beats %s (%d)", what, a, len(a), b, len(b))
}

func more(what, a, b string) string {
	if b == "" {
		return what + " " + a + " beats no " + what
	}
	return longer(what, a, b)
}

func counts(a, b int, one, many string) string {
	noun := many
	if a == 1 {
		noun = one
	}
	if b == 0 {
		return fmt.Sprintf("%d %s beats none", a, noun)
	}
	return fmt.Sprintf("%d %s beat %d", a, noun, b)
}
