package kuadrant

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
)

// What the API server says of an AuthPolicy, and of the limit kinds.
const (
	authDefaults  = "Implicit and explicit defaults are mutually exclusive"
	authOverrides = "Implicit defaults and explicit overrides are mutually exclusive"
	authBoth      = "Explicit overrides and explicit defaults are mutually exclusive"
	authNothing   = "At least one spec.rules must be defined"
	authNoDefault = "At least one spec.defaults.rules must be defined"
	authNoOver    = "At least one spec.overrides.rules must be defined"
	authKind      = "Invalid targetRef.kind. The only supported values are 'HTTPRoute', 'GRPCRoute', and 'Gateway'"

	limitDefaults  = "Implicit and explicit defaults are mutually exclusive"
	limitOverrides = "Overrides and implicit defaults are mutually exclusive"
	limitBoth      = "Overrides and explicit defaults are mutually exclusive"
	limitNothing   = "At least one spec.limits must be defined"
	limitNoDefault = "At least one spec.defaults.limits must be defined"
	limitNoOver    = "At least one spec.overrides.limits must be defined"
	limitKind      = "Invalid targetRef.kind. The only supported values are 'HTTPRoute', 'GRPCRoute' and 'Gateway'"
	tokenKind      = "Invalid targetRef.kind. The only supported values are 'HTTPRoute' and 'Gateway'"

	wrongGroup = "Invalid targetRef.group. The only supported value is 'gateway.networking.k8s.io'"
)

const (
	toGateway = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gw, sectionName: http}, "
	toGRPC    = "targetRef: {group: gateway.networking.k8s.io, kind: GRPCRoute, name: calls}, "
	toService = `targetRef: {group: "", kind: Service, name: web}, `
	toTCP     = "targetRef: {group: gateway.networking.k8s.io, kind: TCPRoute, name: db}, "
)

var admissions = []struct {
	kind, spec string
	want       []string
}{
	{"AuthPolicy", "rules: {authentication: {a: {}}}", nil},
	{"AuthPolicy", toGateway + "rules: {metadata: {a: {}}}", nil},
	{"AuthPolicy", toGRPC + "rules: {authorization: {a: {}}}", nil},
	{"AuthPolicy", "rules: {callbacks: {a: {http: {url: x}}}}", nil},
	{"AuthPolicy", "rules: {response: {unauthenticated: {}}}", nil},
	{"AuthPolicy", "rules: {response: {unauthorized: {code: 403}}}", nil},
	{"AuthPolicy", "rules: {response: {success: {headers: {a: {}}}}}", nil},
	{"AuthPolicy", "rules: {response: {success: {filters: {a: {}}}}}", nil},
	{"AuthPolicy", "patterns: {p: {allOf: []}}, when: [{predicate: x}], rules: {authentication: {a: {}}}", nil},
	{"AuthPolicy",
		"defaults: {strategy: merge, patterns: {p: {allOf: []}}, when: [{predicate: x}], rules: {metadata: {a: {}}}}",
		nil},
	{"AuthPolicy", "overrides: {rules: {response: {success: {headers: {a: {}}}}}}", nil},

	{"AuthPolicy", "defaults: {rules: {authentication: {a: {}}}}, patterns: {p: {allOf: []}}", []string{authDefaults}},
	{"AuthPolicy", "defaults: {rules: {authentication: {a: {}}}}, when: []", []string{authDefaults}},
	{"AuthPolicy", "defaults: {rules: {authentication: {a: {}}}}, rules: {}", []string{authDefaults}},
	{"AuthPolicy", "overrides: {rules: {authentication: {a: {}}}}, patterns: {}", []string{authOverrides}},
	{"AuthPolicy", "overrides: {rules: {authentication: {a: {}}}}, when: [{predicate: x}]", []string{authOverrides}},
	{"AuthPolicy", "overrides: {rules: {authentication: {a: {}}}}, rules: {authentication: {b: {}}}",
		[]string{authOverrides}},
	{"AuthPolicy", "defaults: {rules: {authentication: {a: {}}}}, overrides: {rules: {metadata: {a: {}}}}",
		[]string{authBoth}},
	{"AuthPolicy", "", []string{authNothing}},
	{"AuthPolicy", "patterns: {p: {allOf: []}}, when: [{predicate: x}]", []string{authNothing}},
	{"AuthPolicy", "rules: {}", []string{authNothing}},
	{"AuthPolicy", "rules: {authentication: {}, authorization: {}, metadata: {}, callbacks: {}, response: {}}",
		[]string{authNothing}},
	{"AuthPolicy", "rules: {response: {success: {headers: {}, filters: {}}}}", []string{authNothing}},
	{"AuthPolicy", "defaults: {}", []string{authNoDefault}},
	{"AuthPolicy", "defaults: {when: [{predicate: x}], rules: {authentication: {}}}", []string{authNoDefault}},
	{"AuthPolicy", "overrides: {strategy: merge}", []string{authNoOver}},
	{"AuthPolicy", "overrides: {rules: {response: {success: {}}}}", []string{authNoOver}},
	{"AuthPolicy", toService + "rules: {authentication: {a: {}}}", []string{wrongGroup, authKind}},
	{"AuthPolicy", toTCP + "rules: {authentication: {a: {}}}", []string{authKind}},
	{"AuthPolicy", "defaults: {}, overrides: {}, rules: {}", []string{authDefaults, authOverrides, authBoth,
		authNoDefault, authNoOver}},

	{"RateLimitPolicy", "limits: {a: {}}", nil},
	{"RateLimitPolicy", toGateway + "defaults: {strategy: merge, when: [{predicate: x}], limits: {a: {}}}", nil},
	{"RateLimitPolicy", toGRPC + "overrides: {limits: {a: {}}}", nil},
	{"RateLimitPolicy", "when: [{predicate: x}], limits: {a: {}}", nil},
	{"RateLimitPolicy", "when: [{predicate: x}], defaults: {limits: {a: {}}}", nil}, // let in, and ignored
	{"RateLimitPolicy", "when: [{predicate: x}], overrides: {limits: {a: {}}}", nil},
	{"RateLimitPolicy", "defaults: {limits: {a: {}}}, limits: {}", []string{limitDefaults}},
	{"RateLimitPolicy", "overrides: {limits: {a: {}}}, limits: {b: {}}", []string{limitOverrides}},
	{"RateLimitPolicy", "defaults: {limits: {a: {}}}, overrides: {limits: {b: {}}}", []string{limitBoth}},
	{"RateLimitPolicy", "", []string{limitNothing}},
	{"RateLimitPolicy", "when: [{predicate: x}], limits: {}", []string{limitNothing}},
	{"RateLimitPolicy", "defaults: {limits: {}}", []string{limitNoDefault}},
	{"RateLimitPolicy", "overrides: {when: [{predicate: x}]}", []string{limitNoOver}},
	{"RateLimitPolicy", toService + "limits: {a: {}}", []string{wrongGroup, limitKind}},
	{"RateLimitPolicy", "defaults: {}, overrides: {}, limits: {}", []string{limitDefaults, limitBoth, limitOverrides,
		limitNoDefault, limitNoOver}},

	{"TokenRateLimitPolicy", "limits: {a: {}}", nil},
	{"TokenRateLimitPolicy", toGateway + "defaults: {limits: {a: {}}}", nil},
	{"TokenRateLimitPolicy", toGRPC + "limits: {a: {}}", []string{tokenKind}},
	{"TokenRateLimitPolicy", "defaults: {limits: {a: {}}}, limits: {b: {}}", []string{limitDefaults}},
	{"TokenRateLimitPolicy", "overrides: {limits: {a: {}}}, limits: {b: {}}", []string{limitOverrides}},
	{"TokenRateLimitPolicy", "defaults: {limits: {a: {}}}, overrides: {limits: {b: {}}}", []string{limitBoth}},
	{"TokenRateLimitPolicy", "when: [{predicate: x}]", []string{limitNothing}},
	{"TokenRateLimitPolicy", "overrides: {}", []string{limitNoOver}},

	{"DNSPolicy", toGateway + "providerRefs: []", nil},
	{"TLSPolicy", toGateway + "issuerRef: {name: x}", nil},
}

