package request

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

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
