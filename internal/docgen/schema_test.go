package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestAnswersFitTheirSchema runs every command on the demo and holds its JSON against the published schema.
func TestAnswersFitTheirSchema(t *testing.T) {
	schemas := Schemas()
	for _, args := range []string{"effective -A", "effective -A --show-none", "reach gw-auth", "reach typo", "reach gw-auth/geo", "overridden -A", "explain cart", "explain baker/rule-1 limits.cap",
		"status -A", "graph", "kinds", "version", "check --fail-on none --ignore TargetNotFound --show-suppressed", "check --list",
		"check test ../../testdata/requirements", "report"} {
		var out, errs bytes.Buffer
		line := append(strings.Fields(args), "-o", "json")
		if args != "version" && args != "check --list" && !strings.HasPrefix(args, "check test") {
			line = append(line, "-f", "../../testdata/demo")
		}
		if code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), line, cli.Streams{Out: &out, Err: &errs, LookupEnv: os.LookupEnv}); code != 0 {
			t.Fatalf("%s: exit %d: %s", args, code, errs.String())
		}
		doc, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatal(err)
		}
		kind := doc.(map[string]any)["kind"].(string)
		if err := compile(t, schemas[kind+".json"]).Validate(doc); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("shape.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("shape.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// contract is the keys that scripts depend on, with those that may be left out behind a question mark. Keys may be added, never renamed.
var contract = map[string]string{
	"EffectivePolicyList":                 "apiVersion kind complete problems items",
	"EffectivePolicyList/EffectivePolicy": "policyKind target paths spec? ordered rules policies lost groups? profile? id",
	"EffectivePolicyList/Rule":            "name value sources lost",
	"EffectivePolicyList/Loss":            "policy? target level block? strategy? origin? builtin? value reason message",
	"EffectivePolicyList/RuleLoss":        "rule policy? target level block? strategy? origin? builtin? value reason message",
	"EffectivePolicyList/PolicyUse":       "policy? target level strategy? origin? builtin? role",
	"EffectivePolicyList/Source":          "policy? target level block? strategy? origin? builtin?",
	"EffectivePolicyList/Group":           "name rules",
	"EffectivePolicyList/Ref":             "group kind namespace? name section?",
	"EffectivePolicyList/Origin":          "file? line? cluster?",
	"EffectivePolicyList/Problem":         "severity code ref? origin? message hint?",
	"EffectivePolicyList/Path":            "gatewayClass? gateway? listenerSet? listener? delegatedFrom? direction? mesh? dataplane? destination? hostname? delegatedRules? binding?",
	"PolicyReach":                         "apiVersion kind complete problems policy rule? summary items",
	"PolicyReach/ReachSummary":            "gateways listeners routes routeRules backends effective partial overridden",
	"PolicyReach/ReachItem":               "target paths rule? state by reason",
	"OverriddenRuleList":                  "apiVersion kind complete problems items",
	"OverriddenRuleList/OverriddenRule":   "rule source value target paths lostTo reason message everywhere",
	"StatusList/ObjectStatus":             "object ancestors affected attachedRoutes? supportedKinds?",
	"StatusList/AncestorStatus":           "ancestorRef controllerName? conditions",
	"StatusList/Condition":                "type status reason message",
	"Explanation":                         "apiVersion kind complete problems items",
	"Explanation/Step":                    "policy? block strategy condition? took lost result",
	"Topology":                            "apiVersion kind complete problems nodes edges",
	"Topology/GraphNode":                  "id ref kind labels",
	"Topology/GraphEdge":                  "from to kind",
	"CheckReport":                         "apiVersion kind complete problems summary items",
	"CheckReport/Finding":                 "id severity ref? origin? message hint? suppressed?",
	"CheckReport/Summary":                 "error warning info suppressed",
	"CheckReport/Suppression":             "by reason?",
	"Report":                              "apiVersion kind complete problems title version inputs scope bare topology effective overridden status findings picture?",
	"Report/Input":                        "kind name",
	"RequirementTestReport":               "apiVersion kind complete problems summary items",
	"RequirementTestReport/TestResult":    "file line name passed missing unexpected problems checked",
	"RequirementTestReport/TestSummary":   "passed failed",
	"FindingRuleList/Rule":                "id severities summary fix clause?",
	"Version":                             "apiVersion kind complete problems version commit date goVersion platform gatewayAPI",
}

func TestContractKeys(t *testing.T) {
	schemas := Schemas()
	for at, keys := range contract {
		file, def, nested := strings.Cut(at, "/")
		var schema struct {
			Properties map[string]any
			Required   []string
			Defs       map[string]struct {
				Properties map[string]any
				Required   []string
			} `json:"$defs"`
		}
		if err := json.Unmarshal(schemas[file+".json"], &schema); err != nil {
			t.Fatal(err)
		}
		props, required := schema.Properties, schema.Required
		if nested {
			props, required = schema.Defs[def].Properties, schema.Defs[def].Required
		}
		for _, key := range strings.Fields(keys) {
			name, optional := strings.CutSuffix(key, "?")
			if _, ok := props[name]; !ok {
				t.Errorf("%s has no key %q", at, name)
			}
			if !optional && !slices.Contains(required, name) {
				t.Errorf("%s may leave out %q", at, name)
			}
		}
	}
}
