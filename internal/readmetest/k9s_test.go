package readmetest

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
)

// k9sPlugin is one entry of a plugin file, with the fields of k9s' schema that are used.
type k9sPlugin struct {
	ShortCut    string   `json:"shortCut"`
	Description string   `json:"description"`
	Scopes      []string `json:"scopes"`
	Command     string   `json:"command"`
	Background  bool     `json:"background"`
	Args        []string `json:"args"`
}

// TestK9s runs the commands of the plugin file on objects of the demo, in the place of the one
// under the cursor. Keys on policies are for all kinds that the program describes, and two plugins
// with one key have no kind in common.
func TestK9s(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("docs/k9s-plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/k9s.md")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Plugins map[string]k9sPlugin `json:"plugins"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		t.Fatal(err)
	}
	kinds := describedPlurals(t)
	gateway := "gateway.networking.k8s.io"
	cursors := map[string]map[string]string{}
	for _, c := range [][4]string{{"httproutes", gateway, "bakery", "baker"}, {"grpcroutes", gateway, "shop",
		"inventory"}, {"gateways", gateway, "infra", "external"},
		{"services", "", "shop", "cart"}, {"authpolicies", "kuadrant.io", "infra", "gw-auth"}, {"ratelimitpolicies",
			"kuadrant.io", "bakery", "baker-all"}} {
		cursors[c[0]] = map[string]string{"RESOURCE_NAME": c[0], "RESOURCE_GROUP": c[1], "NAMESPACE": c[2],
			"NAME": c[3], "CONTEXT": "prod"}
	}
	ran, taken := 0, map[string]string{}
	for name, p := range file.Plugins {
		if p.Command != "sh" || p.Background || len(p.Args) != 2 || p.Args[0] != "-c" || p.Description == "" ||
			!strings.Contains(string(page), "`"+p.ShortCut+"`") {
			t.Errorf("%s is not as it should be, or not in docs/k9s.md: %+v", name, p)
			continue
		}
		onPolicies := slices.Contains(p.Scopes, "authpolicies")
		if onPolicies && !slices.Equal(slices.Sorted(slices.Values(p.Scopes)), kinds) {
			t.Errorf("%s is for %v, the program describes %v", name, p.Scopes, kinds)
		}
		for _, scope := range p.Scopes {
			if other := taken[p.ShortCut+scope]; other != "" {
				t.Errorf("%s and %s both have %s on %s", name, other, p.ShortCut, scope)
			}
			taken[p.ShortCut+scope] = name
			if cursor := cursors[scope]; cursor != nil {
				ran++
				runPlugin(t, p.Args[1], cursor)
			}
		}
	}
	if ran < 15 {
		t.Errorf("only %d commands ran", ran)
	}
}

// runPlugin runs the command of a plugin on the demo.
func runPlugin(t *testing.T, line string, cursor map[string]string) {
	t.Helper()
	command, piped := strings.CutSuffix(line, " 2>&1 | less -RS")
	words, err := shell.Fields(command, func(name string) string { return cursor[name] })
	if err != nil || !piped || strings.Join(words[:2], " ") != "kubectl dopolicy" {
		t.Fatalf("%s: %v", line, err)
	}
	at := slices.Index(words, "--context")
	if at < 0 || words[at+1] != "prod" {
		t.Fatalf("%s does not name the context", line)
	}
	words = append(slices.Delete(words[2:], at-2, at), "-f", "testdata/demo")
	var out, errs bytes.Buffer
	if code := start(strings.Join(words, " "), 0, &out, &errs); code != cli.ExitAnswered || out.Len() == 0 {
		t.Errorf("%v: exit %d: %s", words, code, errs.String())
	}
}

// describedPlurals are the plurals of the kinds that the program describes, sorted, each once.
func describedPlurals(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, name := range strings.Fields(run(t, "kinds -o name -f testdata/vendors-demo/gatewayapi")) {
		plural, _, _ := strings.Cut(name, ".")
		if plural == "outbounds" { // there are no such objects
			continue
		}
		out = append(out, plural)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