// The operator's own definitions decide.
func TestAdmission(t *testing.T) {
	for _, tc := range admissions {
		kept, problems := admit(t, tc.kind, tc.spec)
		var got []string
		for _, problem := range problems {
			if problem.Code == model.RefusedByOperator {
				_, rule, _ := strings.Cut(problem.Message, "Invalid value: ")
				got = append(got, strings.TrimPrefix(rule, `"object": no such key: headers evaluating rule: `))
			}
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(tc.want)); !slices.Equal(got, want) {
			t.Errorf("%s {%s}:\n says %+v\n want %q", tc.kind, tc.spec, problems, want)
		}
		if kept != (tc.want == nil) {
			t.Errorf("%s {%s}: kept %v", tc.kind, tc.spec, kept)
		}
	}
}

// A field that is there, and null, is pruned by the API server before it validates.
func TestAdmissionOfNulls(t *testing.T) {
	for _, spec := range []string{"defaults: null, limits: {a: {}}", "overrides: null, limits: {a: {}}",
		"limits: null, defaults: {limits: {a: {}}}"} {
		if kept, problems := admit(t, "RateLimitPolicy", spec); !kept {
			t.Errorf("{%s}: refused: %+v", spec, problems)
		}
	}
}

// catalogue has the operator's definitions. They are compiled once.
var catalogue = sync.OnceValues(func() (*schema.Catalogue, error) {
	return plugin.Schemas([]plugin.Plugin{Plugin()})
})

// admit reads a policy as a server with the operator's definitions would hand it on.
func admit(t *testing.T, kind, spec string) (kept bool, problems []model.Problem) {
	t.Helper()
	definitions, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	k := catalog(t, "kuadrant.profile=operator").Kind(group(kind))
	in := schema.NewAdmission(schema.Options{Catalogue: definitions}).Admit(read(t, manifest(kind, "a", spec)),
		map[model.GroupKind]schema.Treatment{k.GroupKind: {AsWritten: k.AsWritten, HasDialects: k.Profile != "",
			Advice: k.Advice}})
	return len(in.OfKind(k.GroupKind)) == 1, in.Problems
}
