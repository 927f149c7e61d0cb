package health

import (
	"fmt"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
)

// known are statuses with what they mean; generation is 3.
var known = []struct {
	name, kind, status, health string
	says                       string // a part of the message of Lua
}{
	{"accepted", "SecurityPolicy.gateway.envoyproxy.io",
		`ancestors: [{ancestorRef: {name: edge}, controllerName: c, conditions: [{type: Accepted, status: "True", observedGeneration: 3}]}]`,
		healthy, ""},
	{"one ancestor of two refuses", "SecurityPolicy.gateway.envoyproxy.io",
		`ancestors:
- {ancestorRef: {kind: Gateway, name: edge, namespace: infra}, controllerName: c, conditions: [{type: Accepted, status: "True"}]}
- {ancestorRef: {kind: HTTPRoute, name: shop, namespace: web, sectionName: pay}, controllerName: c, conditions: [{type: Accepted, status: "False", reason: Invalid, message: no such secret}]}`,
		degraded, "HTTPRoute web/shop (pay): Accepted is False (Invalid): no such secret"},
	{"one ancestor of two is not judged", "SecurityPolicy.gateway.envoyproxy.io",
		`ancestors: [{ancestorRef: {name: a}, conditions: [{type: Accepted, status: "True"}]}, {ancestorRef: {name: b}, conditions: []}]`,
		progressing, "Gateway b: Accepted is not reported yet"},
	{"one ancestor of two is about the last generation", "SecurityPolicy.gateway.envoyproxy.io",
		`ancestors: [{ancestorRef: {name: a}, conditions: [{type: Accepted, status: "True", observedGeneration: 3}]}, {ancestorRef: {name: b}, conditions: [{type: Accepted, status: "False", observedGeneration: 2}]}]`,
		progressing, "Gateway b: Accepted is about generation 2"},
	{"attached nowhere", "SecurityPolicy.gateway.envoyproxy.io", `ancestors: []`, degraded, "attached to nothing"},
	{"an empty status", "SecurityPolicy.gateway.envoyproxy.io", `{}`, progressing, "no controller has reported"},
	{"overridden for some routes", "SecurityPolicy.gateway.envoyproxy.io",
		`ancestors: [{ancestorRef: {name: edge}, conditions: [{type: Accepted, status: "True"}, {type: Overridden, status: "True", reason: Overridden, message: "for these routes: [a/b]"}]}]`,
		healthy, "Gateway edge: Overridden is True (Overridden): for these routes: [a/b]"},
	{"pending", "SecurityPolicy.gateway.envoyproxy.io",
		`ancestors: [{ancestorRef: {name: edge}, conditions: [{type: Accepted, status: Unknown, reason: Pending, message: waiting}]}]`,
		progressing, "waiting"},
	{"overridden everywhere", "AuthPolicy.kuadrant.io",
		`conditions: [{type: Accepted, status: "True"}, {type: Enforced, status: "False", reason: Overridden, message: "overridden by [a/b]"}]`,
		degraded, "Enforced is False (Overridden): overridden by [a/b]"},
	{"on no route", "AuthPolicy.kuadrant.io",
		`conditions: [{type: Accepted, status: "True"}, {type: Enforced, status: "False", reason: Unknown, message: not in the path to any existing routes}]`,
		degraded, "not in the path to any existing routes"},
	{"in force in part", "AuthPolicy.kuadrant.io",
		`conditions: [{type: Accepted, status: "True"}, {type: Enforced, status: "True", reason: Enforced, message: AuthPolicy has been partially enforced}]`,
		healthy, "partially enforced"},
	{"enforced, and nobody says that it is accepted", "AuthPolicy.kuadrant.io",
		`conditions: [{type: Enforced, status: "False", reason: Unknown, message: not in sync}]`, degraded, "not in sync"},
	{"the status is about the last generation", "AuthPolicy.kuadrant.io",
		`{observedGeneration: 2, conditions: [{type: Accepted, status: "False", reason: Invalid}]}`, progressing, "generation 2"},
	{"another controller has no such target", "BackendTLSPolicy.gateway.networking.k8s.io",
		`ancestors:
- {ancestorRef: {name: edge}, controllerName: a.example/gateways, conditions: [{type: Accepted, status: "True"}, {type: ResolvedRefs, status: "True"}]}
- {ancestorRef: {name: edge}, controllerName: b.example/mesh, conditions: [{type: Accepted, status: "False", reason: TargetNotFound}]}`,
		healthy, ""},
	{"no controller has such a target", "BackendTLSPolicy.gateway.networking.k8s.io",
		`ancestors:
- {ancestorRef: {name: edge}, controllerName: a.example/gateways, conditions: [{type: Accepted, status: "False", reason: TargetNotFound}]}
- {ancestorRef: {name: edge}, controllerName: b.example/mesh, conditions: [{type: Accepted, status: "False", reason: TargetNotFound}]}`,
		degraded, "TargetNotFound"},
	{"one controller finds one target of two", "BackendTLSPolicy.gateway.networking.k8s.io",
		`ancestors:
- {ancestorRef: {name: edge}, controllerName: a.example/gateways, conditions: [{type: Accepted, status: "True"}]}
- {ancestorRef: {name: other}, controllerName: a.example/gateways, conditions: [{type: Accepted, status: "False", reason: TargetNotFound}]}`,
		degraded, "Gateway other: Accepted is False (TargetNotFound)"},
	{"another controller refuses it", "BackendTLSPolicy.gateway.networking.k8s.io",
		`ancestors:
- {ancestorRef: {name: edge}, controllerName: a.example/gateways, conditions: [{type: Accepted, status: "True"}]}
- {ancestorRef: {name: edge}, controllerName: b.example/mesh, conditions: [{type: Accepted, status: "False", reason: NoValidCACertificate}]}`,
		degraded, "NoValidCACertificate"},
	{"a generation that is a text", "AuthorizationPolicy.security.istio.io",
		`conditions: [{type: ZtunnelAccepted, status: "True", reason: Accepted, observedGeneration: "3"}]`, healthy, ""},
	{"an old generation that is a text", "AuthorizationPolicy.security.istio.io",
		`conditions: [{type: ZtunnelAccepted, status: "True", reason: Accepted, observedGeneration: "2"}]`, progressing, "generation 2"},
	{"rules that are left out", "AuthorizationPolicy.security.istio.io",
		`conditions: [{type: ZtunnelAccepted, status: "True", reason: UnsupportedValue, message: HTTP rules are omitted}]`,
		degraded, "HTTP rules are omitted"},
	{"no waypoint", "AuthorizationPolicy.security.istio.io",
		`conditions: [{type: WaypointAccepted, status: "False", reason: AncestorNotBound, message: not bound}]`, degraded, "not bound"},
	{"a kind that may have no status", "AuthorizationPolicy.security.istio.io", ``, healthy, "not known"},
	{"a word", "RouteOption.gateway.solo.io", `statuses: {a: {state: Accepted}}`, healthy, ""},
	{"a number", "RouteOption.gateway.solo.io", `statuses: {a: {state: 1}}`, healthy, ""},
	{"the number of another word", "RouteOption.gateway.solo.io", `statuses: {b: {state: 1}, a: {state: 2, reason: no upstream}}`,
		degraded, "a: 2: no upstream"},
	{"a warning", "RouteOption.gateway.solo.io", `statuses: {a: {state: Warning, reason: not used}}`, degraded, "Warning: not used"},
	{"a word that is to come", "RouteOption.gateway.solo.io", `statuses: {a: {state: Pending}}`, progressing, "Pending"},
	{"no word", "RouteOption.gateway.solo.io", `statuses: {}`, progressing, "no controller has reported"},
	{"partially valid", "AgentgatewayPolicy.agentgateway.dev",
		`ancestors: [{ancestorRef: {name: edge}, conditions: [{type: Accepted, status: "True", reason: PartiallyValid, message: no such key}]}]`,
		degraded, "no such key"},
	{"more ancestors than there is room for", "AgentgatewayPolicy.agentgateway.dev",
		`ancestors: [{ancestorRef: {name: edge}, conditions: [{type: Accepted, status: "True"}, {type: Attached, status: "True"}]}, {ancestorRef: {name: StatusSummary}, conditions: [{type: StatusSummarized, status: "True"}]}]`,
		healthy, ""},
	{"not accepted, in a word of its own", "BackendSecurityPolicy.aigateway.envoyproxy.io",
		`conditions: [{type: NotAccepted, status: "False", reason: ReconciliationFailed, message: no such backend}]`,
		degraded, "no such backend"},
	{"attached", "GCPBackendPolicy.networking.gke.io", `conditions: [{type: Attached, status: "True"}]`, healthy, ""},
	{"not attached", "GCPBackendPolicy.networking.gke.io", `conditions: [{type: Attached, status: "False", reason: Conflicted}]`, degraded, "Conflicted"},
	{"merged", "TrafficPolicy.gateway.kgateway.dev",
		`ancestors: [{ancestorRef: {name: edge}, conditions: [{type: Accepted, status: "True"}, {type: Attached, status: "True", reason: Merged, message: with a/b}]}]`,
		healthy, "with a/b"},
	{"behind no setting", "TrafficPolicy.gateway.kgateway.dev",
		`ancestors: [{ancestorRef: {name: edge}, conditions: [{type: Accepted, status: "True"}, {type: Attached, status: "False", reason: Overridden}]}]`,
		degraded, "Attached is False (Overridden)"},
	{"not programmed", "EnvoyPatchPolicy.gateway.envoyproxy.io",
		`ancestors: [{ancestorRef: {name: edge}, conditions: [{type: Accepted, status: "True"}, {type: Programmed, status: "False", reason: Invalid}]}]`,
		degraded, "Programmed is False"},
	{"refused at many", "SecurityPolicy.gateway.envoyproxy.io",
		`ancestors: [` + strings.Repeat(`{ancestorRef: {name: e}, conditions: [{type: Accepted, status: "False", reason: Invalid, message: m}]},`, 5) + `]`,
		degraded, "; and 2 more"},
}

