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
		{"AuthPolicy",
			"defaults: {strategy: merge, when: [{predicate: x}], patterns: {p: {allOf: []}}, rules: {authorization: {a: {opa: {}}}}}", ""},
		{"AuthPolicy",
			"overrides: {strategy: atomic, rules: {response: {unauthenticated: {code: 401}, success: {headers: {x: {plain: {value: y}}}}}}}", ""},
		{"AuthPolicy", "rules: {authentication: {a: {when: [{predicate: x}], defaults: {b: {value: 1}}}}}", ""},
		{"AuthPolicy", "rules: {}", ""},
		{"AuthPolicy", "", ""},
		{"RateLimitPolicy",
			"limits: {a: {rates: [{limit: 5, window: 1s}], when: [{predicate: x}], counters: [{expression: y}]}}", ""},
		{"RateLimitPolicy", "when: [{predicate: x}], defaults: {limits: {a: {}}}", ""},
		{"TokenRateLimitPolicy", "overrides: {strategy: merge, limits: {a: {}}}", ""},
		{"RateLimitPolicy", "defaults: null, overrides: {limits: {a: {}}}", ""},
		{"RateLimitPolicy", "unset: null, remove: null, limits: {a: {}}", ""},
		// refused, but by no mark of the RFC
		{"AuthPolicy", "patterns: {p: {allOf: []}}, defaults: {rules: {authentication: {a: {}}}}", ""},

		{"RateLimitPolicy", "defaults: {when: x > 1, limits: {a: {}}}", "spec.defaults.when is a condition"},
		{"AuthPolicy", "overrides: {when: '', rules: {authentication: {a: {}}}}", "spec.overrides.when is a condition"},
		{"RateLimitPolicy", "unset: [limits.a]", "it has spec.unset"},
		{"RateLimitPolicy", "unset: []", "it has spec.unset"},
		{"AuthPolicy", "remove: [rules.authentication.a], rules: {authentication: {a: {}}}", "it has spec.remove"},
		{"AuthPolicy", "defaults: {rules: {authentication: {a: {}}}}, overrides: {rules: {authentication: {a: {}}}}",
			"it has defaults and overrides"},
		{"AuthPolicy", "overrides: {rules: {authentication: {a: {}}}}, rules: {authentication: {a: {}}}",
			"it has a block beside spec.rules"},
		{"TokenRateLimitPolicy", "defaults: {limits: {a: {}}}, limits: {b: {}}", "it has a block beside spec.limits"},
		{"RateLimitPolicy", "defaults: {granularity: 0, limits: {a: {}}}", "spec.defaults has granularity"},
		{"RateLimitPolicy", "overrides: [{path: limits.a, operation: add, value: {}}]",
			"spec.overrides is a list of operations"},
		{"RateLimitPolicy", "defaults: {limits.a: {}}", "spec.defaults has the path limits.a as a key"},
		{"RateLimitPolicy", "defaults: {limits: {a: {when: x, rates: []}}}",
			"spec.defaults.limits has a condition inside"},
		{"AuthPolicy", "overrides: {rules: {authentication: {a: {jwt: {when: x}}}}}",
			"spec.overrides.rules has a condition inside"},
		{"AuthPolicy", "overrides: {rules: {when: x, authentication: {}}}",
			"spec.overrides.rules has a condition inside"},
		{"RateLimitPolicy", "limits: {a: 5}", "spec.limits.a is no object"},
		{"RateLimitPolicy", "limits: {a: {}, b: [1]}", "spec.limits.b is no object"},
		{"RateLimitPolicy", "overrides: {limits: {a: text}}", "spec.overrides.limits.a is no object"},
		{"AuthPolicy", "rules: {authentication: {a: {}, b: 5}}", "spec.rules.authentication.b is no object"},
		{"AuthPolicy", "rules: {authentication: 5}", "spec.rules.authentication is no object"},
		{"AuthPolicy", "defaults: {rules: {authorization: {a: true}}}",
			"spec.defaults.rules.authorization.a is no object"},
	} {
		container := "limits"
		if tc.kind == "AuthPolicy" {
			container = "rules"
		}
		if got := findRFCFeature(policies(t, tc.kind, tc.spec)[0], container); got != tc.want {
			t.Errorf("%s {%s}: mark %q, want %q", tc.kind, tc.spec, got, tc.want)
		}
	}
}

