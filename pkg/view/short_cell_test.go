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
		{"setting", ShortSetting, "rules.authorization.geo", "rules…geo"},
		{"setting with two names", ShortSetting, "limits.cap", "limits.cap"},
		{"setting in an order", ShortSetting, "2. rules.deny.all", "2. rules…all"},
		{"setting with a dot in a name", ShortSetting, `limits["a.b"]`, `limits["a.b"]`},
		{"setting that is an entry", ShortSetting, "rateLimit.local.rules[0]", "rateLimit…rules[0]"},
		{"last of a setting", LastOfSetting, "rules…geo", "geo"},
		{"last of a setting that is whole", LastOfSetting, "limits.cap", "cap"},
		{"last of a setting in an order", LastOfSetting, "2. rules…all", "2. all"},
		{"last of a setting with a dot in a name", LastOfSetting, `limits["a.b"]`, `limits["a.b"]`},
		{"name", ShortName, "infra/gw + shop/cart", "gw + cart"},
		{"source that is no policy", ShortName, "-", "-"},
		{"why", shortWhy, "override of Gateway, beats bakery/baker-all", "override of Gateway"},
		{"shorter why", shorterWhy, "override of Gateway", "Gateway override"},
		{"shorter why of a default", shorterWhy, "API default of backendpolicy/shop/web", "API default"},
		{"shorter why that is no level", shorterWhy, "default, condition true", "default, condition true"},
		{"via", ShortVia, "infra/external (http, https)", "external"},
		{"object", WithoutKind, "httproute/shop/cart/checkout", "shop/cart/checkout"},
		{"objects", WithoutKind, "authpolicy/infra/a + authpolicy/shop/b", "infra/a + shop/b"},
		{"object of no namespace", WithoutKind, "gatewayclass/eg", "gatewayclass/eg"},
		{"object without a namespace", WithoutKind, "GatewayClass eg", "GatewayClass eg"},
	} {
		if got := tc.short(tc.text); got != tc.want {
			t.Errorf("%s: %q becomes %q, want %q", tc.of, tc.text, got, tc.want)
		}
	}
}
