package request

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// candidate is one match of a rule that may hold for a request, at one place where its route is
// attached.
type candidate struct {
	place       topology.NodeID // the listener, or the Service in the mesh
	route, rule topology.NodeID
	object      *model.Object // the route
	index       int           // of the rule in its route
	match       *match        // nil: the route has none, as those for TLS, TCP and UDP
	matchIndex  int           // of the match in its rule
	host        gatewayapi.Hostname
	routeFacts  *routeFacts
	openReason  string // why it is not known whether the route is attached here; "" if it is

	// Of a request that it was compared with:
	isPathItself  bool   // its prefix is the whole path, which the data plane has as an exact path
	matchedLength int    // characters of the path that it matches
	doubt         string // why it is not known whether it holds
}

// routeFacts are what some data planes count of the route of a candidate at a place.
type routeFacts struct {
	rules            int
	longest          int  // characters of its longest effective hostname
	longestExact     int  // likewise, of those without wildcard
	namesTheListener bool // all its references to the place name the listener
}

// pathMatch returns what the match asks of the path: for a GRPCRoute what its service and method
// are as a path.
func (c *candidate) pathMatch(s *matchSettings) pathMatch {
	if c.match.grpc {
		return c.match.callPath(s.GRPCPath)
	}
	return c.match.path
}

// asksForPath reports whether the path of a request decides about the candidate, rather than the
// service and the method of gRPC.
func (s *matchSettings) asksForPath(m *match) bool {
	return !m.grpc || s.Kinds == routing.KindsTogether
}

// matchCandidate says whether a candidate holds for a request, and notes on it what of it the order
// depends on. pathHolds tells of the path alone.
func (s *matchSettings) matchCandidate(c *candidate, r *Request) (holds, pathHolds verdict) {
	c.isPathItself, c.matchedLength, c.doubt = false, 0, ""
	if c.match == nil {
		return yes, yes
	}
	m := c.match
	if s.asksForPath(m) {
		path, of := c.pathMatch(s), r.Path
		if path.asRoot && r.RawQuery != "" { // the header that is compared has the query too
			of += "?" + r.RawQuery
		}
		pathHolds = s.matchPath(&path, of)
		c.isPathItself = s.Prefix == routing.OwnExact && path.form == prefix && path.value == r.Path &&
			!strings.HasSuffix(path.value, "/")
		c.matchedLength = len(r.Path)
		switch {
		case path.asRoot:
			c.matchedLength = 0
		case path.form == prefix:
			c.matchedLength = len(trimSlash(path.value))
		}
	} else {
		pathHolds = min(m.service.matchTexts([]string{r.Service}, routing.FirstValue, s.Regex.Tied),
			m.call.matchTexts([]string{r.Call}, routing.FirstValue, s.Regex.Tied))
	}
	holds = pathHolds
	if holds == maybe {
		c.doubt = m.explainDoubt()
	}
	if m.method != "" && !s.Ignores(routing.IgnoredMethod) {
		holds = min(holds, toVerdict(m.method == r.Method))
	}
	fields := func(list []valueMatch, values func(string) []string, of routing.Values, what string) {
		for i := range list {
			if holds == no {
				return
			}
			v := &list[i]
			all := values(v.name)
			one := v.matchTexts(all, of, s.Regex.HeaderTied)
			if one == maybe && holds == yes {
				c.doubt = m.explainDoubt()
				if len(all) > 1 || of == routing.UnknownValues && v.form == exact {
					c.doubt = "which value of " + what + " " + v.name + " is compared is not known"
				}
			}
			holds = min(holds, one)
		}
	}
	fields(m.headers, r.headerValues, s.Headers, "header")
	if !s.Ignores(routing.IgnoredQuery) {
		fields(s.queryOf(m), func(name string) []string { return s.parameterValues(r, name) }, s.Query, "query parameter")
	}
	return holds, pathHolds
}

// queryOf returns what a match asks of query parameters as the data plane reads it.
func (s *matchSettings) queryOf(m *match) []valueMatch {
	if !s.Ignores(routing.IgnoredQueryType) {
		return m.query
	}
	out := slices.Clone(m.query)
	for i := range out {
		if out[i].form == expression && !model.IsRedacted(out[i].value) {
			out[i].form = exact
		}
	}
	return out
}

