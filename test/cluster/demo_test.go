package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// placeholder is what the server says of the Secret of the demo, which has no key in it.
const placeholder = "Warning: tls: "

// TestDemoWithItsDefinitions applies the demo with kubectl, as the documentation says, to a server with the definitions of the Gateway API and of
// the implementation: nothing of it is refused or dropped, and the same
// settings are in force, from the same policies, as from the files.
func TestDemoWithItsDefinitions(t *testing.T) {
	var texts []string
	for _, k := range readReleased(t) {
		if k.vendor != "kuadrant" {
			continue
		}
		text, err := json.Marshal(k.definition())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	folder, err := moduleFolder(gatewayAPI)
	if err != nil {
		t.Fatal(err)
	}
	for _, channel := range []string{"standard", "experimental"} {
		t.Run(channel, func(t *testing.T) {
			c := Start(t)
			crds, err := filepath.Glob(filepath.Join(folder, "config", "crd", channel, "gateway.networking.k8s.io_*.yaml"))
			if err != nil || len(crds) < 5 {
				t.Fatalf("%d definitions in %s: %v", len(crds), folder, err)
			}
			for _, file := range crds {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				c.MustApply(string(text))
			}
			c.MustApply(texts...)
			env := environment(c.Kubeconfig(admin, ""))
			files, err := filepath.Abs(demo) // kubectl runs elsewhere
			if err != nil {
				t.Fatal(err)
			}
			apply := []string{"apply", "-f", files, "--validate=strict"}
			first := RunProgram(t, Kubectl(t), apply, env) // what is in namespaces, and of kinds, that it makes itself is refused yet
			for _, line := range strings.Split(strings.TrimSpace(first.Stderr), "\n") {
				if line != "" && !strings.HasPrefix(line, placeholder) && !strings.Contains(line, "not found") && !strings.Contains(line, "TimeoutPolicy") &&
					!strings.Contains(line, "ensure CRDs are installed first") {
					t.Errorf("the first time: %s", line)
				}
			}
			again := RunProgram(t, Kubectl(t), apply, env)
			if lines := strings.Count(again.Stderr, "\n"); again.Code != 0 || lines != strings.Count(again.Stderr, placeholder) {
				t.Fatalf("the second time: exit %d\n%s", again.Code, again.Stderr)
			}
			var names []string
			for _, from := range [][]string{{}, {"-f", files}} {
				got := Run(t, append([]string{"effective", "-A", "-o",
					"jsonpath={range .items[*]}{.policyKind} {.target.namespace}/{.target.name}/{.target.section} {.rules[*].name} {.rules[*].sources[*].policy.name}{\"\\n\"}{end}"},
					from...), env)
				if got.Code != 0 {
					t.Fatalf("%+v", got)
				}
				names = append(names, got.Stdout)
			}
			if names[0] != names[1] || names[0] == "" {
				t.Errorf("the cluster's answer is another than the files':\n%s\n%s", names[0], names[1])
			}
		})
	}
}
