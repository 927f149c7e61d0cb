package kuadrant

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// RFC 0009 profiles: what the operator's API does not have marks a policy as one of the RFC.
func TestMarkOf(t *testing.T) {
	for _, tc := range []struct{ kind, spec, want string }{
		{"AuthPolicy", "rules: {authentication: {a: {apiKey: {}}}}", ""},
		{"AuthPolicy", "defaults: {strategy: merge, when: [{predicate: x}], patterns: {p: {allOf: []}}, rules: {authorization: {a: {opa: {}}}}}", ""},
		{"AuthPolicy", "overrides: {strategy: atomic, rules: {response: {unauthenticated: {code: 401}, success: {headers: {x: {plain: {value: y}}}}}}}", ""},
		{"AuthPolicy", "rules: {authentication: {a: {when: [{predicate: x}], defaults: {b: {value: 1}}}}}", ""},
		{"AuthPolicy", "rules: {}", ""},
		{"AuthPolicy", "", ""},
		{"RateLimitPolicy", "limits: {a: {rates: [{limit: 5, window: 1s}], when: [{predicate: x}], counters: [{expression: y}]}}", ""},
		{"RateLimitPolicy", "when: [{predicate: x}], defaults: {limits: {a: {}}}", ""},
		{"TokenRateLimitPolicy", "overrides: {strategy: merge, limits: {a: {}}}", ""},
		{"RateLimitPolicy", "defaults: null, overrides: {limits: {a: {}}}", ""},
		{"RateLimitPolicy", "unset: null, remove: null, limits: {a: {}}", ""},
		{"AuthPolicy", "patterns: {p: {allOf: []}}, defaults: {rules: {authentication: {a: {}}}}", ""}, // refused, but by no mark of the RFC

		{"RateLimitPolicy", "defaults: {when: x > 1, limits: {a: {}}}", "spec.defaults.when is a condition"},
		{"AuthPolicy", "overrides: {when: '', rules: {authentication: {a: {}}}}", "spec.overrides.when is a condition"},
		{"RateLimitPolicy", "unset: [limits.a]", "it has spec.unset"},
		{"RateLimitPolicy", "unset: []", "it has spec.unset"},
		{"AuthPolicy", "remove: [rules.authentication.a], rules: {authentication: {a: {}}}", "it has spec.remove"},
		{"AuthPolicy", "defaults: {rules: {authentication: {a: {}}}}, overrides: {rules: {authentication: {a: {}}}}", "it has defaults and overrides"},
		{"AuthPolicy", "overrides: {rules: {authentication: {a: {}}}}, rules: {authentication: {a: {}}}", "it has a block beside spec.rules"},
		{"TokenRateLimitPolicy", "defaults: {limits: {a: {}}}, limits: {b: {}}", "it has a block beside spec.limits"},
		{"RateLimitPolicy", "defaults: {granularity: 0, limits: {a: {}}}", "spec.defaults has granularity"},
		{"RateLimitPolicy", "overrides: [{path: limits.a, operation: add, value: {}}]", "spec.overrides is a list of operations"},
		{"RateLimitPolicy", "defaults: {limits.a: {}}", "spec.defaults has the path limits.a as a key"},
		{"RateLimitPolicy", "defaults: {limits: {a: {when: x, rates: []}}}", "spec.defaults.limits has a condition inside"},
		{"AuthPolicy", "overrides: {rules: {authentication: {a: {jwt: {when: x}}}}}", "spec.overrides.rules has a condition inside"},
		{"AuthPolicy", "overrides: {rules: {when: x, authentication: {}}}", "spec.overrides.rules has a condition inside"},
		{"RateLimitPolicy", "limits: {a: 5}", "spec.limits.a is no object"},
		{"RateLimitPolicy", "limits: {a: {}, b: [1]}", "spec.limits.b is no object"},
		{"RateLimitPolicy", "overrides: {limits: {a: text}}", "spec.overrides.limits.a is no object"},
		{"AuthPolicy", "rules: {authentication: {a: {}, b: 5}}", "spec.rules.authentication.b is no object"},
		{"AuthPolicy", "rules: {authentication: 5}", "spec.rules.authentication is no object"},
		{"AuthPolicy", "defaults: {rules: {authorization: {a: true}}}", "spec.defaults.rules.authorization.a is no object"},
	} {
		container := "limits"
		if tc.kind == "AuthPolicy" {
			container = "rules"
		}
		if got := markOf(policies(t, tc.kind, tc.spec)[0], container); got != tc.want {
			t.Errorf("%s {%s}: mark %q, want %q", tc.kind, tc.spec, got, tc.want)
		}
	}
}

