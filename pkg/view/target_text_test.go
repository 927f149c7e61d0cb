package view

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestSectionList(t *testing.T) {
	for _, tc := range []struct {
		sections []string
		o        TableOptions
		want     string
	}{
		{[]string{""}, TableOptions{}, ""},
		{[]string{"rule-1"}, TableOptions{}, "rule-1"},
		{[]string{"rule-1", "rule-2"}, TableOptions{}, "rule-1, rule-2"},
		{[]string{"rule-1", "rule-2", "rule-3"}, TableOptions{}, "rule-1…rule-3"},
		{[]string{"cart", "rule-1", "rule-2", "rule-3", "rule-5"}, TableOptions{}, "cart, rule-1…rule-3, rule-5"},
		{[]string{"a", "b", "c", "d"}, TableOptions{}, "a, b, c, d"},
		{[]string{"a", "b", "c", "d", "e"}, TableOptions{}, "a, b, c and 2 more"},
		{[]string{"a", "b", "c", "d", "e"}, TableOptions{Wide: true}, "a, b, c, d, e"},
	} {
		if got := SectionList(tc.sections, tc.o); got != tc.want {
			t.Errorf("%v: got %q, want %q", tc.sections, got, tc.want)
		}
	}
}

func TestCompareSections(t *testing.T) {
	got := []string{"rule-10", "refund", "rule-2", "", "checkout", "rule-1"}
	slices.SortFunc(got, CompareSections)
	if want := []string{"", "checkout", "refund", "rule-1", "rule-2", "rule-10"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestViaText(t *testing.T) {
	route := model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "bakery", Name: "baker"}
	at := func(gateway, listener string) Path {
		return Path{GatewayClass: "prod", Gateway: "infra/" + gateway, Listener: listener}
	}
	for _, tc := range []struct {
		name   string
		paths  []Path
		target model.Ref
		want   string
	}{
		{"nothing to say", []Path{{}}, route, ""},
		{"listeners are grouped", []Path{at("external", "http"), at("internal", "api"), at("external", "https")},
			route, "gateway/infra/external (http, https), gateway/infra/internal (api)"},
		{"a gateway as a whole", []Path{at("external", "")}, route, "gateway/infra/external"},
		{"the target is not repeated", []Path{at("external", "")}, model.Ref{Group: "gateway.networking.k8s.io",
			Kind: "Gateway", Namespace: "infra", Name: "external"}, "gatewayclass/prod"},
		{"a listener set", []Path{{Gateway: "infra/external", ListenerSet: "bakery/own", Listener: "http"}}, route,
			"gateway/infra/external → listenerset/bakery/own (http)"},
		{"delegation", []Path{{Gateway: "infra/external", Listener: "http", DelegatedFrom: []string{"infra/root"},
			DelegatedRules: []string{"rule-2"}}}, route,
			"gateway/infra/external → delegated by infra/root/rule-2 (http)"},
		{"split by hostname", []Path{{Gateway: "infra/external", Listener: "http", Hostname: "a.example.com"},
			{Gateway: "infra/external", Listener: "http", Hostname: "b.example.com"}}, route,
			"gateway/infra/external (http a.example.com, http b.example.com)"},
		{"mesh", []Path{{Direction: "outbound", Mesh: "default", Dataplane: "shop/web",
			Destination: "Service shop/cart 80"}}, route,
			"outbound → mesh/default → dataplane/shop/web → to service/shop/cart/80"},
		{"many are counted", []Path{at("a", ""), at("b", ""), at("c", ""), at("d", ""), at("e", "")}, route,
			"gateway/infra/a, gateway/infra/b, gateway/infra/c and 2 more"},
	} {
		if got := ViaText(tc.paths, tc.target, TableOptions{}); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
