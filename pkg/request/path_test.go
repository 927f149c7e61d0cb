package request

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func TestTidying(t *testing.T) {
	all := Tidying{Dots: true, Slashes: true, Escaped: DecodeEscaped}
	for _, c := range []struct {
		how        Tidying
		path, want string
	}{
		{Tidying{}, "/x/..//%2F.", "/x/..//%2F."},
		{Tidying{Dots: true}, "/x/../admin", "/admin"},
		{Tidying{Dots: true}, "/x/./admin/", "/x/admin/"},
		{Tidying{Dots: true}, "/x/%2e%2E/admin", "/admin"},
		{Tidying{Dots: true}, "/x/.%2e", "/"},
		{Tidying{Dots: true}, "/x/.", "/x/"},
		{Tidying{Dots: true}, "/../../a", "/a"},
		{Tidying{Dots: true}, "/a//../b", "/a/b"},
		{Tidying{Dots: true}, "/a/...", "/a/..."},
		{Tidying{Dots: true}, "/", "/"},
		{Tidying{Slashes: true}, "///a//b/", "/a/b/"},
		{all, "/x%2f..%2Fadmin", "/admin"},
		{all, "/a//../b", "/a/b"},
		{Tidying{Dots: true, Slashes: true}, "/x%2f../admin", "/x%2f../admin"},
		{Tidying{Dots: true, Slashes: true, SlashesFirst: true}, "/a//../b", "/b"},
		{Tidying{Decode: DecodeUnreserved}, "/%61%2d%7E%20%2F%zz", "/a-~%20%2F%zz"},
		{Tidying{Decode: DecodeUnreserved, Dots: true}, "/x/%2e%2E/%61", "/a"},
		{Tidying{Decode: DecodeAll, Dots: true, Slashes: true, SlashesFirst: true}, "/x%2F%2e.%2F%2Fadmin%20b", "/admin b"},
		{Tidying{Decode: DecodeAll}, "/%zz", "/%zz"},
		{Tidying{Backslashes: true, Dots: true}, `/x\..\admin`, "/admin"},
		{Tidying{Escaped: DecodeEscaped, Backslashes: true}, "/x%5cadmin", "/x/admin"},
	} {
		if got := c.how.apply(c.path); got != c.want {
			t.Errorf("%+v of %s: %s, want %s", c.how, c.path, got, c.want)
		}
	}
}

