package topology

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// match is what a match of an HTTPRoute's rule asks of requests.
type match struct {
	kind, path, method string
	headers, query     []condition
}

// condition asks for a header or a query parameter.
type condition struct{ name, kind, value string }

const (
	pathPrefix = "PathPrefix"
	pathExact  = "Exact"
	pathRegexp = "RegularExpression"
)

// readMatches reads the matches of a rule, with the defaults of the API (gatewayapi G5).
func readMatches(route *model.Object, rule int) []match {
	list := route.Body.At("spec", "rules", itoa(rule), "matches")
	if list.Len() == 0 {
		return []match{{kind: pathPrefix, path: "/"}}
	}
	var out []match
	for _, v := range list.Items {
		at := v.Field("path")
		m := match{kind: pathPrefix, path: "/", method: v.Text("method"), headers: readConditions(v.Field("headers")), query: readConditions(v.Field("queryParams"))}
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

func readConditions(list model.Body) []condition {
	var out []condition
	for _, v := range list.Items {
		c := condition{name: v.Text("name"), kind: v.Text("type"), value: v.Text("value")}
		if c.kind == "" {
			c.kind = pathExact
		}
		out = append(out, c)
	}
	return out
}

// prefix is the path as prefixes are compared: as texts, without a slash at the end.
func (m match) prefix() string {
	if m.kind == pathPrefix && len(m.path) > 1 {
		return strings.TrimSuffix(m.path, "/")
	}
	return m.path
}

// delegates reports whether a rule with match m hands requests over to one with the given match: its path is a prefix, as a text, of the
// child's, and the child asks for everything that it asks for.
func (m match) delegates(child match) bool {
	return m.kind == pathPrefix && strings.HasPrefix(child.prefix(), m.prefix()) && (m.method == "" || m.method == child.method) &&
		contains(child.headers, m.headers) && contains(child.query, m.query)
}

func contains(all, some []condition) bool {
	return !slices.ContainsFunc(some, func(c condition) bool { return !slices.Contains(all, c) })
}

// joined is the child's match as part of m: the paths follow each other, the rest is asked for together, and m wins where they differ.
func (m match) joined(child match) match {
	out := match{kind: child.kind, path: path.Join(m.path, child.path), method: child.method, headers: united(m.headers, child.headers), query: united(m.query, child.query)}
	if m.kind == pathRegexp {
		out.kind, out.path = pathRegexp, joinedRegexp(m.path, child)
	}
	if m.method != "" {
		out.method = m.method
	}
	return out
}

// joinedRegexp puts a child's path behind a regular expression.
func joinedRegexp(parent string, child match) string {
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

func united(first, more []condition) []condition {
	out := slices.Clone(first)
	for _, c := range more {
		if !slices.ContainsFunc(first, func(f condition) bool { return f.name == c.name }) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b condition) int { return strings.Compare(a.name, b.name) })
	return out
}
