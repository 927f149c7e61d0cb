package graph

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// maxShownMatches is how many matches of a rule are told.
const maxShownMatches = 2

// formatMatches says in short which requests a rule takes: "GET /cart", "/api/*", "header x=y", and
// how many more matches there are. It is "" for kinds of routes whose rules have no matches.
func formatMatches(n *topology.Node) string {
	if n.Object == nil {
		return ""
	}
	var text func(model.Body) string
	switch n.Ref.Kind {
	case "HTTPRoute":
		text = formatHTTPMatch
	case "GRPCRoute":
		text = formatGRPCMatch
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
			if total++; total <= maxShownMatches {
				out = append(out, text(m))
			}
		}
	}
	if total == 0 {
		return text(model.Body{})
	}
	if total > maxShownMatches {
		out = append(out, fmt.Sprintf("+%d", total-maxShownMatches))
	}
	return strings.Join(out, ", ")
}

// formatHTTPMatch writes one match of an HTTPRoute. A match without a path is that of every path.
func formatHTTPMatch(m model.Body) string {
	value := cmp.Or(m.Text("path", "value"), "/")
	switch m.Text("path", "type") {
	case "Exact":
	case "RegularExpression":
		value = "~ " + value
	default:
		value = strings.TrimSuffix(value, "/") + "/*"
	}
	return strings.Join(append(dropEmpty(m.Text("method"), value), formatConditions(m)...), " ")
}

// formatGRPCMatch writes one match of a GRPCRoute.
func formatGRPCMatch(m model.Body) string {
	service, method := m.Text("method", "service"), m.Text("method", "method")
	call := "*"
	if service != "" || method != "" {
		call = cmp.Or(service, "*") + "/" + cmp.Or(method, "*")
	}
	if m.Text("method", "type") == "RegularExpression" {
		call = "~ " + call
	}
	return strings.Join(append([]string{call}, formatConditions(m)...), " ")
}

// formatConditions lists what a match asks of headers and of the query.
func formatConditions(m model.Body) []string {
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

// dropEmpty returns the texts that are not empty.
func dropEmpty(all ...string) []string {
	var out []string
	for _, w := range all {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}
