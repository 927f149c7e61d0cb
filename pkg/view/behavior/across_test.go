package behavior

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

func TestSplitHosts(t *testing.T) {
	var got []string
	for _, h := range splitHosts([]string{"shop.example.com", "*.example.com", "any.example.com", ""}) {
		got = append(got, h.host+": "+h.words)
	}
	want := []string{"any.example.com: host any.example.com", "shop.example.com: host shop.example.com",
		"any.example: every other host", "any.other.example.com: hosts of *.example.com with more than one label"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestListAddresses(t *testing.T) {
	lists := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("10.9.0.0/16"),
		netip.MustParsePrefix("0.0.0.0/0")}
	seen := map[[3]bool]bool{}
	for _, a := range listAddresses(lists) {
		seen[[3]bool{lists[0].Contains(a), lists[1].Contains(a), lists[2].Contains(a)}] = true
	}
	for _, want := range [][3]bool{{true, false, true}, {true, true, true}, {false, false, true},
		{false, false, false}} {
		if !seen[want] {
			t.Errorf("no address that is in the lists as %v says", want)
		}
	}
}

// answered makes an answer of one side.
func answered(outcome request.Outcome, set func(*ingress.Answer)) *sideAnswer {
	out := &sideAnswer{Answer: ingress.Answer{Outcome: outcome}}
	if outcome == request.Matched {
		out.Backends = []ingress.Backend{{Ref: model.Ref{Kind: "Service", Name: "web"}, Port: 80, Weight: 1, Path: "/"}}
	}
	if set != nil {
		set(&out.Answer)
	}
	return out
}

func TestCompareAnswers(t *testing.T) {
	needs := func(words ...ingress.Barrier) func(*ingress.Answer) {
		return func(a *ingress.Answer) {
			for _, w := range words {
				a.NeedsAuth = append(a.NeedsAuth, []ingress.Barrier{w})
			}
		}
	}
	redirect := func(status int, to string) func(*ingress.Answer) {
		return func(a *ingress.Answer) { a.Status, a.Location = status, to }
	}
	split := func(a *ingress.Answer) {
		a.Backends = append(a.Backends, ingress.Backend{Ref: model.Ref{Kind: "Service", Name: "next"}, Weight: 1})
	}
	doubled := func(a *ingress.Answer) { a.Backends[0].Weight = 7 }
	rewritten := func(a *ingress.Answer) { a.Backends[0].Path = "/v2/" }
	for _, c := range []struct {
		name          string
		before, after *sideAnswer
		difference    Difference
		access        string
	}{
		{"the same backend", answered(request.Matched, nil), answered(request.Matched, doubled), "", ""},
		{"both refuse", answered(request.Denied, needs(ingress.Basic)), answered(request.NoMatch, nil), "", ""},
		{"no match now", answered(request.Matched, nil), answered(request.NoMatch, nil), NoMatchNow, AccessClosed},
		{"a password is gone", answered(request.Matched, needs(ingress.Basic)), answered(request.Matched, nil), NewAccess,
			AccessOpened},
		{"one of two is gone", answered(request.Matched, needs(ingress.Basic, ingress.External)),
			answered(request.Matched, needs(ingress.External)), NewAccess, AccessOpened},
		{"another credential", answered(request.Matched, needs(ingress.External)),
			answered(request.Matched, needs(ingress.OIDC)), OtherAnswer, ""},
		{"a list is gone", answered(request.Denied, nil), answered(request.Matched, nil), NewAccess, AccessOpened},
		{"a list is gone and a password stays", answered(request.Denied, func(a *ingress.Answer) {
			a.DeniedBy, a.NeedsAuth = ingress.AllowList, [][]ingress.Barrier{{ingress.Basic}}
		}), answered(request.Matched, needs(ingress.Basic)), NewAccess, AccessOpened},
		{"a protected backend", answered(request.NoMatch, nil), answered(request.Matched, needs(ingress.Basic)), BackendNow,
			""},
		{"a list came", answered(request.Matched, nil), answered(request.Denied, nil), AccessLost, AccessClosed},
		{"other shares", answered(request.Matched, nil), answered(request.Matched, split), OtherBackend, ""},
		{"another path", answered(request.Matched, nil), answered(request.Matched, rewritten), OtherPath, ""},
		{"a redirect is gone", answered(request.Redirect, redirect(308, "https://a/")), answered(request.Matched, nil),
			RedirectGone, AccessOpened},
		{"a slash that says nothing", answered(request.Redirect, redirect(308, "https://a")),
			answered(request.Redirect, redirect(308, "https://a/")), "", ""},
		{"another status", answered(request.Redirect, redirect(308, "https://a/")),
			answered(request.Redirect, redirect(301, "https://a/")), OtherRedirect, ""},
	} {
		difference, access := compareAnswers(c.before, c.after)
		if difference != c.difference || access != c.access {
			t.Errorf("%s: %q %q, want %q %q", c.name, difference, access, c.difference, c.access)
		}
	}
}

func TestTidyLocation(t *testing.T) {
	for url, want := range map[string]string{"https://a": "https://a/", "https://a?q=1": "https://a/?q=1",
		"https://a/x": "https://a/x", "/x": "/x"} {
		if got := tidyLocation(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

func TestIsSameValue(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"bodyLimit", "8m", "8Mi", true}, {"bodyLimit", "8m", "8M", false}, {"bodyLimit", "1m", "2Mi", false},
		{"timeouts.read", "60", "60s", true}, {"timeouts.read", "60s", "1m", true}, {"timeouts.read", "60s", "5s", false},
		{"affinity.cookie", "a", "b", false},
	} {
		if got := isSameValue(c.name, c.a, c.b); got != c.want {
			t.Errorf("%s %s and %s: %v", c.name, c.a, c.b, got)
		}
	}
}
