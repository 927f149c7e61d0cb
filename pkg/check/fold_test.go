package check

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestWithoutNamespace(t *testing.T) {
	for _, c := range []struct{ text, namespace, want string }{
		{"no httproute in namespace a has the labels", "a", "no httproute has the labels"},
		{"nothing is in namespace web", "web", "nothing is"},
		{"nothing in namespace web: add it", "web", "nothing: add it"},
		{"nothing in namespace web-2 is read", "web", "nothing in namespace web-2 is read"},
		{"httproute/a/shop is not found, as /a/ is", "a", "httproute/shop is not found, as /a/ is"},
		{"service/b/shop and service/a/shop", "a", "service/b/shop and service/shop"},
	} {
		if got := withoutNamespace(c.text, c.namespace); got != c.want {
			t.Errorf("%q without %s is %q, want %q", c.text, c.namespace, got, c.want)
		}
	}
}

// use is a finding about a rule of a route that sends to a Service that is not there.
func use(namespace, route, rule string, line int) Finding {
	missing := model.Ref{Kind: "Service", Namespace: namespace, Name: "gone"}
	what := missing.String() + ", which does not exist"
	return NewFinding(model.Problem{Severity: model.Warning, Code: model.BackendNotFound,
		Ref:     &model.Ref{Kind: "HTTPRoute", Namespace: namespace, Name: route},
		Origin:  &model.Origin{File: "route.yaml", Line: line},
		Message: "rule " + rule + " sends to " + what, MissingRef: &missing, RuleName: rule,
		OfSeveral: "send to " + what})
}

func TestFoldCauses(t *testing.T) {
	selects := func(namespace string) Finding {
		return NewFinding(model.Problem{Severity: model.Info, Code: model.TargetNotFound,
			Ref:     &model.Ref{Kind: "Login", Namespace: namespace, Name: "login"},
			Origin:  &model.Origin{File: "component/login.yaml", Line: 1},
			Message: "no httproute in namespace " + namespace + " has the labels"})
	}
	misses := func(name string) Finding {
		missing := model.Ref{Kind: "Gateway", Namespace: "infra", Name: "edge"}
		return NewFinding(model.Problem{Severity: model.Warning, Code: model.TargetNotFound,
			Ref: &model.Ref{Kind: "Login", Namespace: "infra", Name: name}, MissingRef: &missing,
			Message: "gateway/infra/edge is not found"})
	}
	ignored := use("web", "shop", "rule-4", 4)
	ignored.Suppressed = &Suppression{By: ByFlag}
	noted := use("web", "shop", "rule-5", 5)
	noted.Hint = "did you mean service/web/going?"
	for name, c := range map[string]struct {
		found []Finding
		want  map[string]int // messages, and of how many objects they are
	}{
		"one": {[]Finding{use("web", "shop", "rule-1", 1)},
			map[string]int{"rule rule-1 sends to service/web/gone, which does not exist": 0}},
		"rules of two routes": {[]Finding{use("web", "shop", "rule-1", 1), use("web", "shop", "rule-2", 2),
			use("web", "cart", "rule-1", 9)}, map[string]int{
			"3 rules send to service/web/gone, which does not exist: httproute/web/cart/rule-1, httproute/web/shop/rule-1, httproute/web/shop/rule-2": 3}},
		"a rule twice": {[]Finding{use("web", "shop", "rule-1", 1), use("web", "shop", "rule-1", 2)},
			map[string]int{"rule rule-1 sends to service/web/gone, which does not exist": 0}},
		"what is ignored or has another hint": {[]Finding{use("web", "shop", "rule-1", 1), ignored, noted},
			map[string]int{"rule rule-1 sends to service/web/gone, which does not exist": 0,
				"rule rule-4 sends to service/web/gone, which does not exist": 0,
				"rule rule-5 sends to service/web/gone, which does not exist": 0}},
		"rules in two namespaces": {[]Finding{use("a", "shop", "rule-1", 1), use("a", "shop", "rule-2", 2),
			use("b", "shop", "rule-1", 1), use("b", "shop", "rule-2", 2)}, map[string]int{
			"2 rules send to service/gone, which does not exist: httproute/shop/rule-1, httproute/shop/rule-2, in 2 namespaces (a, b)": 4}},
		"a component": {[]Finding{selects("a"), selects("b"), selects("c"), selects("d"), selects("e")},
			map[string]int{"no httproute has the labels, in 5 namespaces (a, b, c, and 2 more)": 5}},
		"what policies miss": {[]Finding{misses("p"), misses("q")}, map[string]int{
			"gateway/infra/edge is not found (2 objects: login/infra/p, login/infra/q)": 2}},
	} {
		r := Report{Items: sortFindings(c.found)}
		r.FoldCauses()
		got := map[string]int{}
		for _, f := range r.Items {
			got[f.Message] = len(f.Objects)
			if want, known := c.want[f.Message]; !known || want != len(f.Objects) {
				t.Errorf("%s: %q of %d objects", name, f.Message, len(f.Objects))
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
