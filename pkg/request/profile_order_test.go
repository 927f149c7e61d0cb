package request

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// pathHolds reports whether a request has the path that an entry asks for.
func (p profileReference) pathHolds(e entry, r *Request) bool {
	if p.isCall(e) {
		return p.allHold(e, r, "service", "call")
	}
	switch e.pathType {
	case "any", "bare":
		return true
	case "Exact":
		if p.Prefix == routing.PatternExact && strings.ContainsAny(e.path, "*?") {
			pattern := regexp.QuoteMeta(e.path)
			pattern = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(pattern)
			return regexp.MustCompile(`^(?s:` + pattern + `)$`).MatchString(r.Path)
		}
		return e.path == r.Path
	case "itself":
		return e.path == r.Path
	case "RegularExpression":
		return p.allHold(e, r, "path")
	}
	switch p.Prefix {
	case routing.ByCharacters:
		return strings.HasPrefix(r.Path, e.path)
	case routing.OwnExact: // the path itself is an entry of its own
		return strings.HasPrefix(r.Path, strings.TrimSuffix(e.path, "/")+"/")
	}
	below := strings.TrimSuffix(e.path, "/")
	return r.Path == below || strings.HasPrefix(r.Path, below+"/")
}

// restHolds reports whether a request has all that an entry asks for beside the path.
func (p profileReference) restHolds(e entry, r *Request) bool {
	if e.method != "" && e.method != r.Method {
		return false
	}
	if p.RedirectGuard && e.redirect == map[bool]string{false: "http", true: "https"}[r.Secure] {
		return false
	}
	return p.allHold(e, r, "header", "query")
}

// question is one comparison of a part of a request with what an entry asks of it.
type question struct {
	of    string // path, service, call, header or query
	asks  condition
	have  []string
	which routing.Values
	tied  routing.Tied
}

func (q question) key() string { return q.of + fmt.Sprint(q.asks) }

// questionsOf are the comparisons of which it may not be known how they come out.
func (p profileReference) questionsOf(e entry, r *Request) []question {
	var out []question
	switch {
	case p.isCall(e):
		for _, part := range [][3]string{{"service", e.service, r.Service}, {"call", e.call, r.Call}} {
			if part[1] != "" {
				out = append(out, question{part[0], condition{"", e.callType, part[1]}, part[2:], routing.FirstValue,
					p.Regex.Tied})
			}
		}
	case e.pathType == "RegularExpression":
		out = append(out, question{"path", condition{"", e.pathType, e.path}, []string{r.Path}, routing.FirstValue,
			p.Regex.Tied})
	}
	for _, c := range e.headers {
		q := question{"header", c, headersOf(r, c.name), p.Headers, p.Regex.HeaderTied}
		if c.kind == "Suffix" {
			q.have, q.which = []string{r.Path}, routing.FirstValue
			if r.RawQuery != "" { // the header :path has the query as well
				q.have = []string{r.Path + "?" + r.RawQuery}
			}
		}
		out = append(out, q)
	}
	for _, c := range e.query {
		out = append(out, question{"query", c, p.parametersOf(r, c.name), p.Query, p.Regex.HeaderTied})
	}
	return out
}

// allHold reports whether all comparisons of some parts of a request come out well, where that is
// not known as it is assumed.
func (p profileReference) allHold(e entry, r *Request, parts ...string) bool {
	for _, q := range p.questionsOf(e, r) {
		if !slices.Contains(parts, q.of) {
			continue
		}
		ways := p.waysOf(q)
		holds := ways[0]
		if slices.Contains(ways, true) && slices.Contains(ways, false) {
			holds = p.assumed[q.key()]
		}
		if !holds {
			return false
		}
	}
	return true
}

// headersOf are the values of all headers of a name.
func headersOf(r *Request, name string) []string {
	var out []string
	for _, f := range r.Headers {
		if strings.EqualFold(f.Name, name) {
			out = append(out, f.Value)
		}
	}
	return out
}

// parametersOf are the values of all query parameters of a name: decoded, or as they are written.
func (p profileReference) parametersOf(r *Request, name string) []string {
	fields := r.Query
	if p.RawQuery && r.RawQuery != "" {
		fields = nil
		for part := range strings.SplitSeq(r.RawQuery, "&") {
			name, value, _ := strings.Cut(part, "=")
			fields = append(fields, Field{name, value})
		}
	}
	var out []string
	for _, f := range fields {
		if f.Name == name {
			out = append(out, f.Value)
		}
	}
	return out
}

