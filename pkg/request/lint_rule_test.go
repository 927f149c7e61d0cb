package request

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// lintLike returns the problems of some codes at data planes with a profile: code, object, message
// and hint.
func lintLike(t *testing.T, text string, change func(*routing.Profile), codes ...model.Code) []string {
	t.Helper()
	p := routing.Standard()
	p.Name = "Example"
	change(&p)
	var out []string
	for _, found := range Lint(newWorld(t, text, nil).graph, model.NewSettings(nil), profilesOf(&p)) {
		for _, code := range codes {
			if found.Code == code {
				out = append(out, found.Ref.String()+": "+found.Message+" ("+found.Hint+")")
			}
		}
	}
	return out
}

func expectOne(t *testing.T, got []string, want string) {
	t.Helper()
	if want == "" && got != nil || want != "" && (len(got) != 1 || !strings.Contains(got[0], want)) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// TestRedirectLoop: which redirects lead to the request itself.
func TestRedirectLoop(t *testing.T) {
	const more = "  - {name: alt, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}\n"
	guard := func(p *routing.Profile) { p.RedirectGuard = true }
	plain := func(*routing.Profile) {}
	full := "path: {type: ReplaceFullPath, replaceFullPath: /new}"
	for _, c := range []struct {
		name, parent, hosts, match, redirect, rest string
		how                                        func(*routing.Profile)
		want                                       string
	}{
		{"scheme, at both listeners", "gw", "h", "/", "scheme: https", "", plain, "GET https://h/ is redirected to itself"},
		{"scheme, at one listener", "gw, sectionName: http", "h", "/", "scheme: https", "", plain, ""},
		{"scheme, with a guard", "gw", "h", "/", "scheme: https", "", guard, ""},
		{"to the own host", "gw, sectionName: http", "h", "/a", "hostname: h", "", plain, "GET http://h/a is redirected"},
		{"to a host below a wildcard", "gw, sectionName: http", `"*.h"`, "/", "hostname: b.h", "", plain, "GET http://b.h/"},
		{"to another host", "gw, sectionName: http", `"*.h"`, "/", "hostname: b.i", "", plain, ""},
		{"to the port of the scheme", "gw, sectionName: alt", "h", "/", "scheme: http", "", plain, ""},
		{"to the own port", "gw, sectionName: alt", "h", "/", "port: 8080", "", plain, "GET http://h:8080/"},
		{"to a path below", "gw, sectionName: http", "h", "/", full, "", plain, "GET http://h/new is redirected"},
		{"that another rule takes", "gw, sectionName: http", "h", "/", full,
			", {matches: [{path: {type: Exact, value: /new}}], backendRefs: [{name: s, port: 80}]}", plain, ""},
		{"to a path elsewhere", "gw, sectionName: http", "h", "/old", full, "", plain, ""},
		{"to the prefix itself", "gw, sectionName: http", "h", "/a",
			"path: {type: ReplacePrefixMatch, replacePrefixMatch: /a}", "", plain, "GET http://h/a/q is redirected"},
		{"to another prefix", "gw, sectionName: http", "h", "/a",
			"path: {type: ReplacePrefixMatch, replacePrefixMatch: /b}", "", plain, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			route := strings.Replace(routeOf("HTTPRoute", "r", "hostnames: ["+c.hosts+"]\nrules: [{matches: [{path: {value: "+
				c.match+"}}], filters: [{type: RequestRedirect, requestRedirect: {"+c.redirect+"}}]}"+c.rest+"]"),
				"{name: gw}", "{name: "+c.parent+"}", 1)
			expectOne(t, lintLike(t, plainGateway+more+route, c.how, model.RedirectLoop), c.want)
		})
	}
}

// TestRedirectLoopOfConditions: conditions of the match, expressions among them, are met by the
// example.
func TestRedirectLoopOfConditions(t *testing.T) {
	route := routeOf("HTTPRoute", "r", "hostnames: [h]\nrules: [{matches: [{path: {type: RegularExpression, value: '/v[0-9]+/(a|b)c*'},"+
		" method: POST, headers: [{name: x, type: RegularExpression, value: 'n{2}'}], queryParams: [{name: q, value: z}]}],"+
		" filters: [{type: RequestRedirect, requestRedirect: {scheme: http}}]}]")
	expectOne(t, lintLike(t, plainGateway+route, func(*routing.Profile) {}, model.RedirectLoop),
		"POST http://h/v0/a?q=z, x: nn is redirected to itself")
}

