package kuadrant

import "testing"

// The operator's ids, as its messages and its own order of rules have them.
func TestRuleID(t *testing.T) {
	for _, tc := range []struct{ kind, rule, want string }{
		{"AuthPolicy", "rules.authentication.api-key", "authentication#api-key"},
		{"AuthPolicy", "rules.metadata.a", "metadata#a"},
		{"AuthPolicy", "rules.authorization.a.b", "authorization#a.b"},
		{"AuthPolicy", "rules.callbacks.a", "callbacks#a"},
		{"AuthPolicy", "rules.response.unauthenticated", "response.unauthenticated#"},
		{"AuthPolicy", "rules.response.unauthorized", "response.unauthorized#"},
		{"AuthPolicy", "rules.response.success.headers.x", "response.success.headers#x"},
		{"AuthPolicy", "rules.response.success.filters.x", "response.success.metadata#x"},
		{"AuthPolicy", "patterns.p", "patterns#p"},
		{"AuthPolicy", "when", "conditions#"},
		{"RateLimitPolicy", "limits.a", "a"},
		{"RateLimitPolicy", "limits.limits.a", "limits.a"},
		{"RateLimitPolicy", "when", "###_TOP_LEVEL_PREDICATES_###"},
		{"TokenRateLimitPolicy", "when", "###_TOP_LEVEL_PREDICATES_###"},
	} {
		if got := operatorRuleID(tc.kind, tc.rule); got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.kind, tc.rule, got, tc.want)
		}
	}
}
