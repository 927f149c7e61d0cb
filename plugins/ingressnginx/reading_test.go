package ingressnginx

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestValues says what a value of an annotation makes of the Ingress: ignored as a whole, denied, or as if it
// was not there.
func TestValues(t *testing.T) {
	for _, c := range []struct{ annotation, value, want string }{
		{"auth-url", "http://verify/{x}", "dropped"},
		{"auth-realm", "members {x}", ""}, // without auth-type nobody asks for it
		{"auth-type", "oauth", "dropped"},
		{"auth-tls-secret", "a b{", "dropped"},
		{"proxy-ssl-secret", "{", "dropped"},
		{"limit-rps", "ten", "dropped"},
		{"limit-rate", "ten", ""},
		{"limit-allowlist", "300.0.0.0/8", "dropped"},
		{"from-to-www-redirect", "yes", "dropped"},
		{"permanent-redirect-code", "x", "dropped"},
		{"permanent-redirect", "ftp://x", ""},
		{"relative-redirects", "si", "dropped"},
		{"server-alias", "a;b", "dropped"},
		{"upstream-vhost", "a;b", "dropped"},
		{"upstream-hash-by", "a;b", "dropped"},
		{"x-forwarded-prefix", "a;b", "dropped"},
		{"custom-http-errors", "200", "dropped"},
		{"default-backend", "Upper", "dropped"},
		{"client-body-buffer-size", "8kk", "dropped"},
		{"connection-proxy-header", "open", "dropped"},
		{"load-balance", "random", "dropped"},
		{"ssl-ciphers", "a b;", "dropped"},
		{"ssl-passthrough", "si", "dropped"},
		{"fastcgi-index", "a b;", "dropped"},
		{"http2-push-preload", "si", "dropped"},
		{"configuration-snippet", "", "dropped"},
		{"stream-snippet", "x", "dropped"},
		{"whitelist-source-range", "300.0.0.0/8", "denied"},
		{"denylist-source-range", " ", "denied"},
		{"auth-url", "verify", "denied"},
		{"proxy-ssl-secret", "store/none", "denied"},
		{"proxy-ssl-secret", "none", "denied"},
		{"auth-tls-secret", "other/ca", "denied"},
		{"custom-headers", "store/none", "denied"},
		{"auth-tls-match-cn", "boss", ""},
		{"rewrite-target", "/x?y=1", ""},
		{"ssl-redirect", "maybe", ""},
		{"backend-protocol", "spdy", ""},
		{"satisfy", "some", ""},
		{"no-such-annotation", "{", ""},
	} {
		objects := []*model.Object{newIngress("web", host, notes{c.annotation: c.value}, "/>web"), newService("web")}
		e := readController(model.NewSnapshot(objects, nil)).readEntry(objects[0])
		got := ""
		switch v := e.reader; {
		case v.dropped != "":
			got = "dropped"
		case v.denied != "":
			got = "denied"
		}
		if got != c.want {
			t.Errorf("%s: %q: %q, want %q", c.annotation, c.value, got, c.want)
		}
	}
}

func TestRiskLevel(t *testing.T) {
	in := newProxy(newConfigMap(object{"annotations-risk-level": "Low"}), newIngress("web", host, notes{
		"rewrite-target": "/x"}, "/>web"), newIngress("low", "low.example.com", notes{"ssl-redirect": "true"}, "/>web"))
	if len(in.Unused) != 1 || in.Unused[0].Name != "web" {
		t.Errorf("unused: %v", in.Unused)
	}
}

