package build

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// routeMatch is what a match of an HTTPRoute's rule asks of requests.
type routeMatch struct {
	kind, path, method string
	headers, query     []matchCondition
}

// matchCondition asks for a header or a query parameter.
type matchCondition struct{ name, kind, value string }

const (
	pathPrefix = "PathPrefix"
	pathExact  = "Exact"
	pathRegexp = "RegularExpression"
)

// readMatches reads the matches of a rule, with the defaults of the API (gatewayapi G5).
func readMatches(route *model.Object, rule int) []routeMatch {
	list := route.Body.At("spec", "rules", manifest.FormatInt(rule), "matches")
	if list.Len() == 0 {
		return []routeMatch{{kind: pathPrefix, path: "/"}}
	}
	var out []routeMatch
	for _, v := range list.Items {
		at := v.Field("path")
		m := routeMatch{kind: pathPrefix, path: "/", method: v.Text("method"),
			headers: readConditions(v.Field("headers")), query: readConditions(v.Field("queryParams"))}
		if s := at.Text("type"); s != "" {
			m.kind = s
		}
		if s := at.Text("value"); s != "" {
			m.path = s
		}
		out = append(out, m)
	}
	return out
}

func readConditions(list model.Body) []matchCondition {
	var out []matchCondition
	for _, v := range list.Items {
		c := matchCondition{name: v.Text("name"), kind: v.Text("type"), value: v.Text("value")}
		if c.kind == "" {
			c.kind = pathExact
		}
		out = append(out, c)
	}
	return out
}

// comparedPath returns the path as prefixes are compared: as texts, without a slash at the end.
func (m routeMatch) comparedPath() string {
	if m.kind == pathPrefix && len(m.path) > 1 {
		return strings.TrimSuffix(m.path, "/")
	}
	return m.path
}

// delegatesTo reports whether a rule with match m hands requests over to one with the given match:
// its path is a prefix, as a text, of the child's, and the child asks for everything that it asks
// for.
func (m routeMatch) delegatesTo(child routeMatch) bool {
	return m.kind == pathPrefix && strings.HasPrefix(child.comparedPath(), m.comparedPath()) && (m.method == "" ||
		m.method == child.method) &&
		containsAll(child.headers, m.headers) && containsAll(child.query, m.query)
}

func containsAll(all, some []matchCondition) bool {
	return !slices.ContainsFunc(some, func(c matchCondition) bool { return !slices.Contains(all, c) })
}

// joinChild returns the child's match as part of m: the paths follow each other, the rest is asked
// for together, and m wins where they differ.
func (m routeMatch) joinChild(child routeMatch) routeMatch {
	out := routeMatch{kind: child.kind, path: path.Join(m.path, child.path), method: child.method,
		headers: unionConditions(m.headers, child.headers), query: unionConditions(m.query, child.query)}
	if m.kind == pathRegexp {
		out.kind, out.path = pathRegexp, joinRegexp(m.path, child)
	}
	if m.method != "" {
		out.method = m.method
	}
	return out
}

// joinRegexp puts a child's path behind a regular expression.
func joinRegexp(parent string, child routeMatch) string {
	head, anchored := strings.CutSuffix(parent, "$")
	tail := regexp.QuoteMeta(child.path)
	switch child.kind {
	case pathRegexp:
		tail = strings.TrimSuffix(strings.TrimPrefix(child.path, "^"), "$")
	case pathPrefix:
		tail += "(?:/.*)?"
	}
	if anchored {
		tail += "$"
	}
	return head + tail
}

func unionConditions(first, more []matchCondition) []matchCondition {
	out := slices.Clone(first)
	for _, c := range more {
		if !slices.ContainsFunc(first, func(f matchCondition) bool { return f.name == c.name }) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b matchCondition) int { return strings.Compare(a.name, b.name) })
	return out
}