// The definition of a kind decides, and no policy does.
func TestProfile(t *testing.T) {
	rfc := "{unset: {type: array}, limits: {type: object}}"
	for _, tc := range []struct {
		kind    string
		defined string // the kind that the input has a definition of, and the fields of its spec
		fields  string
		because string // what makes it the RFC's, "" for the operator's
	}{
		{"RateLimitPolicy", "", "", ""},
		{"RateLimitPolicy", "RateLimitPolicy", operatorFields("limits"), ""},
		{"AuthPolicy", "AuthPolicy", operatorFields("rules"), ""},
		{"RateLimitPolicy", "RateLimitPolicy", "{defaults: {type: object, properties: {when: {type: array}}}}", ""},
		{"RateLimitPolicy", "TokenRateLimitPolicy", rfc, ""},
		{"DNSPolicy", "DNSPolicy", rfc, ""},
		{"TLSPolicy", "TLSPolicy", rfc, ""},

		{"RateLimitPolicy", "RateLimitPolicy", rfc, "spec.unset"},
		{"TokenRateLimitPolicy", "TokenRateLimitPolicy", rfc, "spec.unset"},
		{"AuthPolicy", "AuthPolicy", "{remove: {type: array}}", "spec.remove"},
		{"AuthPolicy", "AuthPolicy", "{overrides: {type: object, properties: {when: {type: string}}}}",
			"spec.overrides.when as a text"},
		{"RateLimitPolicy", "RateLimitPolicy",
			"{defaults: {type: object, properties: {granularity: {type: integer}}}}", "spec.defaults.granularity"},
		{"RateLimitPolicy", "RateLimitPolicy", "{overrides: {type: array}}", "spec.overrides as a list of operations"},
		{"RateLimitPolicy", "RateLimitPolicy",
			"{overrides: {properties: {limits: {additionalProperties: {properties: {when: {type: string}}}}}}}",
			"a condition within spec.overrides.limits"},
	} {
		manifests := []string{manifest("RateLimitPolicy", "marked",
			"unset: [limits.a], defaults: {when: x}, overrides: {}, limits: {a: 5}")}
		if tc.defined != "" {
			manifests = append(manifests, definition(tc.defined, "true", tc.fields))
		}
		got, problems := chooseProfile(group(tc.kind), read(t, manifests...))
		if want := map[bool]string{true: "operator", false: "rfc"}[tc.because == ""]; got != want {
			t.Errorf("%s, %s has %s: profile %s, want %s", tc.kind, tc.defined, tc.fields, got, want)
		}
		switch {
		case tc.because == "" && len(problems) > 0:
			t.Errorf("%s, %s has %s: reports %+v", tc.kind, tc.defined, tc.fields, problems)
		case tc.because != "" && (len(problems) != 1 || problems[0].Code != model.ProfileChosen ||
			problems[0].Severity != model.Info ||
			problems[0].Ref.GroupKind() != group(tc.kind) ||
			!strings.HasSuffix(problems[0].Message, "its CustomResourceDefinition has "+tc.because)):
			t.Errorf("%s, %s has %s: reports %+v, want ProfileChosen because of %s", tc.kind, tc.defined, tc.fields,
				problems, tc.because)
		}
	}
}

// A version that is not served is no API.
func TestProfileOfUnservedVersion(t *testing.T) {
	if got, _ := chooseProfile(group("RateLimitPolicy"),
		read(t, definition("RateLimitPolicy", "false", "{unset: {type: array}}"))); got != "operator" {
		t.Errorf("profile %s", got)
	}
}