// TestPaths: what becomes of a path that may be compared otherwise than it is written (gatewayapi G46).
func TestPaths(t *testing.T) {
	routes := routeOf("HTTPRoute", "r", `rules: [{name: admin, matches: [{path: {value: /admin}}]}, {name: rest}]`)
	as := func(how Tidying) *Tidying { return &how }
	for _, c := range []struct {
		how       *Tidying // nil: nobody knows
		url, want string
	}{
		{nil, "http://h/x/../admin", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h//admin", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h/%61dmin", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h/x/../y", "BackendError 500 at http r rest"},
		{nil, "http://h/a%20b", "BackendError 500 at http r rest"},
		{nil, "http://h/x%2fy", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h/admin/%2e%2e/x", "Conditional/BackendError 500 at http r admin"},
		{as(Tidying{}), "http://h//admin", "BackendError 500 at http r rest"},
		{as(Tidying{Dots: true, Slashes: true}), "http://h/x/..//admin", "BackendError 500 at http r admin"},
		{as(Tidying{Dots: true}), "http://h//admin", "BackendError 500 at http r rest"},
		{as(Tidying{Dots: true}), "http://h/%61dmin", "Conditional/BackendError 500 at http r rest"},
		{as(Tidying{Dots: true}), "http://h/x%2f..%2fy", "BackendError 500 at http r rest"},
		{as(Tidying{Dots: true, Escaped: DecodeEscaped}), "http://h/x%2f../admin", "BackendError 500 at http r admin"},
		{as(Tidying{Dots: true, Escaped: RedirectEscaped}), "http://h/x%2f../admin", "Redirect 307 at http"},
		{as(Tidying{Escaped: RejectEscaped}), "http://h/x%2fy", "NoMatch 400 at http"},
		{as(Tidying{Decode: DecodeUnreserved}), "http://h/%61dmin", "BackendError 500 at http r admin"},
		{as(Tidying{Decode: DecodeNothing}), "http://h/%61dmin", "BackendError 500 at http r rest"},
		{as(Tidying{Decode: DecodeUnreserved}), "http://h/x%2f../admin", "BackendError 500 at http r rest"},
		{as(Tidying{Decode: DecodeUnreserved, Escaped: UnknownEscaped}), "http://h/admin%2fx", "Conditional/BackendError 500 at http r rest"},
		{as(Tidying{Decode: DecodeAll, Escaped: RejectEscaped}), "http://h/admin%2fx", "BackendError 500 at http r admin"},
		{as(Tidying{DotsOpen: true}), "http://h/x/../admin", "Conditional/BackendError 500 at http r rest"},
		{as(Tidying{DotsOpen: true, Decode: DecodeNothing}), "http://h/x/../y", "BackendError 500 at http r rest"},
		{as(Tidying{DotsOpen: true, Slashes: true, Decode: DecodeNothing}), "http://h//admin", "BackendError 500 at http r admin"},
		{as(Tidying{SlashesOpen: true, Decode: DecodeNothing}), "http://h//admin", "Conditional/BackendError 500 at http r rest"},
		{as(Tidying{SlashesOpen: true, Dots: true, Decode: DecodeNothing}), "http://h/x/../admin", "BackendError 500 at http r admin"},
		{as(Tidying{BackslashesOpen: true, Dots: true, Decode: DecodeNothing}), `http://h/x\..\admin`, "Conditional/BackendError 500 at http r rest"},
		{as(Tidying{DotsOpen: true, Decode: DecodeAll}), "http://h/%2561dmin", "BackendError 500 at http r rest"},
		{as(Tidying{DotsOpen: true, Decode: DecodeAll}), "http://h/x/../%2561dmin", "BackendError 500 at http r rest"},
	} {
		w := newWorld(t, plainGateway+routes, nil)
		if c.how != nil {
			w.matcher.TidyBy(nil, []Tidier{func(*resolve.Resolution, topology.NodeID) (Tidying, bool) { return *c.how, true }})
		}
		a := w.get(t, c.url)
		if got := w.brief(a); got != c.want {
			t.Errorf("%s: %s, want %s; %q", c.url, got, c.want, a.Why)
		}
		if a.Outcome == Redirect && a.Location.URL != "http://h/admin" {
			t.Errorf("%s leads to %s", c.url, a.Location.URL)
		}
		if c.how == nil {
			w.noted(t, a, model.NotEvaluated, "as written")
		}
	}
}

// TestHostDot: whether a dot at the end of a host counts depends on the implementation.
func TestHostDot(t *testing.T) {
	routes := routeOf("HTTPRoute", "r", "hostnames: [h.com]\nrules: [{name: mine}]") + routeOf("HTTPRoute", "s", `rules: [{name: rest}]`)
	for _, c := range []struct {
		how       *Tidying // nil: nobody knows
		url, want string
	}{
		{nil, "http://h.com/", "BackendError 500 at http r mine"},
		{nil, "http://h.com./", "Conditional/BackendError 500 at http s rest"},
		{nil, "http://other.com./", "BackendError 500 at http s rest"},
		{&Tidying{HostDot: true}, "http://h.com./", "BackendError 500 at http r mine"},
		{&Tidying{HostDotKept: true}, "http://h.com./", "BackendError 500 at http s rest"},
	} {
		w := newWorld(t, plainGateway+routes, nil)
		if c.how != nil {
			w.matcher.TidyBy(nil, []Tidier{func(*resolve.Resolution, topology.NodeID) (Tidying, bool) { return *c.how, true }})
		}
		if got := w.brief(w.get(t, c.url)); got != c.want {
			t.Errorf("%s: %s, want %s", c.url, got, c.want)
		}
	}
}