func TestClasses(t *testing.T) {
	class := func(name, controller string) *model.Object {
		return &model.Object{Ref: model.Ref{Group: "networking.k8s.io", Kind: "IngressClass", Name: name},
			Body: model.Pack(object{"spec": object{"controller": controller}}, nil)}
	}
	withClass := func(field, annotation string) *model.Object {
		spec := object{}
		o := newIngressOf("web", nil, spec)
		delete(spec, "ingressClassName")
		if field != "" {
			spec["ingressClassName"] = field
		}
		if annotation != "" {
			o.Annotations[classAnnotation] = annotation
		}
		o.Body = model.Pack(object{"spec": spec}, nil)
		return o
	}
	for _, c := range []struct {
		name    string
		objects []*model.Object
		want    bool
	}{
		{"the usual name, without the class", one(withClass("nginx", "")), true},
		{"another name, without the class", one(withClass("edge", "")), false},
		{"another name of the class", one(withClass("edge", ""), class("edge", controllerName)), true},
		{"the usual name of another controller", one(withClass("nginx", ""), class("nginx", "nginx.org/ingress-controller")),
			false},
		{"the annotation", one(withClass("", "nginx")), true},
		{"another annotation", one(withClass("", "edge")), false},
		{"the field beats the annotation", one(withClass("edge", "nginx")), false},
		{"neither", one(withClass("", "")), false},
		{"neither, and all are read", one(withClass("", ""), newController("--watch-ingress-without-class=true")), true},
		{"another controller class", one(withClass("edge", ""), class("edge", "example.com/edge"),
			newController("--controller-class=example.com/edge")), true},
		{"another namespace", one(withClass("nginx", ""), newController("--watch-namespace", "other")), false},
	} {
		if got := readProxy(model.NewSnapshot(c.objects, nil)) != nil; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestFlags(t *testing.T) {
	got := parseFlags([]string{"/nginx-ingress-controller", "--configmap=$(POD_NAMESPACE)/own", "--watch-namespace", "a",
		"--enable-ssl-passthrough", "--v=2"}, "infra")
	for name, want := range map[string]string{"configmap": "infra/own", "watch-namespace": "a",
		"enable-ssl-passthrough": "true", "v": "2"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}

func TestOrder(t *testing.T) {
	at := func(name string, day int) *model.Object {
		o := newIngress(name, host, nil, "/>web")
		if day > 0 {
			o.Created = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		}
		return o
	}
	objects := []*model.Object{at("b", 2), at("a", 2), at("c", 1), at("z", 3)}
	slices.SortFunc(objects, compareAge)
	var names []string
	for _, o := range objects {
		names = append(names, o.Ref.Name)
	}
	if got := strings.Join(names, " "); got != "c b a z" { // of equal times the name that sorts last comes first
		t.Error(got)
	}
}

func TestNormalizePath(t *testing.T) {
	for path, want := range map[string]string{"/": "/", "/a": "/a", "/a/": "/a/", "//a//b": "/a/b", "/a/./b": "/a/b",
		"/a/../b": "/b", "/a/..": "/", "/a/.": "/a/", "/%61": "/a", "/a%2fb": "/a/b", "/a/%2e%2e/b": "/b", "/a;v=1": "/a;v=1",
		"/a%252fb": "/a%2fb", "/a%3fb": "/a?b", "/..": "", "/%zz": "", "/%0": "", "/%00": "", "a": ""} {
		if got, _ := normalizePath(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestExpressions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"^/a", "taken"}, {"^/(a", "refused"}, {"^/a)", "refused"}, {"^/[a", "refused"}, {"^/a|*", "refused"},
		{`^/a\`, "refused"}, {"^/a(?!b)", "unknown"}, {`^/(a)\1`, "unknown"}, {"^/a++", "unknown"}, {"^/a(?=(b)", "unknown"},
	} {
		e := compileExpression(c.text)
		got := "taken"
		switch {
		case e.refused != "":
			got = "refused"
		case e.unknown != "":
			got = "unknown"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestLiteralPrefix(t *testing.T) {
	for text, want := range map[string]string{"/Abc": "/abc", "/a(?!b)": "/a", "/ab?c(?!d)": "/a", "/a|b": "",
		"/a.b": "/a"} {
		if got := literalPrefix(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
