package request

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// routeLike lets all Gateways choose rules as the Gateway API says, but for what change changes.
func (w world) routeLike(change func(*routing.Profile)) world {
	p := routing.Standard()
	p.Name = "Example"
	change(&p)
	w.matcher.RouteWith(profilesOf(&p))
	return w
}

func profilesOf(p *routing.Profile) Profiles {
	return Profiles{All: []*routing.Profile{p},
		AtGateway: func(*topology.Graph, topology.NodeID) *routing.Profile { return p }}
}

// TestReplacePrefix: what becomes of a path, as the Gateway API says and at data planes that do it
// otherwise.
func TestReplacePrefix(t *testing.T) {
	const c, trim, root, slash = routing.ReplaceCharacters, routing.TrimReplacement, routing.TidyRoot, routing.TidySlash
	for _, e := range []struct {
		matched, with, path, want string
		ways                      []routing.Replacement
	}{
		{"/", "/new", "/q", "/new/q", nil},
		{"/", "/new", "/", "/new/", nil},
		{"/x", "/new/", "/x", "/new/", nil},
		{"/x", "/new/", "/x/y", "/new/y", nil},
		{"/x/", "/new", "/x/y", "/new/y", nil},
		{"/x", "", "/x", "/", nil},
		{"/x", "/", "/x/y", "/y", nil},
		{"/", "/new", "/q", "/newq", []routing.Replacement{c}},
		{"/x", "/", "/x", "/", []routing.Replacement{c}},
		{"/x", "/", "/x/y", "//y", []routing.Replacement{c}},
		{"/x/", "/new", "/x/y", "/new/y", []routing.Replacement{c}},
		{"/x", "/new/", "/x/y", "/new//y", []routing.Replacement{c, root}},
		{"/x", "/", "/x//y", "/y", []routing.Replacement{c, root}},
		{"/", "/", "/y", "/y", []routing.Replacement{c, root}},
		{"/x", "", "/x/y", "/y", []routing.Replacement{c, root}},
		{"/x", "/", "/x//y", "//y", []routing.Replacement{c, trim, slash}},
		{"/x", "/new/", "/x", "/new", []routing.Replacement{c, trim, slash}},
		{"/x", "/", "/x", "/", []routing.Replacement{c, trim, slash}},
	} {
		if got := replacePrefix(e.path, e.matched, e.with, e.ways); got != e.want {
			t.Errorf("%s, %q in the place of %s, %v: got %s, want %s", e.path, e.with, e.matched, e.ways, got, e.want)
		}
	}
}

// TestRedirectPort: the ports that the Location of a redirect leaves out, and whether it leads back.
func TestRedirectPort(t *testing.T) {
	const more = "  - {name: alt, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}\n" +
		"  - {name: tls, port: 8443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}}\n"
	for _, e := range []struct {
		how                routing.RedirectPort
		filter, url, leads string
		loops              bool
	}{
		{routing.StandardPorts, "{port: 80}", "https://h/a", "https://h:80/a", false},
		{routing.Never80Or443, "{port: 80}", "https://h/a", "https://h/a", true},
		{routing.Never80Or443, "{port: 443}", "http://h/a", "http://h/a", true},
		{routing.Never80Or443, "{port: 8080}", "http://h/a", "http://h:8080/a", false},
		{routing.Never80Or443, "{}", "http://h:8080/a", "http://h:8080/a", true},
		{routing.StandardPorts, "{hostname: h}", "http://H/a", "http://h/a", true},
		{routing.StandardPorts, "{}", "http://H/a", "http://H/a", true},
		{routing.StandardPorts, "{scheme: https}", "https://h:8443/a", "https://h/a", false},
		{routing.StandardPorts, "{path: {type: ReplaceFullPath, replaceFullPath: /b}}", "http://h/a", "http://h/b", false},
	} {
		w := newWorld(t, plainGateway+more+routeOf("HTTPRoute", "r",
			"rules: [{filters: [{type: RequestRedirect, requestRedirect: "+e.filter+"}]}]"), nil).
			routeLike(func(p *routing.Profile) { p.RedirectPort = e.how })
		if a := w.get(t, e.url); a.Location.URL != e.leads || a.Location.loops != e.loops {
			t.Errorf("%s %s: leads to %s (loops: %v), want %s (%v)", e.filter, e.url, a.Location.URL, a.Location.loops,
				e.leads, e.loops)
		}
	}
}

// TestRedirectKeepsHost: the port that a Location has at a data plane that writes the request's
// host as it came: a redirect that says nothing of scheme and port has the listener's.
func TestRedirectKeepsHost(t *testing.T) {
	const more = "  - {name: alt, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}\n"
	for _, e := range []struct{ filter, url, host, leads string }{
		{"{}", "http://h/a", "h", "http://h/a"},
		{"{}", "http://h:8080/a", "h", "http://h:8080/a"},
		{"{}", "http://h:8080/a", "h:1234", "http://h:8080/a"},
		{"{scheme: http}", "http://h:8080/a", "h", "http://h/a"},
		{"{scheme: http}", "http://h:8080/a", "h:8080", "http://h:8080/a"},
		{"{scheme: https}", "http://h/a", "h:80", "https://h/a"},
		{"{port: 80}", "http://h:8080/a", "h:8080", "http://h:8080/a"},
		{"{port: 80}", "http://h:8080/a", "h", "http://h/a"},
	} {
		w := newWorld(t, plainGateway+more+routeOf("HTTPRoute", "r",
			"rules: [{filters: [{type: RequestRedirect, requestRedirect: "+e.filter+"}]}]"), nil).
			routeLike(func(p *routing.Profile) { p.RedirectHost = routing.HostAsWritten })
		if a := w.get(t, e.url, "Host: "+e.host); a.Location.URL != e.leads {
			t.Errorf("%s %s for %s: leads to %s, want %s", e.filter, e.url, e.host, a.Location.URL, e.leads)
		}
	}
}