func TestKnownStatuses(t *testing.T) {
	all := makeChecks(t, nil)
	for _, one := range known {
		t.Run(one.name, func(t *testing.T) {
			object := readPolicy(t, one.kind, one.status)
			script, ok := all.lua[one.kind]
			if !ok {
				t.Fatalf("%s has no check", one.kind)
			}
			said, err := runLua(script, object)
			if err != nil || said.Health != one.health || !strings.Contains(said.Message, one.says) ||
				one.says == "" && said.Message != "" {
				t.Errorf("Lua: %v, %v; want %s, %q", said, err, one.health, one.says)
			}
			exprs, ok := all.cel[one.kind]
			if !ok {
				return
			}
			if health, err := runCEL(exprs, object); err != nil || health != one.health {
				t.Errorf("CEL: %s, %v; want %s", health, err, one.health)
			}
		})
	}
}

// readPolicy is a policy with a status, which is YAML.
func readPolicy(t *testing.T, kind, status string) map[string]any {
	t.Helper()
	name, group, _ := strings.Cut(kind, ".")
	coded, err := sigsyaml.YAMLToJSON([]byte(status))
	if err != nil {
		t.Fatal(err)
	}
	out := newPolicy(group, name, nil)
	if s := decodeObject(coded); s != nil {
		out["status"] = s
	}
	return out
}