// waysOf tells how a comparison comes out, for each value that may be looked at (R11) and each end
// that an expression may be tied to (R7).
func (p profileReference) waysOf(q question) []bool {
	if len(q.have) == 0 {
		return []bool{false}
	}
	first, last, split := q.have[:1], q.have[len(q.have)-1:], strings.Split(strings.Join(q.have, ","), ",")
	looked := map[routing.Values][][]string{routing.FirstValue: {first}, routing.LastValue: {last},
		routing.AnyValue: {q.have}, routing.SplitValues: {split}, routing.UnknownValues: {first, last, q.have, split}}
	ties := []routing.Tied{q.tied}
	if q.tied == routing.TiedUnknown {
		ties = []routing.Tied{routing.TiedBoth, routing.TiedStart, routing.TiedNowhere}
	}
	var out []bool
	for _, values := range looked[q.which] {
		for _, tied := range ties {
			out = append(out, slices.ContainsFunc(values, func(v string) bool { return valueHolds(q.asks, v, tied) }))
		}
	}
	return out
}

// valueHolds reports whether a text is what a condition asks for.
func valueHolds(c condition, have string, tied routing.Tied) bool {
	switch {
	case c.kind == "Suffix":
		return strings.HasSuffix(have, c.value)
	case c.kind != "RegularExpression":
		return c.value == have
	case tied == routing.TiedNowhere:
		return regexp.MustCompile(c.value).MatchString(have)
	case tied == routing.TiedStart:
		return regexp.MustCompile(`^(?:` + c.value + `)`).MatchString(have)
	}
	return regexp.MustCompile(`^(?:` + c.value + `)$`).MatchString(have)
}

// best are the entries that no other one comes before.
func (p profileReference) best(of []entry, order []routing.Criterion, r *Request) []entry {
	return slices.DeleteFunc(slices.Clone(of), func(e entry) bool {
		return slices.ContainsFunc(of, func(o entry) bool { return p.compareBy(order, o, e, of, r) < 0 })
	})
}

// compareBy tells which of two entries comes first among several: less than 0 if a does. The age
// counts only if that of all is known that the criteria before it leave equal (G47).
func (p profileReference) compareBy(order []routing.Criterion, a, b entry, among []entry, r *Request) int {
	if p.weighs {
		weight := func(e entry) int {
			n, _ := strconv.Atoi(e.weight)
			return n
		}
		if by := weight(b) - weight(a); by != 0 {
			return by
		}
	}
	for i, c := range order {
		if c == routing.Age && slices.ContainsFunc(among, func(e entry) bool {
			return e.created == "" && p.compareBy(order[:i], a, e, nil, r) == 0
		}) {
			continue
		}
		if by := p.compare(c, slices.Contains(order[:i], routing.Namespace), a, b, r); by != 0 {
			return by
		}
	}
	return 0
}

