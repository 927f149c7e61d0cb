package ingressnginx

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestSettingsOfPaths says what is listed of a path besides what has a default, with the object and the field that
// set it.
func TestSettingsOfPaths(t *testing.T) {
	users := newData("Secret", "store", "users", object{"auth": object{"present": true}})
	ca := newData("Secret", "store", "ca", object{"ca.crt": object{}})
	const a, config = " by a ", " by ingress-nginx-controller data."
	for _, c := range []struct {
		name    string
		objects []*model.Object
		want    []string
	}{
		{"defaults", one(newConfigMap(object{"ssl-redirect": "true"}), newIngress("a", host, nil, "/>web")), nil},
		{"credentials", one(users, ca, newIngress("a", host, notes{"auth-type": "basic", "auth-secret": "users",
			"auth-url": "http://id.example.org/", "satisfy": "any", "auth-tls-secret": "store/ca",
			"auth-tls-verify-client": "optional"}, "/>web")), []string{
			"authentication.clientCertificate store/ca (optional)" + a + "auth-tls-secret",
			"authentication.basic users" + a + "auth-secret",
			"authentication.external http://id.example.org/" + a + "auth-url", "authentication.satisfy any" + a + "satisfy"}},
		{"a service for all", one(newConfigMap(object{"global-auth-url": "http://id.example.org/"}), newIngress("a", host, nil,
			"/>web")), []string{"authentication.external http://id.example.org/" + config + "global-auth-url"}},
		{"an exception", one(newConfigMap(object{"global-auth-url": "http://id.example.org/", "no-auth-locations": "/"}),
			newIngress("a", host, nil, "/>web")), nil},
		{"certificates of another Ingress", one(ca, newIngress("a", host, nil, "/>web"), newIngress("b", host, notes{
			"auth-tls-secret": "store/ca"}, "/b>web")), []string{
			"authentication.clientCertificate store/ca by b auth-tls-secret"}},
		{"addresses", one(newConfigMap(object{"denylist-source-range": "10.0.0.0/8", "block-cidrs": "192.0.2.1"}),
			newIngress("a", host, notes{"whitelist-source-range": "10.0.0.1,10.1.0.0/16"}, "/>web")), []string{
			"addresses.deny 10.0.0.0/8" + config + "denylist-source-range",
			"addresses.allow 10.0.0.1/32 10.1.0.0/16" + a + "whitelist-source-range"}},
		{"blocked addresses", one(newConfigMap(object{"block-cidrs": "192.0.2.1"}), newIngress("a", host, nil, "/>web")),
			[]string{"addresses.deny 192.0.2.1/32" + config + "block-cidrs"}},
		{"redirects", one(newIngress("a", host, notes{"permanent-redirect": "https://x.example.org", "app-root": "/home",
			"from-to-www-redirect": "true", "force-ssl-redirect": "true"}, "/>web")), []string{
			"redirect.appRoot /home" + a + "app-root", "redirect.www www.shop.example.com" + a + "from-to-www-redirect",
			"redirect.to 301 https://x.example.org" + a + "permanent-redirect", "redirect.https 308" + a + "force-ssl-redirect"}},
		{"a certificate", one(withTLS(newIngress("a", host, nil, "/>web"))), []string{"redirect.https 308 by a spec.tls"}},
		{"a certificate, and no redirect", one(withTLS(newIngress("a", host, notes{"ssl-redirect": "false"}, "/>web"))), nil},
		{"a redirect without a certificate", one(newIngress("a", host, notes{"ssl-redirect": "true"}, "/>web")), nil},
		{"a redirect for all", one(newConfigMap(object{"force-ssl-redirect": "true"}), newIngress("a", host, nil, "/>web")),
			[]string{"redirect.https 308" + config + "force-ssl-redirect"}},
		{"the backend", one(newIngress("a", host, notes{"rewrite-target": "/x", "upstream-vhost": "x.example.org",
			"affinity": "cookie", "enable-cors": "true", "limit-rps": "5", "limit-connections": "2"}, "/>web"),
			newIngress("c", host, notes{"canary": "true", "canary-by-header": "X-Next", "canary-weight": "20"}, "/>next")),
			[]string{"rewrite.target /x" + a + "rewrite-target", "cors.origins *" + a + "enable-cors",
				"limits.rps 5" + a + "limit-rps", "limits.connections 2" + a + "limit-connections",
				"upstreamHost x.example.org" + a + "upstream-vhost", "affinity.cookie INGRESSCOOKIE" + a + "affinity",
				"canary.header X-Next by c canary-by-header", "canary.weight 20 of 100 by c canary-weight"}},
		{"origins", one(newIngress("a", host, notes{"enable-cors": "true",
			"cors-allow-origin": "https://a.example.org, https://b.example.org"}, "/>web")), []string{
			"cors.origins https://a.example.org https://b.example.org" + a + "cors-allow-origin"}},
		{"a path that is denied", one(newIngress("a", host, notes{"whitelist-source-range": "x", "app-root": "/home"},
			"/>web")), nil},
		{"a host that is denied", one(newIngress("a", host, notes{"auth-tls-secret": "store/none"}, "/a>web"), newIngress("b",
			host, notes{"satisfy": "any"}, "/>web")), nil},
	} {
		var got []string
		p := newProxy(c.objects...)
		for _, l := range p.Locations {
			if l.Host != host || l.Path != "/" {
				continue
			}
			for _, s := range l.Settings[:len(l.Settings)-len(proxySettings)-1] {
				got = append(got, s.Name+" "+s.Value+" by "+s.Source.Name+" "+strings.TrimPrefix(s.Field, defaultPrefix+"/"))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}