// matchPath says whether a path fulfils what a match asks of it.
func (s *matchSettings) matchPath(p *pathMatch, path string) verdict {
	switch p.form {
	case exact:
		if s.Prefix == routing.PatternExact && p.glob != nil {
			return p.glob.matchText(path, routing.TiedBoth)
		}
		return toVerdict(path == p.value)
	case prefix:
		switch {
		case s.Prefix == routing.ByCharacters:
			return toVerdict(strings.HasPrefix(path, p.value))
		case s.Prefix == routing.OwnExact && strings.HasSuffix(p.value, "/"):
			return toVerdict(strings.HasPrefix(path, p.value))
		}
		rest, found := strings.CutPrefix(path, trimSlash(p.value))
		return toVerdict(found && (rest == "" || rest[0] == '/'))
	case expression:
		if p.asRoot { // the end of the path, which no expression of the route says
			return p.regex.matchText(path, routing.TiedBoth)
		}
		return p.regex.matchText(path, s.Regex.Tied)
	}
	return yes
}

// headerValues returns the values of all headers of a name.
func (r *Request) headerValues(name string) []string {
	var out []string
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, name) {
			out = append(out, h.Value)
		}
	}
	if out == nil && strings.EqualFold(name, "Host") {
		return []string{r.Host}
	}
	return out
}

// parameterValues returns the values of all query parameters of a name: decoded, or as they are
// written.
func (s *matchSettings) parameterValues(r *Request, name string) []string {
	var out []string
	all := r.Query
	if s.RawQuery && r.RawQuery != "" {
		all = splitQuery(r.RawQuery)
	}
	for _, q := range all {
		if q.Name == name {
			out = append(out, q.Value)
		}
	}
	return out
}

// matchTexts says whether the values that a request has of a part are as it is asked for.
func (v *valueMatch) matchTexts(values []string, of routing.Values, tied routing.Tied) verdict {
	switch {
	case v.form == anything:
		return yes
	case len(values) == 0:
		return no
	}
	switch of {
	case routing.LastValue:
		return v.matchText(values[len(values)-1], tied)
	case routing.AnyValue:
		return v.matchAny(values, tied)
	case routing.SplitValues:
		return v.matchAny(splitValues(values), tied)
	case routing.UnknownValues:
		out := v.matchText(values[0], tied)
		for _, other := range []verdict{v.matchText(values[len(values)-1], tied), v.matchAny(values, tied),
			v.matchAny(splitValues(values), tied)} {
			if other != out {
				return maybe
			}
		}
		return out
	}
	return v.matchText(values[0], tied)
}

// splitValues returns the parts of values between commas. One that is empty counts as absent.
func splitValues(values []string) []string {
	var out []string
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

func (v *valueMatch) matchAny(values []string, tied routing.Tied) verdict {
	var out verdict
	for _, value := range values {
		out = max(out, v.matchText(value, tied))
	}
	return out
}

func (v *valueMatch) matchText(value string, tied routing.Tied) verdict {
	if v.form == expression {
		return v.regex.matchText(value, tied)
	}
	return toVerdict(value == v.value)
}

// explainDoubt says why it is not known whether a match with an expression holds.
func (m *match) explainDoubt() string {
	if m.hasRedactedValue() {
		return "a value that it asks for is left out (redacted)"
	}
	return "its regular expression cannot be evaluated"
}

// isCatchAll reports whether a candidate takes every request to its hosts.
func (s *matchSettings) isCatchAll(c *candidate) bool {
	path := c.pathMatch(s)
	every := path.form == prefix && path.value == "/" || path.form == expression && path.value == ".*"
	return every && s.isUnconditional(c)
}

// isOneGroup reports whether two candidates are of routes that some data planes sort together.
func isOneGroup(a, b *candidate) bool {
	return a.place == b.place && a.host.Configured == b.host.Configured
}

// mergeGroups returns sorted candidates as a data plane has them that sorts each group by itself:
// the best of each group, those that take every request after the others, and behind them the rest.
func (s *matchSettings) mergeGroups(sorted []candidate) []candidate {
	var first, catchAlls, rest []candidate
	for i := range sorted {
		c := &sorted[i]
		known := func(o candidate) bool { return isOneGroup(&o, c) }
		switch {
		case c.match == nil || slices.ContainsFunc(first, known) || slices.ContainsFunc(catchAlls, known):
			rest = append(rest, *c)
		case s.isCatchAll(c):
			catchAlls = append(catchAlls, *c)
		default:
			first = append(first, *c)
		}
	}
	return slices.Concat(first, catchAlls, rest)
}

// isBehindItsGroup reports whether another candidate of its group comes before one of several.
func (s *matchSettings) isBehindItsGroup(sorted []candidate, at int) bool {
	return s.HostGroups == routing.GroupsUnsorted &&
		slices.ContainsFunc(sorted[:at], func(o candidate) bool {
			order, _ := s.compare(&o, &sorted[at])
			if order == 0 {
				order, _ = s.breakTie(&o, &sorted[at], s.countsAge())
			}
			return order < 0 && isOneGroup(&o, &sorted[at])
		})
}