func TestProfile(t *testing.T) {
	plain, marked := "limits: {a: {}}", "limits: {a: {}}, unset: [limits.b]"
	for _, tc := range []struct {
		kind  string
		specs []string
		want  string
		named string // the policy whose mark decided
	}{
		{"RateLimitPolicy", nil, "operator", ""},
		{"RateLimitPolicy", []string{plain, plain}, "operator", ""},
		{"RateLimitPolicy", []string{plain, marked, plain}, "rfc", "b"},
		{"TokenRateLimitPolicy", []string{marked, marked}, "rfc", "a"},
		{"AuthPolicy", []string{"rules: {authentication: {a: 5}}"}, "rfc", "a"},
		{"DNSPolicy", []string{"unset: [x], providerRefs: []"}, "operator", ""},
		{"TLSPolicy", []string{"defaults: {when: x}, overrides: {}"}, "operator", ""},
	} {
		var objects []*model.Object
		if len(tc.specs) > 0 {
			objects = policies(t, tc.kind, tc.specs...)
		}
		got, problems := profile(group(tc.kind), objects)
		if got != tc.want {
			t.Errorf("%s %q: profile %s, want %s", tc.kind, tc.specs, got, tc.want)
		}
		switch {
		case tc.named == "" && len(problems) > 0:
			t.Errorf("%s %q: reports %+v", tc.kind, tc.specs, problems)
		case tc.named != "" && (len(problems) != 1 || problems[0].Code != model.ProfileChosen || problems[0].Severity != model.Info ||
			problems[0].Ref.Name != tc.named || !strings.HasPrefix(problems[0].Message, tc.kind+" is read as RFC 0009 describes it")):
			t.Errorf("%s %q: reports %+v, want ProfileChosen of %s", tc.kind, tc.specs, problems, tc.named)
		}
	}
}

// The setting decides what the descriptors become; auto asks profile.
func TestProfileOfKinds(t *testing.T) {
	for _, tc := range []struct {
		setting string
		want    map[string]string
	}{
		{"auto", map[string]string{"AuthPolicy": "rfc", "RateLimitPolicy": "operator", "TokenRateLimitPolicy": "operator", "DNSPolicy": "operator"}},
		{"rfc", map[string]string{"AuthPolicy": "rfc", "RateLimitPolicy": "rfc", "TokenRateLimitPolicy": "rfc"}},
		{"operator", map[string]string{"AuthPolicy": "operator", "RateLimitPolicy": "operator", "TokenRateLimitPolicy": "operator"}},
	} {
		in := read(t, manifest("AuthPolicy", "a", "unset: [x], rules: {authentication: {a: {}}}"), manifest("RateLimitPolicy", "a", "limits: {a: {}}"))
		kinds, problems := catalog(t, "kuadrant.profile="+tc.setting).Discover(in)
		if chosen := len(problems) == 1; chosen != (tc.setting == "auto") {
			t.Errorf("%s: %+v", tc.setting, problems)
		}
		for _, k := range kinds {
			want, ok := tc.want[k.GroupKind.Kind]
			if !ok {
				continue
			}
			if k.Profile != want {
				t.Errorf("%s: %s has profile %s, want %s", tc.setting, k.Name(), k.Profile, want)
			}
			if direct(k.GroupKind.Kind) {
				continue
			}
			if operator := want == "operator"; (k.Content.Condition == "") != operator || (k.Content.Unset == nil) != operator || k.Tolerant == operator ||
				(k.Step != nil) != operator || (k.Status.Func != "") != operator || (k.Status.Marks == "kuadrant.Marks") != operator {
				t.Errorf("%s: %s mixes the profiles: %+v", tc.setting, k.Name(), *k)
			}
		}
	}
}