// operatorFields are those of the operator's definitions, where the RFC has others.
func operatorFields(container string) string {
	when := "when: {type: array, items: {type: object, properties: {predicate: {type: string}}}}"
	set := when + ", " + container + ": {type: object, additionalProperties: {type: object, properties: {" + when +
		"}}}"
	block := "{type: object, properties: {strategy: {type: string}, " + set + "}}"
	return "{targetRef: {type: object}, defaults: " + block + ", overrides: " + block + ", " + set + "}"
}

func definition(kind, served, fields string) string {
	plural := strings.ToLower(strings.TrimSuffix(kind, "y")) + "ies"
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural +
		".kuadrant.io}\n" +
		"spec: {group: kuadrant.io, scope: Namespaced, names: {kind: " + kind + ", plural: " + plural +
		"}, versions: [{name: v1, served: " + served +
		", schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: " +
		fields + "}}}}}]}\n"
}

// Where the API refuses or drops what only the RFC has, the setting is named; elsewhere it would be
// no help.
func TestAdvice(t *testing.T) {
	for _, tc := range []struct{ spec, mark string }{
		{"limits: {a: {}}, unset: [limits.b]", "it has spec.unset"},
		{"overrides: {limits: {a: {}}}, limits: {a: {}}", "it has a block beside spec.limits"},
		{"limits: {a: {}}, owner: me", ""},
		{"limits: {}", ""},
	} {
		want := ""
		if tc.mark != "" {
			want = tc.mark +
				", as in RFC 0009: --vendor-setting kuadrant.profile=rfc reads the kind as that describes it"
		}
		found := false
		_, problems := admit(t, "RateLimitPolicy", tc.spec)
		for _, problem := range problems {
			if problem.Code != model.RefusedByOperator && problem.Code != model.PrunedByOperator {
				continue
			}
			found = true
			if mentions := strings.Contains(problem.Hint, "RFC 0009"); mentions != (want != "") ||
				!strings.HasSuffix(problem.Hint, want) {
				t.Errorf("%s: %s: hint %q, want %q", tc.spec, problem.Message, problem.Hint, want)
			}
		}
		if !found {
			t.Errorf("%s: nothing is refused and nothing dropped", tc.spec)
		}
	}
}

// The setting decides what the descriptors of kinds with policies become; auto asks profile.
func TestProfileOfKinds(t *testing.T) {
	for _, tc := range []struct {
		setting string
		want    map[string]string
	}{
		{"auto", map[string]string{"AuthPolicy": "rfc", "RateLimitPolicy": "operator",
			"TokenRateLimitPolicy": "operator", "DNSPolicy": "operator"}},
		{"rfc", map[string]string{"AuthPolicy": "rfc", "RateLimitPolicy": "rfc", "TokenRateLimitPolicy": "rfc"}},
		{"operator", map[string]string{"AuthPolicy": "operator", "RateLimitPolicy": "operator",
			"TokenRateLimitPolicy": "operator"}},
	} {
		in := read(t, definition("AuthPolicy", "true", "{unset: {type: array}}"), manifest("AuthPolicy", "a",
			"rules: {authentication: {a: {}}}"), manifest("RateLimitPolicy", "a", "limits: {a: {}}"),
			manifest("TokenRateLimitPolicy", "a", "limits: {a: {}}"), manifest("DNSPolicy", "a", "loadBalancing: {}"))
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
			if isDirect(k.GroupKind.Kind) {
				continue
			}
			if operator := want == "operator"; (k.Content.Condition == "") != operator ||
				(k.Content.Unset == nil) != operator || k.Tolerant == operator ||
				(k.Step != nil) != operator || (k.Status.Func != "") != operator ||
				(k.Status.Marks == "kuadrant.Marks") != operator {
				t.Errorf("%s: %s mixes the profiles: %+v", tc.setting, k.Name(), *k)
			}
		}
	}
}
