package ingressnginx

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestTLSOfHosts(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects []*model.Object
		host    string
		want    bool
	}{
		{"no entry", one(newIngress("a", host, nil, "/>web")), host, false},
		{"an entry", one(withTLS(newIngress("a", host, nil, "/>web"))), host, true},
		{"an entry of another Ingress of the host", one(newIngress("a", host, nil, "/>web"), withTLS(newIngress("b", host,
			nil, "/b>web"))), host, true},
		{"an entry that names another host", one(withTLS(newIngress("a", "other.example.com", nil, "/>web"))),
			"other.example.com", true},
		{"an entry of another host", one(newIngress("a", host, nil, "/>web"), withTLS(newIngress("b", "other.example.com",
			nil, "/>web"))), host, false},
		{"an entry of the wildcard above", one(newIngress("a", host, nil, "/>web"), withTLS(newIngress("b", "*.example.com",
			nil, "/>web"))), host, true},
		{"a host below a wildcard", one(withTLS(newIngress("b", "*.example.com", nil, "/>web"))), host, true},
		{"an alias", one(withTLS(newIngress("a", host, notes{"server-alias": "b.example.org"}, "/>web"))), "b.example.org",
			true},
		{"all hosts", one(withTLS(newIngress("a", "", nil, "/>web"))), "", true},
		{"all hosts, without an entry", one(newIngress("a", "", nil, "/>web")), "", false},
		{"connections that are handed on", one(newIngress("a", host, notes{"ssl-passthrough": "true"}, "/>web")), host, true},
	} {
		if got := newProxy(c.objects...).Tests(c.host).TLS; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestPathsOfTheProxyItself says that nobody is made to ask about what the proxy has for itself.
func TestPathsOfTheProxyItself(t *testing.T) {
	p := newProxy(newIngress("a", host, nil, "/>web"))
	for _, host := range []string{"", "nobody.example.com"} {
		if got := p.Tests(host).Paths; len(got) != 1 || got[0].Value != "" {
			t.Errorf("%q: %v, want the path / alone", host, got)
		}
	}
}
