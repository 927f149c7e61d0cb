package actiontest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const gateway = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{port: 8080}]}
`

const route = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec:
  parentRefs: [{name: public}]
  hostnames: [shop.example.com]
  rules:
  - name: items
    backendRefs: [{name: cart, port: 8080}]
`

const login = `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: login, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]
  jwt:
    providers:
    - {name: customers, issuer: https://id.example.com, remoteJWKS: {uri: https://id.example.com/keys}}
`

// broken is no YAML, and was meant to be an object.
var broken = strings.Replace(login, "{name: login, namespace: shop}", "{name: login, namespace: shop", 1)

// shop is what the branch main has.
func shop(more ...string) map[string]string {
	out := map[string]string{"manifests/gateway.yaml": gateway, "manifests/route.yaml": route,
		"manifests/login.yaml": login}
	for i := 0; i+1 < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// shadowed is a route with a mistake: its second rule gets no request.
var shadowed = strings.Replace(route, "  - name: items\n",
	"  - {name: all, backendRefs: [{name: cart, port: 8080}]}\n  - name: items\n", 1)

func TestPullRequests(t *testing.T) {
	tests := []struct {
		name         string
		base, change map[string]string
		inputs       map[string]string
		exit         int
		first        string // how the first line of the comment begins
		log          string // what stands in the log
	}{
		{name: "a login is removed", base: shop(), change: map[string]string{"manifests/login.yaml": ""}, exit: 1,
			first: "**1 route rule loses authentication. 1 target loses its only SecurityPolicy.** httproute/shop/cart/items"},
		{name: "a login becomes optional", base: shop(), change: map[string]string{"manifests/login.yaml": strings.Replace(
			login, "jwt:\n", "jwt:\n    optional: true\n", 1)}, exit: 1, first: "**1 route rule loses authentication.**"},
		{name: "a login is removed, which nobody wants to fail", base: shop(),
			change: map[string]string{"manifests/login.yaml": ""}, inputs: map[string]string{"new-access": "ignore"},
			first: "**1 route rule loses authentication."},
		{name: "a harmless change", base: shop(), change: map[string]string{"manifests/login.yaml": strings.ReplaceAll(login,
			"id.example.com", "login.example.com")},
			first: "**Nothing loses protection.** 1 route rule in 1 namespace changes."},
		{name: "no change of policies", base: shop(), change: map[string]string{"README": "x"},
			first: "**Nothing changes: 1 effective policy is the same.**"},
		{name: "a route without a login", base: shop(), change: map[string]string{"manifests/open.yaml": strings.NewReplacer(
			"{name: cart, namespace", "{name: open, namespace", "shop.example.com", "open.example.com").Replace(route)},
			exit: 1, first: "**Requests get access that they did not have.**"},
		{name: "a rule without a login is asked for", base: shop(), change: map[string]string{"manifests/login.yaml": ""},
			inputs: map[string]string{"missing": "authentication", "new-access": "ignore"}, exit: 1,
			first: "**1 route rule loses", log: "matrix: found something"},
		{name: "a mistake", base: shop(), change: map[string]string{"manifests/route.yaml": shadowed}, exit: 1,
			first: "**", log: "RuleShadowed"},
		{name: "a mistake that was there", base: shop("manifests/route.yaml", shadowed),
			change: map[string]string{"README": "x"}, inputs: map[string]string{"new-only": "true"}, first: "**Nothing changes"},
		{name: "a mistake that its own config ignores", base: shop(), change: map[string]string{
			"manifests/route.yaml": shadowed,
			".dopolicy.yaml":       "failOn: none\nignore: [{id: RuleShadowed, object: '*/*/*', reason: x}]\n"}, exit: 1,
			first: "**", log: "RuleShadowed"},
		{name: "a mistake that the config of the base ignores", base: shop(".dopolicy.yaml",
			"ignore: [{id: RuleShadowed, object: '*/*/*', reason: x}]\n"), change: map[string]string{
			"manifests/route.yaml": shadowed, ".dopolicy.yaml": "failOn: error\n"}, first: "**"},
		{name: "a requirement that is relaxed", base: shop(".dopolicy.yaml", "requirements: [rules.yaml]\n", "rules.yaml",
			requirement("false")), change: map[string]string{"rules.yaml": requirement("true"),
			"more.yaml": requirement("true")}, exit: 1, first: "**Nothing changes", log: "enough-hosts"},
		{name: "a config that is a link to a secret", base: shop(), change: map[string]string{".dopolicy.yaml": "LINK"},
			first: "**Nothing changes"},
		{name: "descriptors of the base", base: shop("kinds.yaml", "apiVersion: dopolicy.dev/v1alpha1\nkind: Nonsense\n"),
			change: map[string]string{"kinds.yaml": ""},
			inputs: map[string]string{"arguments": "--policy-kinds\n{base}/kinds.yaml\n"}, exit: 2, log: "/base/kinds.yaml"},
		{name: "a broken document", base: shop(), change: map[string]string{"manifests/more.yaml": broken}, exit: 3,
			first: "**The answer is incomplete, and may hide a loss of protection"},
		{name: "a broken document that nobody wants to fail", base: shop(), change: map[string]string{
			"manifests/more.yaml": broken}, inputs: map[string]string{"incomplete": "warn", "fail-on": "none"}, exit: 0,
			first: "**The answer is incomplete, and may hide a loss of protection"},
		{name: "a login that is broken", base: shop(), change: map[string]string{"manifests/login.yaml": broken}, exit: 1,
			first: "**1 route rule loses authentication. 1 target loses its only SecurityPolicy. More may be lost"},
		{name: "nothing that can be read", base: shop(), change: map[string]string{"manifests/gateway.yaml": broken,
			"manifests/route.yaml": "", "manifests/login.yaml": ""}, exit: 3,
			first: "**The answer is incomplete, and may hide a loss of protection: the manifests cannot be compared.**"},
		{name: "commands in inputs", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"arguments": "$(touch pwned)\n`touch pwned`\n; touch pwned"}, exit: 2, log: "$(touch pwned)"},
		{name: "a command as a path", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"path": "manifests; touch pwned"}, exit: 3, log: "touch pwned"},
		{name: "a flag as a path", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"path": "--kubeconfig=x"}, exit: 2, log: "path: want"},
		{name: "a path elsewhere", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"path": "../other"}, exit: 2, log: "path: want"},
		{name: "a word that is none", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"new-access": "no"}, exit: 2, log: "new-access: want one of fail ignore"},
		{name: "a base that is not there", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"base": "origin/gone"}, exit: 2, log: "there is no revision origin/gone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			link := test.change[".dopolicy.yaml"] == "LINK"
			if link {
				delete(test.change, ".dopolicy.yaml")
				test.change["README"] = "x"
			}
			repo := newRepository(t, test.base, test.change)
			if link {
				if err := os.Symlink("/etc/hostname", repo+"/.dopolicy.yaml"); err != nil {
					t.Fatal(err)
				}
			}
			before := gitStatus(t, repo)
			inputs := map[string]string{"path": "manifests"}
			for name, value := range test.inputs {
				inputs[name] = value
			}
			j := runAction(t, repo, inputs)
			if j.failed != test.exit || !strings.HasPrefix(j.first, test.first) || !strings.Contains(j.log, test.log) {
				t.Errorf("exit %d, first line %q\n%s", j.failed, j.first, j.log)
			}
			if test.first != "" && !strings.HasPrefix(j.summary, j.first+"\n") {
				t.Errorf("the summary is %s", j.summary)
			}
			if after := gitStatus(t, repo); after != before {
				t.Errorf("the working directory had %q, and has %q", before, after)
			}
		})
	}
}

