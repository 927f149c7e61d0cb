package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestAnswersFitTheirSchema runs every command on the demo, and those that answer everything on
// each vendor's, and holds their JSON against the published schemas.
func TestAnswersFitTheirSchema(t *testing.T) {
	const demo = " -f ../../testdata/demo"
	lines := []string{"version", "check --list", "check test ../../testdata/requirements"}
	for _, args := range []string{"effective -A", "effective -A --show-none", "matrix -A",
		"matrix --missing RateLimitPolicy", "reach gw-auth", "reach gw-auth gw-cap", "reach typo", "reach gw-auth/geo",
		"overridden -A", "explain cart", "explain baker/rule-1 limits.cap",
		"status -A", "graph", "kinds", "check --fail-on none --ignore TargetNotFound --show-suppressed", "report",
		"request https://shop.example.com/cart", "why 401 https://shop.example.com/cart/checkout", "describe cart",
		"describe gateway/external", "describe gw-auth", "prove --require AuthPolicy", "prove --require TimeoutPolicy",
		"publish --dry-run --values ratelimitpolicy"} {
		lines = append(lines, args+demo)
	}
	vendors, err := filepath.Glob("../../testdata/vendors-demo/*")
	if err != nil || len(vendors) == 0 {
		t.Fatal("no demos of vendors", err)
	}
	for _, dir := range vendors {
		lines = append(lines, "report -f "+dir, "matrix -f "+dir, "diff ../../testdata/demo "+dir,
			"diff --behavior ../../testdata/demo "+dir)
	}
	lines = append(lines,
		"diff --behavior ../../testdata/prove ../../testdata/behavior/split --weights ../../testdata/behavior/access.log", "prove --require AuthPolicy --paths /admin -f ../../testdata/spelling",
		"check coverage --requirements ../../testdata/requirements/requirements.yaml --budget 30"+demo)
	const audited = "audit -f ../../testdata/audit/manifests.yaml --dataplane ../../testdata/audit/proxy-"
	lines = append(lines, audited+"1.json", audited+"2.json --all",
		audited+"1.json --dataplane ../../testdata/audit/proxy-2.json")
	lines = append(lines, "history cart --snapshots ../../test/duckdb/testdata/*/us.yaml")
	schemas, seen := schemas(t), map[string]bool{}
	for _, line := range lines {
		var out, errs bytes.Buffer
		args := append(strings.Fields(line), "-o", "json")
		if code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), args, cli.Streams{Out: &out,
			Err: &errs, LookupEnv: os.LookupEnv}); code > cli.ExitFindings {
			t.Fatalf("%s: exit %d: %s", line, code, errs.String())
		}
		doc, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatal(err)
		}
		kind := doc.(map[string]any)["kind"].(string)
		seen[kind] = true
		if err := compile(t, schemas[kind+".json"]).Validate(doc); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for kind := range answers() {
		// of clusters, what single answers make up, and where there is no answer
		if !seen[kind] && kind != "Snapshot" && kind != "RequestAnswerList" && kind != "ClusterFailure" {
			t.Errorf("no answer is a %s", kind)
		}
	}
}

func schemas(t *testing.T) map[string][]byte {
	t.Helper()
	out, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	return out
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

// contract is the keys that scripts depend on, with those that may be left out behind a question
// mark. Keys may be added, never renamed.
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
	"Report":                              "apiVersion kind complete problems title version inputs scope bare topology effective overridden status findings classes protection dataplane? picture?",
	"Report/RuleClasses":                  "rule classes more? example? verdict? path?",
	"Report/RuleClass":                    "class listener? command unknown?",
	"Report/Input":                        "kind name",
	"RequirementTestReport":               "apiVersion kind complete problems summary items",
	"RequirementTestReport/TestResult":    "file line name passed missing unexpected problems checked",
	"RequirementTestReport/TestSummary":   "passed failed",
	"FindingRuleList/Rule":                "id severities summary fix clause?",
	"RequestAnswer":                       "apiVersion kind complete problems request outcome backends why shadowed effective",
	"Version":                             "apiVersion kind complete problems version commit date goVersion platform gatewayAPI",
}

func TestContractKeys(t *testing.T) {
	schemas := schemas(t)
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
