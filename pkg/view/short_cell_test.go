package view

import "testing"

func TestShortCells(t *testing.T) {
	for _, tc := range []struct {
		of         string
		short      func(string) string
		text, want string
	}{
		{"kind", ShortKind, "RateLimitPolicy", "RateLimit"},
		{"a kind that is called Policy", ShortKind, "Policy", "Policy"},
		{"setting", ShortSetting, "rules.authorization.geo", "geo"},
		{"setting in an order", ShortSetting, "2. rules.deny", "2. deny"},
		{"setting with a dot in a name", ShortSetting, `limits["a.b"]`, `limits["a.b"]`},
		{"name", ShortName, "infra/gw + shop/cart", "gw + cart"},
		{"source that is no policy", ShortName, "-", "-"},
		{"why", shortWhy, "override of Gateway, beats bakery/baker-all", "override of Gateway"},
		{"via", ShortVia, "infra/external (http, https)", "external"},
		{"list", ShortList, "rule-1, rule-2, rule-5", "rule-1 +2"},
		{"cut list", ShortList, "a, b, c and 4 more", "a +6"},
		{"one name", ShortList, "checkout", "checkout"},
		{"object", WithoutKind, "httproute/shop/cart/checkout", "shop/cart/checkout"},
		{"object without a namespace", WithoutKind, "GatewayClass eg", "GatewayClass eg"},
	} {
		if got := tc.short(tc.text); got != tc.want {
			t.Errorf("%s: %q becomes %q, want %q", tc.of, tc.text, got, tc.want)
		}
	}
}
