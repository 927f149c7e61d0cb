package request

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// TestPaths: what becomes of a path that may be compared otherwise than it is written (gatewayapi
// G46).
func TestPaths(t *testing.T) {
	routes := routeOf("HTTPRoute", "r", `rules: [{name: admin, matches: [{path: {value: /admin}}]}, {name: rest}]`)
	as := func(how normalize.Rules) *normalize.Rules { return &how }
	for _, c := range []struct {
		how       *normalize.Rules // nil: nobody knows
		url, want string
	}{
		{nil, "http://h/x/../admin", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h//admin", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h/%61dmin", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h/x/../y", "BackendError 500 at http r rest"},
		{nil, "http://h/a%20b", "BackendError 500 at http r rest"},
		{nil, "http://h/x%2fy", "Conditional/BackendError 500 at http r rest"},
		{nil, "http://h/admin/%2e%2e/x", "Conditional/BackendError 500 at http r admin"},
		{as(normalize.Rules{}), "http://h//admin", "BackendError 500 at http r rest"},
		{as(normalize.Rules{ResolveDots: true, MergeSlashes: true}), "http://h/x/..//admin",
			"BackendError 500 at http r admin"},
		{as(normalize.Rules{ResolveDots: true}), "http://h//admin", "BackendError 500 at http r rest"},
		{as(normalize.Rules{ResolveDots: true}), "http://h/%61dmin", "Conditional/BackendError 500 at http r rest"},
		{as(normalize.Rules{ResolveDots: true}), "http://h/x%2f..%2fy", "BackendError 500 at http r rest"},
		{as(normalize.Rules{ResolveDots: true, Escaped: normalize.DecodeEscaped}), "http://h/x%2f../admin",
			"BackendError 500 at http r admin"},
		{as(normalize.Rules{ResolveDots: true, Escaped: normalize.RedirectEscaped}), "http://h/x%2f../admin",
			"Redirect 307 at http"},
		{as(normalize.Rules{Escaped: normalize.RejectEscaped}), "http://h/x%2fy", "NoMatch 400 at http"},
		{as(normalize.Rules{Decode: normalize.DecodeUnreserved}), "http://h/%61dmin",
			"BackendError 500 at http r admin"},
		{as(normalize.Rules{Decode: normalize.DecodeNothing}), "http://h/%61dmin", "BackendError 500 at http r rest"},
		{as(normalize.Rules{Decode: normalize.DecodeUnreserved}), "http://h/x%2f../admin",
			"BackendError 500 at http r rest"},
		{as(normalize.Rules{Decode: normalize.DecodeUnreserved, Escaped: normalize.UnknownEscaped}),
			"http://h/admin%2fx", "Conditional/BackendError 500 at http r rest"},
		{as(normalize.Rules{Decode: normalize.DecodeAll, Escaped: normalize.RejectEscaped}), "http://h/admin%2fx",
			"BackendError 500 at http r admin"},
		{as(normalize.Rules{DotsUnknown: true}), "http://h/x/../admin", "Conditional/BackendError 500 at http r rest"},
		{as(normalize.Rules{DotsUnknown: true, Decode: normalize.DecodeNothing}), "http://h/x/../y",
			"BackendError 500 at http r rest"},
		{as(normalize.Rules{DotsUnknown: true, MergeSlashes: true, Decode: normalize.DecodeNothing}),
			"http://h//admin", "BackendError 500 at http r admin"},
		{as(normalize.Rules{SlashesUnknown: true, Decode: normalize.DecodeNothing}), "http://h//admin",
			"Conditional/BackendError 500 at http r rest"},
		{as(normalize.Rules{SlashesUnknown: true, ResolveDots: true, Decode: normalize.DecodeNothing}),
			"http://h/x/../admin", "BackendError 500 at http r admin"},
		{as(normalize.Rules{BackslashesUnknown: true, ResolveDots: true, Decode: normalize.DecodeNothing}),
			`http://h/x\..\admin`, "Conditional/BackendError 500 at http r rest"},
		{as(normalize.Rules{DotsUnknown: true, Decode: normalize.DecodeAll}), "http://h/%2561dmin",
			"BackendError 500 at http r rest"},
		{as(normalize.Rules{DotsUnknown: true, Decode: normalize.DecodeAll}), "http://h/x/../%2561dmin",
			"BackendError 500 at http r rest"},
	} {
		w := newWorld(t, plainGateway+routes, nil)
		if c.how != nil {
			w.matcher.NormalizeWith(nil, []Normalizer{func(*resolve.Resolution, topology.NodeID) (normalize.Rules,
				bool) {
				return *c.how, true
			}})
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
	routes := routeOf("HTTPRoute", "r", "hostnames: [h.com]\nrules: [{name: mine}]") + routeOf("HTTPRoute", "s",
		`rules: [{name: rest}]`)
	for _, c := range []struct {
		how       *normalize.Rules // nil: nobody knows
		url, want string
	}{
		{nil, "http://h.com/", "BackendError 500 at http r mine"},
		{nil, "http://h.com./", "Conditional/BackendError 500 at http s rest"},
		{nil, "http://other.com./", "BackendError 500 at http s rest"},
		{&normalize.Rules{DropHostDot: true}, "http://h.com./", "BackendError 500 at http r mine"},
		{&normalize.Rules{KeepHostDot: true}, "http://h.com./", "BackendError 500 at http s rest"},
	} {
		w := newWorld(t, plainGateway+routes, nil)
		if c.how != nil {
			w.matcher.NormalizeWith(nil, []Normalizer{func(*resolve.Resolution, topology.NodeID) (normalize.Rules,
				bool) {
				return *c.how, true
			}})
		}
		if got := w.brief(w.get(t, c.url)); got != c.want {
			t.Errorf("%s: %s, want %s", c.url, got, c.want)
		}
	}
}