func requirement(expression string) string {
	return "apiVersion: dopolicy.dev/v1alpha1\nkind: Requirements\nrequirements:\n- name: enough-hosts\n" +
		"  expression: '" + expression + "'\n  message: too few\n"
}

// TestSARIF: findings are written for code scanning, and the step that uploads them gets the file.
func TestSARIF(t *testing.T) {
	repo := newRepository(t, shop(), map[string]string{"manifests/route.yaml": shadowed})
	j := runAction(t, repo, map[string]string{"path": "manifests"})
	text, err := os.ReadFile(j.outputs["sarif"])
	if err != nil {
		t.Fatal(err)
	}
	var sarif struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Locations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &sarif); err != nil || len(sarif.Runs) != 1 || len(sarif.Runs[0].Results) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	for _, r := range sarif.Runs[0].Results {
		if r.RuleID == "RuleShadowed" && r.Locations[0].PhysicalLocation.ArtifactLocation.URI != "manifests/route.yaml" {
			t.Errorf("it is found in %v", r.Locations)
		}
	}
	if len(j.used) != 1 || !strings.HasPrefix(j.used[0], "github/codeql-action/upload-sarif@") ||
		!strings.HasSuffix(j.used[0], " "+j.outputs["sarif"]) {
		t.Errorf("uploaded: %v", j.used)
	}
	if j = runAction(t, repo, map[string]string{"path": "manifests", "sarif": "false"}); len(j.used) != 0 {
		t.Errorf("uploaded: %v", j.used)
	}
}

// TestHostileNames: names that a stranger chooses are text in the comment, the log and the summary.
func TestHostileNames(t *testing.T) {
	const name = "manifests/@team <b>!1 [x](https:&x) `x` ::error::x.yaml"
	repo := newRepository(t, shop(), map[string]string{name: broken, "manifests/login.yaml": strings.Replace(login,
		"issuer: https://id.example.com", "issuer: \"https://id.example.com/\\n::warning::x\\n```\\n@team\"", 1)})
	j := runAction(t, repo, map[string]string{"path": "manifests"})
	comment, err := os.ReadFile(j.outputs["comment"])
	if err != nil || !strings.Contains(string(comment), "&#64;team") {
		t.Fatalf("%v: the file is not named in %s", err, comment)
	}
	_, shown, _ := strings.Cut(string(comment), "</details>") // what stands before it is in a fence
	for _, markup := range []string{"@team", "<b>", "](", "`x`", "!1"} {
		if strings.Contains(shown, markup) {
			t.Errorf("%q is in the comment: %s", markup, comment)
		}
	}
	for line := range strings.Lines(j.log + j.summary) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") && strings.Contains(line, "::x") {
			t.Errorf("it is a command: %s", line)
		}
	}
}
