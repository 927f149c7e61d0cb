package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// forbiddenList is the problem of a list that is forbidden.
func forbiddenList(kind, namespace string) model.Problem {
	where := ""
	if namespace != "" {
		where = " in namespace " + namespace
	}
	return model.Problem{Severity: model.Warning, Code: model.Forbidden,
		Ref:     &model.Ref{Group: "example.com", Kind: kind, Namespace: namespace, Name: "*"},
		Message: "cannot list " + strings.ToLower(kind) + "s.example.com" + where + " (forbidden)", Hint: "ask"}
}

// TestForbiddenLine: whatever is forbidden is one line, which names namespaces, and the objects that
// are known to be in there.
func TestForbiddenLine(t *testing.T) {
	many := func(namespace string, n int) []model.Problem {
		var out []model.Problem
		for i := range n {
			out = append(out, forbiddenList(fmt.Sprintf("Kind%d", i), namespace))
		}
		return out
	}
	named := func(namespace string) ([]string, bool) {
		switch namespace {
		case "infra":
			return []string{"gateway/infra/web"}, true
		case "crowded":
			return []string{"gateway/crowded/a", "gateway/crowded/b", "gateway/crowded/c", "gateway/crowded/d",
				"gateway/crowded/e"}, false
		}
		return nil, false
	}
	others := forbiddenList("Route", "")
	others.Message = "cannot list routes.example.com in all namespaces (forbidden); read in: shop"
	for want, problems := range map[string][]model.Problem{
		"you cannot read namespace infra (gateway/infra/web and the policies there)": many("infra", 20),
		"you cannot read kind0s and kind1s in namespace infra (gateway/infra/web)":   many("infra", 2),
		"you cannot read 5 kinds in namespace shop":                                  many("shop", 5),
		"you cannot read kind0s, kind1s and kind2s":                                  many("", 3),
		"you cannot read routes in other namespaces":                                 {others},
		"you cannot read namespace infra (gateway/infra/web and the policies there), 9 kinds in namespace shop, and 12 cluster-scoped kinds": append(
			append(many("", 12), many("shop", 9)...), many("infra", 9)...),
		"you cannot read kind0s in namespace crowded (gateway/crowded/a, gateway/crowded/b, gateway/crowded/c and 2 more)": many(
			"crowded", 1),
	} {
		var out strings.Builder
		err := WriteProblems(&out, problems, ProblemOptions{Forbidden: Forbidden{Named: named, Hint: "ask for it"}})
		if err != nil || out.String() != "warning: incomplete: "+want+"\nhint: ask for it\n" {
			t.Errorf("got %v, %q, want %q", err, out.String(), want)
		}
		out.Reset()
		if err := WriteProblems(&out, problems, ProblemOptions{Verbose: true}); err != nil ||
			!strings.Contains(out.String(), "s.example.com") {
			t.Errorf("with -v: %v, %q", err, out.String())
		}
	}
}