// TestRewriteDiffers: what is said of a prefix that a data plane replaces in its own way, and what to
// write.
func TestRewriteDiffers(t *testing.T) {
	const c, trim, root = routing.ReplaceCharacters, routing.TrimReplacement, routing.TidyRoot
	all, some := []routing.Replacement{c, trim, root}, []routing.Replacement{c, root}
	for _, e := range []struct {
		filter, prefix, with string
		ways                 []routing.Replacement
		want                 string
	}{
		{"URLRewrite", "/", "/new", all, "Example sends /newq on for /q, where the Gateway API says /new/q: it puts /new in " +
			"the place of / character by character (give the rule a longer path prefix, such as /shop, and replace that by /new/shop)"},
		{"URLRewrite", "/", "/new", some, "(write replacePrefixMatch: /new/)"},
		{"URLRewrite", "/x", "/new/", some, "sends /new//q on for /x/q, where the Gateway API says /new/q: it puts /new/ in " +
			"the place of /x character by character (write replacePrefixMatch: /new)"},
		{"URLRewrite", "/x", "/new/", all, "sends /new on for /x, where the Gateway API says /new/"},
		{"RequestRedirect", "/x", "/", []routing.Replacement{c}, "redirects /x/q to //q, where the Gateway API says /q: it puts " +
			"/ in the place of /x character by character (replace the prefix by another one than /"},
		{"URLRewrite", "/x", "/", some, ""},
		{"URLRewrite", "/x", "/new", some, ""},
		{"URLRewrite", "/", "/new", nil, ""},
	} {
		to := "path: {type: ReplacePrefixMatch, replacePrefixMatch: " + e.with + "}"
		filter := map[string]string{"URLRewrite": "urlRewrite", "RequestRedirect": "requestRedirect"}[e.filter]
		route := routeOf("HTTPRoute", "r", "hostnames: [h]\nrules: [{matches: [{path: {value: "+e.prefix+"}}], filters: [{type: "+
			e.filter+", "+filter+": {"+to+"}}]}]")
		got := lintLike(t, plainGateway+route, func(p *routing.Profile) {
			if p.Rewrite = e.ways; e.filter != "URLRewrite" {
				p.Rewrite, p.Redirect = nil, e.ways
			}
		}, model.RewriteDiffers)
		expectOne(t, got, e.want)
	}
}

// TestPathCommitted: which rules keep requests from others without taking them.
func TestPathCommitted(t *testing.T) {
	commit := func(p *routing.Profile) {
		p.Commit, p.Regex.Rank, p.Regex.Tied, p.Prefix = true, routing.RankBeforePrefix, routing.TiedStart, routing.OwnExact
	}
	const post, header = ", method: POST", ", headers: [{name: x, value: a}]"
	all := ruleOf("all", "PathPrefix", "/", "")
	for _, c := range []struct {
		name  string
		how   func(*routing.Profile)
		rules []string
		want  string
	}{
		{"a longer prefix", commit, []string{ruleOf("p", "PathPrefix", "/a", post), all},
			"httproute/infra/r/p: GET http://h/a gets 404 because of it, although httproute/infra/r/all is there: Example " +
				"chooses path prefix /a first, and this asks for method POST as well (add a rule for path prefix /a without conditions"},
		{"an expression", commit, []string{ruleOf("p", "RegularExpression", "/a[0-9]", header), all}, "GET http://h/a0 gets 404"},
		{"an exact path", commit, []string{ruleOf("p", "Exact", "/a", header), all}, "GET http://h/a gets 404"},
		{"each method has a rule", commit, []string{ruleOf("p", "PathPrefix", "/a", ", method: GET"),
			ruleOf("o", "PathPrefix", "/a", post), all}, "PUT http://h/a gets 404"},
		{"one without conditions is there", commit, []string{ruleOf("p", "PathPrefix", "/a", post),
			ruleOf("o", "PathPrefix", "/a", ""), all}, ""},
		{"nothing wider", commit, []string{ruleOf("p", "PathPrefix", "/a", post), ruleOf("b", "PathPrefix", "/b", "")}, ""},
		{"others need all conditions", func(*routing.Profile) {}, []string{ruleOf("p", "PathPrefix", "/a", post), all}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			route := routeOf("HTTPRoute", "r", "hostnames: [h]\nrules: ["+strings.Join(c.rules, ", ")+"]")
			http := strings.Split(plainGateway, "  - {name: https")[0]
			expectOne(t, lintLike(t, http+route, c.how, model.PathCommitted), c.want)
		})
	}
}