// compare is one criterion (R5).
func (p profileReference) compare(c routing.Criterion, namespaced bool, a, b entry, r *Request) int {
	more := func(of func(entry) int) int { return of(b) - of(a) }
	host := func(e entry) string {
		if p.Hostname == routing.Effective {
			return e.host.effective
		}
		return e.host.configured
	}
	ofHost := p.Hosts != routing.Join && p.Hosts != routing.ByScore
	switch c {
	case routing.ExactHost:
		return more(func(e entry) int {
			if strings.HasPrefix(host(e), "*") || !ofHost {
				return 0
			}
			return len(host(e))
		})
	case routing.HostLength:
		return more(func(e entry) int {
			if !ofHost {
				return 0
			}
			return len(host(e))
		})
	case routing.Labels:
		return more(func(e entry) int {
			if host(e) == "" || !ofHost {
				return 0
			}
			return len(strings.Split(host(e), "."))
		})
	case routing.LongestHost:
		return cmp.Or(more(func(e entry) int { return e.longestExact }), more(func(e entry) int { return e.longest }))
	case routing.WildcardHostLast:
		if !ofHost {
			return 0
		}
		place := func(e entry) int {
			switch {
			case host(e) == "":
				return 2
			case strings.HasPrefix(host(e), "*"), !p.isCall(e) && e.pathType == "RegularExpression":
				return 1
			}
			return 0
		}
		if by := place(a) - place(b); by != 0 || place(a) != 1 {
			return by
		}
		return more(func(e entry) int {
			if p.isCall(e) {
				return len(host(e))
			}
			return len(host(e)) + len(e.path)
		})
	case routing.PathType:
		if p.isCall(a) {
			return 0
		}
		return p.pathRank(a) - p.pathRank(b)
	case routing.PathLength:
		if p.isCall(a) {
			return cmp.Or(more(func(e entry) int { return len(e.service) }), more(func(e entry) int { return len(e.call) }))
		}
		if a.pathType == "RegularExpression" && b.pathType == "RegularExpression" && !p.Regex.Longer &&
			p.Regex.Rank != routing.RankByLength {
			return 0
		}
		return more(p.pathLength)
	case routing.PathText:
		if p.isCall(a) {
			return strings.Compare(b.service+"/"+b.call, a.service+"/"+a.call)
		}
		return strings.Compare(b.path, a.path)
	case routing.MatchedLength:
		if p.isCall(a) {
			return p.compare(routing.PathLength, namespaced, a, b, r)
		}
		return more(func(e entry) int {
			if slices.Contains([]string{"Exact", "itself", "RegularExpression"}, e.pathType) {
				return len(r.Path)
			}
			return len(strings.TrimRight(e.path, "/"))
		})
	case routing.Method:
		return more(func(e entry) int { return min(1, len(e.method)) })
	case routing.Service:
		return more(func(e entry) int { return len(e.service) })
	case routing.Call:
		return more(func(e entry) int { return len(e.call) })
	case routing.Headers:
		return more(func(e entry) int { return len(e.headers) })
	case routing.HeadersAndMethod:
		return more(func(e entry) int { return len(e.headers) + min(1, len(e.method)) })
	case routing.ExactHeaders:
		return more(func(e entry) int { return exactOf(e.headers) + min(1, len(e.method)) })
	case routing.Query:
		return more(func(e entry) int { return len(e.query) })
	case routing.ExactQuery:
		return more(func(e entry) int { return exactOf(e.query) })
	case routing.Kind:
		return strings.Compare(b.kind, a.kind)
	case routing.Age:
		return strings.Compare(a.created, b.created)
	case routing.Namespace:
		return strings.Compare(a.namespace, b.namespace)
	case routing.Name:
		if namespaced {
			return strings.Compare(a.name, b.name)
		}
		return strings.Compare(a.namespace+"/"+a.name, b.namespace+"/"+b.name)
	case routing.Rule:
		return a.index - b.index
	case routing.Score:
		if p.isCall(a) {
			return p.compare(routing.PathLength, namespaced, a, b, r)
		}
		return more(scoreOf)
	}
	panic("no such criterion: " + c)
}

func exactOf(of []condition) int {
	n := 0
	for _, c := range of {
		if c.kind == "Exact" {
			n++
		}
	}
	return n
}

// pathRank is the place of a path's type (R6): smaller first.
func (p profileReference) pathRank(e entry) int {
	switch e.pathType {
	case "Exact":
		return 0
	case "itself":
		return 1
	case "any":
		return 5
	case "bare":
		return 6
	case "RegularExpression":
		switch p.Regex.Rank {
		case routing.RankBeforePrefix:
			return 2
		case routing.RankAfterPrefix:
			return 4
		}
	}
	return 3
}

// pathLength is how many characters a path has (R5a).
func (p profileReference) pathLength(e entry) int {
	switch e.pathType {
	case "RegularExpression":
		if p.Regex.Rank == routing.RankAsRoot {
			return 1
		}
	case "PathPrefix":
		if p.PrefixLength == routing.Trimmed && e.path != "/" && e.kind == "HTTPRoute" {
			return len(strings.TrimSuffix(e.path, "/"))
		}
	}
	return len(e.path)
}

// scoreOf is the one number that all that a match asks for makes.
func scoreOf(e entry) int {
	if e.kind == "GRPCRoute" {
		return e.longest + len(e.text)
	}
	n := e.longest + e.rules - e.index + 100*len(e.headers) + 10*len(e.query)
	switch {
	case e.pathType == "Exact":
		n += 100000
	case e.pathType == "PathPrefix" && e.path == "/":
		n++
	default:
		n += 10000 + 100*len(e.path)
	}
	if e.method != "" {
		n += 1000
	}
	return n
}