// hostileWords are words of a descriptor that would be code where they are not quoted.
var hostileWords = []string{`]] error("ran") --`, `"} error("ran") --`, `'] == [] || true || ['`, "a\nerror('ran')", `\`, `\"`, "é€😀", "{{x}}", "${x}"}

func TestWordsAreNoCode(t *testing.T) {
	for i, word := range hostileWords {
		descriptor := fmt.Sprintf(`apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: CachePolicy.policies.example.com
targets: [HTTPRoute]
status: {health: {required: [%q], judged: [J%[1]q], adverse: [%[1]q, A], mentioned: [M]}}
`, word)
		descriptor = strings.ReplaceAll(descriptor, `[J"`, `["J`)
		all := makeChecks(t, []string{"--policy-kinds", writeFile(t, "own.yaml", descriptor), "--policy-kind", "CachePolicy"})
		for _, kind := range []string{word, "J" + word} {
			for status, want := range map[string]string{"True": healthy, "False": degraded, "Unknown": progressing} {
				conditions := []any{map[string]any{"type": kind, "status": status, "message": word, "reason": word + "?"}}
				if kind != word {
					conditions = append(conditions, map[string]any{"type": word, "status": "True"})
				}
				// the word is adverse too, so that True of it is a fault
				if status == "True" || kind != word {
					want = degraded
				}
				object := newPolicy("policies.example.com", "CachePolicy", map[string]any{"conditions": conditions})
				said, err := runLua(all.lua["CachePolicy.policies.example.com"], object)
				if err != nil || said.Health != want || !strings.Contains(said.Message, word) {
					t.Errorf("word %d, %s: Lua: %v, %v, want %s", i, status, said, err, want)
				}
				health, err := runCEL(all.cel["CachePolicy.policies.example.com"], object)
				if err != nil || health != want {
					t.Errorf("word %d, %s: CEL: %v, %v, want %s", i, status, health, err, want)
				}
			}
		}
	}
}

// TestTextsOfObjectsAreNoCode sees that what a cluster holds comes back as it is.
func TestTextsOfObjectsAreNoCode(t *testing.T) {
	all := makeChecks(t, nil)
	const kind = "SecurityPolicy.gateway.envoyproxy.io"
	for _, text := range hostileWords {
		entry := map[string]any{"ancestorRef": map[string]any{"name": text, "kind": text, "namespace": text},
			"controllerName": text, "conditions": []any{map[string]any{"type": "Accepted", "status": "False", "reason": text,
				"message": text}}}
		object := newPolicy("gateway.envoyproxy.io", "SecurityPolicy", map[string]any{"ancestors": []any{entry}})
		object["metadata"].(map[string]any)["annotations"] = map[string]any{text: text}
		want := text + " " + text + "/" + text + ": Accepted is False (" + text + "): " + text
		if said, err := runLua(all.lua[kind], object); err != nil || said != (answer{degraded, want}) {
			t.Errorf("Lua: %v, %v", said, err)
		}
		if health, err := runCEL(all.cel[kind], object); err != nil || health != degraded {
			t.Errorf("CEL: %s, %v", health, err)
		}
	}
}

// TestMisshapenStatuses sees that a status that no API server would take makes no check fail or call a
// policy healthy.
func TestMisshapenStatuses(t *testing.T) {
	all := makeChecks(t, nil)
	for _, status := range []string{`ancestors: a`, `ancestors: [a, 1, null]`, `ancestors: [{conditions: a}]`, `conditions: {a: b}`,
		`ancestors: [{conditions: [{}, null, a]}]`, `conditions: [{type: {}, status: []}]`, `observedGeneration: {}`,
		`statuses: a`, `statuses: {a: b}`, `statuses: {a: {state: {}}}`, `statuses: [a]`} {
		for kind, script := range all.lua {
			object := readPolicy(t, kind, status)
			said, err := runLua(script, object)
			if err != nil || said.Health == healthy && !strings.HasPrefix(said.Message, "not known") {
				t.Errorf("%s: %s: Lua: %v, %v", kind, status, said, err)
			}
			if health, err := runCEL(all.cel[kind], object); all.cel[kind].Kind != "" && err == nil && health == healthy {
				t.Errorf("%s: %s: CEL: %s", kind, status, health)
			}
		}
	}
}

// TestSize sees that all checks together fit into a ConfigMap, with room to spare for the others there.
func TestSize(t *testing.T) {
	text := runProgram(t, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"), "kinds", "-f", "-", "-o", "argocd-health")
	if len(text) > 512<<10 {
		t.Errorf("%d bytes; a ConfigMap holds 1 MiB", len(text))
	}
}