// TestProxyRefuses: which listeners make a proxy refuse the routes of a port, and what becomes of
// requests to it.
func TestProxyRefuses(t *testing.T) {
	refusing := func(p *routing.Profile) {
		p.RefusesSharedHosts, p.Hosts, p.Hostname = true, routing.Shadow, routing.Effective
		p.Listeners = routing.Listeners{Share: routing.SharePlain, Drop: routing.DropEqual, Secure: true}
		p.Kinds = routing.KindsTogether
	}
	gateway := func(protocol, second string, port int) string {
		return "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: gw, namespace: infra}\n" +
			"spec:\n  gatewayClassName: c\n  listeners:\n  - {name: any, port: 80, protocol: " + protocol + "}\n" +
			fmt.Sprintf("  - {name: second, port: %d, protocol: %s, hostname: %q}\n", port, protocol, second)
	}
	const rules = "rules: [{backendRefs: [{name: s, port: 80}]}]"
	one := routeOf("HTTPRoute", "r", "hostnames: [shop.h]\n"+rules)
	named := strings.Replace(one, "{name: gw}", "{name: gw, sectionName: second}", 1)
	call := strings.Replace(routeOf("GRPCRoute", "g", "hostnames: [shop.h]\n"+rules), "{name: gw}",
		"{name: gw, sectionName: any}", 1)
	for _, c := range []struct {
		name, text string
		how        func(*routing.Profile)
		want       string
	}{
		{"one route at two listeners", gateway("HTTP", "*.h", 80) + one, refusing,
			"gateway/infra/gw: gateway/infra/gw/any and gateway/infra/gw/second share port 80 and both have routes for shop.h " +
				"(httproute/infra/r): the proxy of Example refuses"},
		{"two routes of two kinds", gateway("HTTP", "*.h", 80) + named + call, refusing, "(grpcroute/infra/g, httproute/infra/r)"},
		{"the name of the other listener", gateway("HTTP", "shop.h", 80) + one, refusing, ""},
		{"one listener named", gateway("HTTP", "*.h", 80) + named, refusing, ""},
		{"two ports", gateway("HTTP", "*.h", 81) + one, refusing, ""},
		{"TLS", gateway("HTTPS", "*.h", 80) + one, refusing, ""},
		{"others do not", gateway("HTTP", "*.h", 80) + one, func(p *routing.Profile) {
			refusing(p)
			p.RefusesSharedHosts = false
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			expectOne(t, lintLike(t, c.text, c.how, model.ProxyRefuses), c.want)
			scheme := map[bool]string{true: "https", false: "http"}[strings.Contains(c.text, "HTTPS")]
			w := newWorld(t, c.text, nil).routeLike(c.how)
			a := w.get(t, scheme+"://shop.h:80/")
			if refused := a.Outcome == Conditional; refused != (c.want != "") || refused != strings.Contains(notes(a), "error ProxyRefuses") {
				t.Errorf("%s, %q, %s", w.brief(a), a.Why, notes(a))
			}
		})
	}
}

// TestProxyRefusesSets: listeners of ListenerSets count as well.
func TestProxyRefusesSets(t *testing.T) {
	text := strings.Replace(plainGateway, "  gatewayClassName: c\n",
		"  gatewayClassName: c\n  allowedListeners: {namespaces: {from: Same}}\n", 1) + `---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: more, namespace: infra}
spec:
  parentRef: {name: gw}
  listeners: [{name: wild, port: 80, protocol: HTTP, hostname: "*.h"}]
` + strings.Replace(routeOf("HTTPRoute", "r", "hostnames: [shop.h]\nrules: [{backendRefs: [{name: s, port: 80}]}]"),
		"[{name: gw}]", "[{name: gw}, {kind: ListenerSet, name: more}]", 1)
	expectOne(t, lintLike(t, text, func(p *routing.Profile) {
		p.RefusesSharedHosts, p.Listeners = true, routing.Listeners{Share: routing.SharePlain, Drop: routing.DropEqual}
	}, model.ProxyRefuses), "gateway/infra/gw/http and listenerset/infra/more/wild share port 80")
}
