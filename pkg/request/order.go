package request

import (
	"cmp"
	"slices"
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
