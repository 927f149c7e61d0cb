package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// shownMatches is how many matches of a rule are told.
const shownMatches = 2

// matchesOf says in short which requests a rule takes: "GET /cart", "/api/*", "header x=y", and how many more there are. It is "" for kinds of
// routes whose rules have no matches.
func matchesOf(n *topology.Node) string {
	if n.Object == nil {
		return ""
	}
	var text func(model.Body) string
	switch n.Ref.Kind {
	case "HTTPRoute":
		text = httpMatch
	case "GRPCRoute":
		text = grpcMatch
	default:
		return ""
	}
	var out []string
	total := 0
	for i, rule := range n.Object.Body.At("spec", "rules").Items {
		if i != n.Index {
			continue
		}
		for _, m := range rule.Field("matches").Items {
			if total++; total <= shownMatches {
				out = append(out, text(m))
			}
		}
	}
	if total == 0 {
		return text(model.Body{})
	}
	if total > shownMatches {
		out = append(out, fmt.Sprintf("+%d", total-shownMatches))
	}
	return strings.Join(out, ", ")
}

// httpMatch is one match of an HTTPRoute. Without a path it is that of every path.
func httpMatch(m model.Body) string {
	value := cmp.Or(m.Text("path", "value"), "/")
	switch m.Text("path", "type") {
	case "Exact":
	case "RegularExpression":
		value = "~ " + value
	default:
		value = strings.TrimSuffix(value, "/") + "/*"
	}
	return strings.Join(append(words(m.Text("method"), value), conditions(m)...), " ")
}

// grpcMatch is one match of a GRPCRoute.
func grpcMatch(m model.Body) string {
	service, method := m.Text("method", "service"), m.Text("method", "method")
	call := "*"
	if service != "" || method != "" {
		call = cmp.Or(service, "*") + "/" + cmp.Or(method, "*")
	}
	if m.Text("method", "type") == "RegularExpression" {
		call = "~ " + call
	}
	return strings.Join(append([]string{call}, conditions(m)...), " ")
}

// conditions are what a match asks of headers and of the query.
func conditions(m model.Body) []string {
	var out []string
	for _, of := range [...]struct{ field, word string }{{"headers", "header"}, {"queryParams", "query"}} {
		for _, c := range m.Field(of.field).Items {
			sign := "="
			if c.Text("type") == "RegularExpression" {
				sign = "~"
			}
			out = append(out, of.word+" "+c.Text("name")+sign+c.Text("value"))
		}
	}
	return out
}

// words are those that are not empty.
func words(all ...string) []string {
	var out []string
	for _, w := range all {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}
