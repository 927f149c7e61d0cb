package ingressnginx

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

func TestWhatIsNotEvaluated(t *testing.T) {
	allowed := newConfigMap(object{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"})
	checkAnswers(t, []answerCase{
		{"a look-around that may take the path", one(newIngress("web", host, notes{"use-regex": "true"}, "/a(?!b)>web")),
			"GET http://shop.example.com/ac", "NotEvaluated", "path /a(?!b) of Ingress store/web"},
		{"a look-around that cannot take it", one(newIngress("web", host, notes{"use-regex": "true"}, "/a(?!b)>web",
			"/other>cart")), "GET http://shop.example.com/other", "Matched cart:80/other", ""},
		{"a longer path before it", one(newIngress("web", host, notes{"use-regex": "true"}, "/a(?!b)>web",
			"/alphabetical>cart")), "GET http://shop.example.com/alphabetical", "Matched cart:80/alphabetical", ""},
		{"modsecurity", one(newIngress("web", host, notes{"enable-modsecurity": "true"}, "/>web")),
			"GET http://shop.example.com/", "NotEvaluated", "enable-modsecurity of Ingress store/web"},
		{"modsecurity of all, and off here", one(newConfigMap(object{"enable-modsecurity": "true"}),
			newIngress("web", host, notes{"enable-modsecurity": "false"}, "/>web")), "GET http://shop.example.com/",
			"Matched web:80/", ""},
		{"a snippet of the ConfigMap", one(newConfigMap(object{"http-snippet": "x;"}), newIngress("web", host, nil, "/>web")),
			"GET http://shop.example.com/", "NotEvaluated", "http-snippet"},
		{"a snippet of the question whether the client may pass", one(allowed, newIngress("web", host, notes{
			"auth-url": "http://id.example.org/", "auth-snippet": "x;"}, "/>web")), "GET http://shop.example.com/",
			"NotEvaluated", "auth-snippet of Ingress store/web"},
		{"app-root comes before a snippet of the location", one(allowed, newIngress("web", host, notes{
			"configuration-snippet": "x;", "app-root": "/home"}, "/>web")), "GET http://shop.example.com/",
			"Redirect 302 http://shop.example.com/home", ""},
		{"passthrough without the flags of the controller", one(newIngress("web", host, notes{"ssl-passthrough": "true"},
			"/>web")), "GET https://shop.example.com/", "NotEvaluated", "ssl-passthrough of Ingress store/web"},
		{"passthrough that is off", one(newController(), newIngress("web", host, notes{"ssl-passthrough": "true"}, "/>web")),
			"GET https://shop.example.com/", "Matched web:80/", ""},
		{"passthrough", one(newController("--enable-ssl-passthrough"), newIngress("web", host, notes{
			"ssl-passthrough": "true", "whitelist-source-range": "10.0.0.0/8"}, "/>web")),
			"GET https://shop.example.com/ ip=192.0.2.1", "Matched web:80/", ""},
		{"connections at once", one(newIngress("web", host, notes{"limit-connections": "2"}, "/>web")),
			"GET http://shop.example.com/ repeat=5", "Matched web:80/ 200=2-5 503=0-3", "limit-connections"},
		{"a variable in a target", one(newIngress("web", host, notes{"rewrite-target": "/$geoip_city"}, "/a>web")),
			"GET http://shop.example.com/a", "NotEvaluated", "rewrite-target of Ingress store/web"},
		{"a target without a slash", one(newIngress("web", host, notes{"rewrite-target": "x"}, "/a>web")),
			"GET http://shop.example.com/a", "NotEvaluated", `makes the path "x"`},
		{"a group without a slash", one(newIngress("web", host, notes{"rewrite-target": "$1"}, "/a(.*)>web")),
			"GET http://shop.example.com/ab", "NotEvaluated", `makes the path "b"`},
		{"a group with a slash", one(newIngress("web", host, notes{"rewrite-target": "$1"}, "/a(.*)>web")),
			"GET http://shop.example.com/a/b", "Matched web:80/b", ""},
		{"an alias that only PCRE knows", one(newIngress("web", host, notes{"server-alias": `~^(?=a)b`}, "/>web")),
			"GET http://other.example.com/", "NotEvaluated", "server-alias of Ingress store/web"},
	})
}

func TestAccess(t *testing.T) {
	users := newData("Secret", "store", "users", object{"auth": object{"present": true}})
	basic := notes{"auth-type": "basic", "auth-secret": "users"}
	with := func(more notes) notes {
		out := notes{}
		for _, m := range []notes{basic, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	checkAnswers(t, []answerCase{
		{"block-cidrs", one(newConfigMap(object{"block-cidrs": "10.0.0.0/8"}), newIngress("web", host, nil, "/>web")),
			"GET http://shop.example.com/ ip=10.0.0.1", "Denied 403 blocked", ""},
		{"a list of the location replaces them", one(newConfigMap(object{"block-cidrs": "10.0.0.0/8"}), newIngress("web",
			host, notes{"denylist-source-range": "192.0.2.0/24"}, "/>web")), "GET http://shop.example.com/ ip=10.0.0.1",
			"Matched web:80/", ""},
		{"a denylist comes before an allowlist", one(newIngress("web", host, notes{"whitelist-source-range": "10.0.0.0/8",
			"denylist-source-range": "10.1.0.0/16"}, "/>web")), "GET http://shop.example.com/ ip=10.1.0.1",
			"Denied 403 denylist", ""},
		{"an address that is not given", one(newIngress("web", host, notes{"whitelist-source-range": "10.0.0.0/8"}, "/>web")),
			"GET http://shop.example.com/", "Denied 403 allowlist", ""},
		{"satisfy any: the address suffices", one(users, newIngress("web", host, with(notes{"satisfy": "any",
			"whitelist-source-range": "10.0.0.0/8"}), "/>web")), "GET http://shop.example.com/ ip=10.1.0.1",
			"Matched web:80/", ""},
		{"satisfy any: so does the password", one(users, newIngress("web", host, with(notes{"satisfy": "any",
			"whitelist-source-range": "10.0.0.0/8"}), "/>web")), "GET http://shop.example.com/ ip=192.0.2.1 basic=yes",
			"Matched web:80/", ""},
		{"satisfy any: neither", one(users, newIngress("web", host, with(notes{"satisfy": "any",
			"whitelist-source-range": "10.0.0.0/8"}), "/>web")), "GET http://shop.example.com/ ip=192.0.2.1",
			"Denied 401 basic", ""},
		{"satisfy any with a service that refuses", one(newIngress("web", host, notes{"satisfy": "any",
			"auth-url": "http://id.example.org/"}, "/>web")), "GET http://shop.example.com/ external=403",
			"Denied 403 external", ""},
		{"the password is asked for before the service", one(users, newIngress("web", host, with(notes{
			"auth-url": "http://id.example.org/"}), "/>web")), "GET http://shop.example.com/ external=403",
			"Denied 401 basic", ""},
		{"satisfy any with a service that fails", one(users, newIngress("web", host, with(notes{"satisfy": "any",
			"auth-url": "http://id.example.org/"}), "/>web")), "GET http://shop.example.com/ external=500",
			"BackendError 500", ""},
		{"a service that fails", one(newIngress("web", host, notes{"auth-url": "http://id.example.org/"}, "/>web")),
			"GET http://shop.example.com/ external=503", "BackendError 500", ""},
		{"a URL that is none", one(newIngress("web", host, notes{"auth-url": "id.example.org"}, "/>web")),
			"GET http://shop.example.com/", "Denied 503 configuration", ""},
		{"a duration that is none", one(newIngress("web", host, notes{"auth-url": "http://id.example.org/",
			"auth-cache-duration": "200 soon"}, "/>web")), "GET http://shop.example.com/ external=200",
			"Denied 503 configuration", ""},
		{"global authentication, not where nobody has a host", one(newConfigMap(object{
			"global-auth-url": "http://id.example.org/"}), newIngress("web", host, nil, "/>web")),
			"GET http://other.example.com/", "NoMatch 404", ""},
		{"global authentication of paths that nobody has", one(newConfigMap(object{
			"global-auth-url": "http://id.example.org/"}), newIngress("web", host, nil, "/a>web")),
			"GET http://shop.example.com/b", "Denied 401 external", ""},
		{"a certificate with another subject", one(newData("Secret", "store", "ca", object{"ca.crt": object{}}),
			newIngress("web", host, notes{"auth-tls-secret": "store/ca", "auth-tls-match-cn": "CN=boss"}, "/>web")),
			"GET https://shop.example.com/ cert=CN=client", "Denied 403 clientCertificate", ""},
		{"plain http shows no certificate", one(newData("Secret", "store", "ca", object{"ca.crt": object{}}),
			newIngress("web", host, notes{"auth-tls-secret": "store/ca"}, "/>web")), "GET http://shop.example.com/",
			"Matched web:80/", ""},
		{"an auth-tls-secret without a namespace", one(newIngress("web", host, notes{"auth-tls-secret": "ca"}, "/>web")),
			"GET http://shop.example.com/", "Denied 403 configuration", ""},
	})
}

func TestErrorsAndBackends(t *testing.T) {
	fails := notes{"custom-http-errors": "503,404", "default-backend": "errors"}
	checkAnswers(t, []answerCase{
		{"an error that another backend answers", one(newIngress("web", host, fails, "/>web")),
			"GET http://shop.example.com/x backend=503", "Matched errors:80/", ""},
		{"an error that is not listed", one(newIngress("web", host, fails, "/>web")),
			"GET http://shop.example.com/x backend=500", "Matched 500 web:80/x", ""},
		{"a Service that is not there", one(newIngress("web", host, nil, "/>nobody")), "GET http://shop.example.com/",
			"BackendError 503", "does not exist"},
		{"a Service without the port", one(newIngressOf("web", nil, object{"rules": []any{object{"host": host, "http": object{
			"paths": []any{object{"path": "/", "pathType": "Prefix", "backend": object{"service": object{"name": "web",
				"port": object{"name": "admin"}}}}}}}}})), "GET http://shop.example.com/", "BackendError 503", "no port admin"},
		{"health checks", one(newIngress("web", host, nil, "/>web")), "GET http://other.example.com/healthz",
			"Answered 200", ""},
		{"the status of the proxy", one(newIngress("web", host, nil, "/>web")), "GET http://other.example.com/nginx_status",
			"Denied 403 allowlist", ""},
		{"an Ingress for all hosts", one(newIngressOf("all", notes{"permanent-redirect": "https://x.example.org"},
			object{"defaultBackend": newBackend("web")})), "GET http://other.example.com/a", "Matched web:80/a", ""},
		{"a canary with the Service of a path has the path itself", one(newIngress("web", host, nil, "/>web"),
			newIngress("c", host, notes{"canary": "true"}, "/c>web")), "GET http://shop.example.com/c", "Matched web:80/c", ""},
		{"a canary of which a later path is nobody's is none", one(newIngress("web", host, nil, "/a>web"),
			newIngress("c", host, notes{"canary": "true", "canary-weight": "100"}, "/a>next", "/b>next")),
			"GET http://shop.example.com/a", "Matched web:80/a", ""},
		{"a canary whose Service has a path of another host", one(newIngress("z", "z.example.com", nil, "/>next"),
			newIngress("web", host, nil, "/a>web"), newIngress("c", host, notes{"canary": "true", "canary-weight": "100"},
				"/a>next")), "GET http://shop.example.com/a", "Matched web:80/a", ""},
		{"a broken path", one(newIngress("web", host, nil, "/>web")), "GET http://shop.example.com/../a", "Answered 400", ""},
	})
}

func TestRedirects(t *testing.T) {
	checkAnswers(t, []answerCase{
		{"a status without a location", one(newIngress("web", host, notes{"permanent-redirect": "https://x.example.org",
			"permanent-redirect-code": "304"}, "/>web")), "GET http://shop.example.com/", "Answered 304", ""},
		{"a temporal redirect that is not http leaves out all", one(newIngress("web", host, notes{
			"temporal-redirect": "ftp://x", "permanent-redirect": "https://x.example.org"}, "/>web")),
			"GET http://shop.example.com/", "Matched web:80/", ""},
		{"a path is made a URL", one(newIngress("web", host, notes{"permanent-redirect": "/new"}, "/>web")),
			"GET http://shop.example.com:8080/", "Redirect 301 http://shop.example.com/new", ""},
		{"a target that is a URL", one(newIngress("web", host, notes{"rewrite-target": "https://x.example.org/$1"},
			"/a/(.*)>web")), "GET http://shop.example.com/a/b?c=1", "Redirect 302 https://x.example.org/b?c=1", ""},
		{"a port in the redirect to https", one(newController("--https-port=8443"), withTLS(newIngress("web", host,
			notes{"use-port-in-redirects": "true"}, "/>web"))), "GET http://shop.example.com:8080/a",
			"Redirect 308 https://shop.example.com:8443/a", ""},
		{"a host below a wildcard with a certificate", one(withTLS(newIngress("wild", "*.example.com", nil, "/>cart")),
			newIngress("web", host, nil, "/>web")), "GET http://shop.example.com/a", "Redirect 308 https://shop.example.com/a",
			""},
		{"another status", one(newConfigMap(object{"http-redirect-code": "301"}), withTLS(newIngress("web", host, nil,
			"/>web"))), "GET http://shop.example.com/a", "Redirect 301 https://shop.example.com/a", ""},
		{"a denied path adds no slash", one(newIngress("web", host, notes{"whitelist-source-range": "x"}, "/docs/>web")),
			"GET http://shop.example.com/docs", "Denied 503 configuration", ""},
	})
}

func TestBodies(t *testing.T) {
	limits := newConfigMap(object{"proxy-body-size": "2k"})
	denied := notes{"whitelist-source-range": "x"}
	checkAnswers(t, []answerCase{
		{"a denied path has nginx's own limit", one(limits, newIngress("web", host, denied, "/>web")),
			"GET http://shop.example.com/ body=5000", "Denied 503 configuration", ""},
		{"and keeps it", one(newConfigMap(object{"proxy-body-size": "0"}), newIngress("web", host, denied, "/>web")),
			"GET http://shop.example.com/ body=1048577", "Denied 413 bodySize", ""},
		{"another path has what is set", one(limits, newIngress("web", host, nil, "/>web")),
			"GET http://shop.example.com/ body=5000", "Denied 413 bodySize", ""},
		{"health checks", one(newIngress("web", host, nil, "/>web")),
			"GET http://other.example.com/healthz body=1048577", "Denied 413 bodySize", ""},
		{"the slash of an Exact path comes first", one(newIngress("a", host, notes{"relative-redirects": "true"},
			"/docs/>web"), newIngress("b", host, nil, "=/docs/>web")), "GET http://shop.example.com/docs",
			"Redirect 301 http://shop.example.com/docs/", ""},
		{"and its settings", one(newIngress("a", host, nil, "/docs/>web"), newIngress("b", host, notes{
			"relative-redirects": "true"}, "=/docs/>web")), "GET http://shop.example.com/docs", "Redirect 301 /docs/", ""},
		{"but not those of one that is denied", one(newIngress("a", host, nil, "/docs/>web"), newIngress("b", host, notes{
			"relative-redirects": "true", "whitelist-source-range": "x"}, "=/docs/>web")),
			"GET http://shop.example.com/docs", "Redirect 301 http://shop.example.com/docs/", ""},
	})
}

// TestHostThatMayBeDenied says that no path of a host is known where a Secret for certificates of clients may be
// missing: also not of another Ingress, and not without TLS.
func TestHostThatMayBeDenied(t *testing.T) {
	in := model.NewSnapshot(one(newIngress("a", host, notes{"auth-secret": "users", "auth-type": "basic",
		"auth-tls-secret": "store/ca"}, "/a>web"), newIngress("b", host, nil, "/b>web"), newService("web")), nil)
	maker := model.Ref{Group: "external-secrets.io", Kind: "ExternalSecret", Namespace: "store", Name: "x"}
	in.Makers = map[model.Ref]model.Ref{secretRef("store", "ca"): maker, secretRef("store", "users"): maker}
	p := readProxy(in)
	for _, url := range []string{"http://shop.example.com/b", "https://shop.example.com/b"} {
		got := p.Answer(newRequest(t, "GET "+url), nil)
		if got.Outcome != request.NotEvaluated || !strings.Contains(got.Why[0], "auth-tls-secret of Ingress store/a names") {
			t.Errorf("%s: %s %q", url, got.Outcome, got.Why)
		}
	}
}

// newIdleService makes a Service that has no endpoint.
func newIdleService(name string) []*model.Object {
	return one(newService(name), &model.Object{Ref: model.Ref{Group: "discovery.k8s.io", Kind: "EndpointSlice",
		Namespace: "store", Name: name}, Labels: map[string]string{"kubernetes.io/service-name": name},
		Body: model.Pack(object{"ports": []any{object{"name": "main"}}}, nil)})
}

// TestCanaryOfDefaultBackend says that the Service of default-backend has the canary of that for which it stands in.
func TestCanaryOfDefaultBackend(t *testing.T) {
	with := func(name, path, service string, more notes) *model.Object {
		out := notes{"default-backend": "errors"}
		for k, v := range more {
			out[k] = v
		}
		return newIngress(name, host, out, path+">"+service)
	}
	in := func(o ...*model.Object) []*model.Object {
		canary := newIngress("c", host, notes{"canary": "true", "canary-by-header": "X-Next"}, "/a>next")
		return append(append(o, canary), newIdleService("idle")...)
	}
	const toNext = "GET http://shop.example.com/a X-Next:always"
	checkAnswers(t, []answerCase{
		{"the canary of a Service without endpoints", in(with("web", "/a", "idle", nil)), toNext, "Matched next:80/a", ""},
		{"not for it", in(with("web", "/a", "idle", nil)), "GET http://shop.example.com/a X-Next:never",
			"Matched errors:80/a", ""},
		{"two Services with other canaries", in(with("web", "/a", "idle", nil), with("b", "/b", "nobody", nil)),
			"GET http://shop.example.com/b", "NotEvaluated", "default-backend of Ingress store/b"},
		{"errors", in(with("web", "/a", "web", notes{"custom-http-errors": "502"})), toNext + " backend=502",
			"Matched next:80/", ""},
		{"errors that the canary does not get", in(with("web", "/a", "web", notes{"custom-http-errors": "502"})),
			"GET http://shop.example.com/a X-Next:never backend=502", "Matched errors:80/", ""},
	})
}
