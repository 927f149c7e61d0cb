package ingressnginx

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects []*model.Object
		code    model.Code
		want    string // a part of the message; "": there is none of the code
	}{
		{"two Exact roots", one(newIngress("a", host, nil, "=/>web"), newIngress("b", host, nil, "=/>web")),
			configurationRefused.ID, `duplicate location "/"`},
		{"twins of an expression host", one(newIngress("a", host, notes{"use-regex": "true"}, "/r>web"), newIngress("b", host,
			nil, "/a>web", "/a/>web")), configurationRefused.ID, ""},
		{"twins of an expression host that ask a service", one(newIngress("a", host, notes{"use-regex": "true"}, "/r>web"),
			newIngress("b", host, notes{"auth-url": "http://id.example.org/"}, "/a>web", "/a/>web")),
			configurationRefused.ID, "duplicate location"},
		{"a target without a variable", one(newIngress("a", host, notes{"rewrite-target": "/a$"}, "/r>web")),
			configurationRefused.ID, "invalid variable name"},
		{"an alias with a wildcard in it", one(newIngress("a", host, notes{"server-alias": "a.*.b"}, "/r>web")),
			configurationRefused.ID, `invalid server name or wildcard "a.*.b"`},
		{"authentication that a value takes away", one(newIngress("a", host, notes{"auth-url": "http://id.example.org/",
			"auth-request-redirect": "{"}, "/>web")), authenticationDropped.ID, "auth-request-redirect"},
		{"a snippet that drops the Ingress", one(newIngress("a", host, notes{"server-snippet": "x"}, "/>web")),
			snippetIgnored.ID, "ignored as a whole"},
		{"a snippet that is not read", one(newConfigMap(object{"annotations-risk-level": "Critical"}), newIngress("a", host,
			notes{"server-snippet": "x"}, "/>web")), snippetIgnored.ID, "allow-snippet-annotations is not true"},
		{"a canary of a Service that others use", one(newIngress("a", host, nil, "/one>web", "/two>web"),
			newIngress("c", host, notes{"canary": "true"}, "/two>next")), canaryLeaks.ID, "shop.example.com/one"},
		{"a canary of a Service of its own", one(newIngress("a", host, nil, "/one>cart", "/two>web"), newIngress("c", host,
			notes{"canary": "true"}, "/two>next")), canaryLeaks.ID, ""},
		{"paths that nobody has", one(newIngress("a", host, notes{"whitelist-source-range": "10.0.0.0/8"}, "/a>web")),
			unclaimedPathInherits.ID, "whitelist-source-range also holds"},
		{"a path / of all", one(newIngress("a", host, notes{"whitelist-source-range": "10.0.0.0/8"}, "/>web")),
			unclaimedPathInherits.ID, ""},
		{"an Exact path of an expression host", one(newIngress("a", host, notes{"use-regex": "true"}, "/r>web"),
			newIngress("b", host, nil, "=/header>web", "/x>web")), hostIsRegex.ID, "use-regex of Ingress store/a"},
		{"its own paths", one(newIngress("a", host, notes{"use-regex": "true"}, "/r>web", "/x>web")), hostIsRegex.ID, ""},
		{"names decide", one(newIngress("a", host, nil, "/x>web"), newIngress("b", host, nil, "/x>cart")),
			model.OrderUncertain, "store/b comes before store/a"},
		{"a Secret for certificates of clients, of another namespace", one(newIngress("a", host, notes{
			"auth-tls-secret": "other/ca", "auth-type": "basic"}, "/>web")), model.AnnotationIgnored, "auth-tls-secret of " +
			"Ingress store/a names a Secret of another namespace, and allow-cross-namespace-resources of the ConfigMap " +
			"ingress-nginx/ingress-nginx-controller is taken to be false, as it is not in the input: its hosts answer 403"},
		{"a Secret of another namespace, and the ConfigMap", one(newConfigMap(object{}), newIngress("a", host, notes{
			"auth-type": "basic", "auth-secret": "other/users"}, "/>web")), model.AnnotationIgnored,
			"ingress-nginx/ingress-nginx-controller is not true: its paths answer 503"},
		{"a Secret of another namespace that is allowed", one(newConfigMap(object{
			"allow-cross-namespace-resources": "true"}), newData("Secret", "other", "ca", object{"ca.crt": object{}}),
			newIngress("a", host, notes{"auth-tls-secret": "other/ca"}, "/>web")), model.AnnotationIgnored, ""},
		{"a Secret that is not in the input", one(newIngress("a", host, notes{"auth-type": "basic", "auth-secret": "u"},
			"/>web")), model.NotEvaluated, "names the Secret store/u"},
	} {
		var got []string
		for _, p := range newProxy(c.objects...).Problems {
			if p.Code == c.code && (p.Code != model.NotEvaluated || p.Ref != nil) {
				got = append(got, p.Message)
			}
		}
		if (c.want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestTestsTellPathsApart holds the tests of a host against the locations that its paths get: those that no test
// tells apart get the same one.
func TestTestsTellPathsApart(t *testing.T) {
	paths := []string{"/", "/a", "/A", "/a/", "/a/x", "/ab", "/docs", "/docs/", "/docs/x", "/one", "/ONE/x", "/xone",
		"/order/1", "/order/x", "/r", "/R/x"}
	for _, objects := range [][]*model.Object{
		one(newIngress("a", host, nil, "/a>web", "=/a>cart", "/docs/>next", "=/one>errors")),
		one(newIngress("a", host, notes{"use-regex": "true"}, "/order/[0-9]+$>web", "/one|xone>cart", "/r>next",
			"=/a>errors")),
		one(newIngress("a", host, notes{"app-root": "/a"}, "/a>web")),
	} {
		p := newProxy(objects...)
		tests := p.Tests(host)
		got := map[string]string{}
		for _, path := range paths {
			key := ""
			for _, test := range tests.Paths {
				key += map[bool]string{true: "1", false: "0"}[matchesPath(test, path)]
			}
			answer := p.Answer(newRequest(t, "GET http://shop.example.com"+path), nil)
			place := formatAnswer(answer)
			if len(answer.Backends) > 0 {
				place = answer.Backends[0].Ref.Name + answer.Path
			}
			if before, seen := got[key]; seen && before != place {
				t.Errorf("%s: %s, and another path with the same tests %s", path, place, before)
			}
			got[key] = place
		}
	}
}

func matchesPath(test request.Test, path string) bool {
	switch test.Form {
	case request.Exact:
		return path == test.Value
	case request.Prefix:
		return path == test.Value || strings.HasPrefix(path, test.Value+"/")
	}
	return regexp.MustCompile(`\A(?:` + test.Value + `)\z`).MatchString(path)
}
