package ingressnginx

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// withoutClass takes the class away.
func withoutClass(o *model.Object) *model.Object {
	body := o.Body.Value().(map[string]any)
	delete(body["spec"].(map[string]any), "ingressClassName")
	o.Body = model.Pack(body, nil)
	return o
}

// newDefaultClass makes an IngressClass for Ingresses that have none.
func newDefaultClass(name, controller string) *model.Object {
	return &model.Object{Ref: model.Ref{Group: "networking.k8s.io", Kind: "IngressClass", Name: name},
		Annotations: map[string]string{defaultClassAnnotation: "true"},
		Body:        model.Pack(object{"spec": object{"controller": controller}}, nil)}
}

func TestIngressesWithoutClass(t *testing.T) {
	plain := func() *model.Object { return withoutClass(newIngress("plain", host, nil, "/>web")) }
	annotated := func() *model.Object {
		return withoutClass(newIngress("own", host, notes{"ssl-redirect": "false"}, "/>web"))
	}
	other := newIngress("other", "other.example.com", nil, "/>web")
	const unknown, known = "warning: 1 Ingress has no class", "info: 1 Ingress has no class"
	for _, c := range []struct {
		name    string
		objects []*model.Object
		want    string // of GET http://shop.example.com/; "": there is no proxy
		problem string // the beginning; "": there is none
	}{
		{"nothing speaks for the controller", one(plain()), "", ""},
		{"annotations do", one(annotated()), "NotEvaluated", unknown},
		{"another Ingress does", one(plain(), other), "NoMatch 404", unknown},
		{"both", one(annotated(), other), "NotEvaluated", unknown},
		{"two", one(plain(), annotated(), other), "NotEvaluated", "warning: 2 Ingresses have no class"},
		{"the host has another Ingress", one(annotated(), newIngress("web", host, nil, "/>web")), "NotEvaluated", unknown},
		{"a wildcard", one(withoutClass(newIngress("own", "*.example.com", notes{"ssl-redirect": "false"}, "/>web"))),
			"NotEvaluated", unknown},
		{"another host", one(withoutClass(newIngress("own", "x.example.org", notes{"ssl-redirect": "false"}, "/>web"))),
			"NoMatch 404", unknown},
		{"all hosts", one(withoutClass(newIngress("own", "", notes{"ssl-redirect": "false"}, "/>web"))), "NotEvaluated",
			unknown},
		{"the flags are known", one(newController(), annotated(), other), "NoMatch 404", known},
		{"the flag is set", one(newController("--watch-ingress-without-class"), plain()), "Matched web:80/", ""},
		{"a default class of the controller", one(plain(), newDefaultClass("edge", controllerName)), "Matched web:80/", ""},
		{"one of another controller", one(annotated(), other, newDefaultClass("edge", "example.com/edge")), "NoMatch 404",
			""},
		{"two default classes", one(annotated(), other, newDefaultClass("b", controllerName), newDefaultClass("a",
			"example.com/edge")), "NoMatch 404", ""},
	} {
		p := newProxy(c.objects...)
		if c.want == "" || p == nil {
			if (p == nil) != (c.want == "") {
				t.Errorf("%s: %v", c.name, p)
			}
			continue
		}
		if got := formatAnswer(p.Answer(newRequest(t, "GET http://shop.example.com/"), nil)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		problem := ""
		for _, p := range p.Problems {
			if text := string(p.Severity) + ": " + p.Message; strings.Contains(text, "no class") {
				problem += text
			}
		}
		if (problem == "") != (c.problem == "") || !strings.HasPrefix(problem, c.problem) {
			t.Errorf("%s: %q, want %q", c.name, problem, c.problem)
		}
	}
}

// TestDefaultClassOfCluster says that the API server has given the default class already.
func TestDefaultClassOfCluster(t *testing.T) {
	in := model.NewSnapshot(one(withoutClass(newIngress("own", host, notes{"ssl-redirect": "false"}, "/>web")),
		newDefaultClass("edge", controllerName)), nil)
	in.Cluster = &model.Cluster{}
	if p := readProxy(in); p == nil || len(p.Hosts) != 1 || p.Hosts[0] != "" {
		t.Error("an Ingress without a class is read from a cluster")
	}
}
