package archtest

import (
	"fmt"
	"strings"
	"testing"
)

func importing(pkgs ...string) string {
	var b strings.Builder
	b.WriteString("package x\n")
	for _, p := range pkgs {
		fmt.Fprintf(&b, "import %q\n", p)
	}
	return b.String()
}

// synthetic sources show that each check fails where it must, and only there.
var synthetic = []struct {
	name  string
	check check
	path  string
	text  string
	want  []string // the breaches, "LINE: part of the message"
}{
	{"imports what stands above", importDirection, "pkg/resolve/run.go", importing(module+"/pkg/model",
		module+"/pkg/merge", "slices", "cel.dev/cel-go/cel"), nil},
	{"imports what stands below", importDirection, "pkg/merge/fold.go", importing("slices", module+"/pkg/policy"),
		[]string{"3: pkg/merge imports pkg/policy, which stands below"}},
	{"a folder belongs to its row", importDirection, "pkg/view/tree/tree.go", importing(module+"/pkg/view",
		module+"/pkg/render"), []string{"3: which stands below"}},
	{"a row imports its own folder", importDirection, "pkg/render/render.go", importing(module + "/pkg/render/svg"),
		nil},
	{"pkg imports a plugin", importDirection, "pkg/cli/root.go", importing(module+"/pkg/view", module+"/plugins"),
		[]string{"3: imports plugins, which is not in the package table"}},
	{"pkg imports internal", importDirection, "pkg/cli/root.go", importing(module + "/internal/x"),
		[]string{"2: not in the package table"}},
	{"pkg imports the root", importDirection, "pkg/cli/root.go", importing(module),
		[]string{"2: not in the package table"}},
	{"another module of a like name", importDirection, "pkg/model/a.go", importing(module + "-extra/pkg/cli"), nil},
	{"package outside the table", importDirection, "pkg/util/util.go", importing(),
		[]string{"1: pkg/util is not in the package table"}},
	{"plugin imports the core", importDirection, "plugins/acme/plugin.go", importing(module+"/pkg/plugin",
		module+"/pkg/merge", module+"/plugins/acme/cel"), nil},
	{"plugin imports the command line", importDirection, "plugins/acme/plugin.go", importing(module + "/pkg/cli"),
		[]string{"2: a plugin imports only the core"}},
	{"plugin imports load", importDirection, "plugins/acme/plugin.go", importing(module + "/pkg/load"),
		[]string{"2: a plugin imports only the core"}},
	{"plugin imports another", importDirection, "plugins/acme/plugin.go", importing(module + "/plugins/acmesque"),
		[]string{"2: a plugin imports only the core"}},
	{"the list of vendors", importDirection, "plugins/all.go", importing(module+"/plugins/acme", module+"/pkg/plugin"),
		nil},
	{"cmd imports all", importDirection, "cmd/kubectl-dopolicy/main.go", importing(module+"/pkg/cli",
		module+"/plugins"), nil},

	{"merge with std", mergeIsStd, "pkg/merge/fold.go", importing("slices", "encoding/json"), nil},
	{"merge with a module", mergeIsStd, "pkg/merge/fold.go", importing("slices", "sigs.k8s.io/yaml"),
		[]string{"3: sigs.k8s.io/yaml"}},
	{"merge with its own module", mergeIsStd, "pkg/merge/fold.go", importing(module + "/pkg/model"),
		[]string{"2: pkg/model"}},
	{"others may", mergeIsStd, "pkg/policy/cel.go", importing("cel.dev/cel-go/cel"), nil},

	{"pure", pureCore, "pkg/view/reach.go", importing("time", "net/url", "net/netip", "strings"), nil},
	{"reads files", pureCore, "pkg/policy/kind.go", importing("os"), []string{"2: imports os"}},
	{"starts processes", pureCore, "pkg/status/a.go", importing("os/exec"), []string{"2: imports os/exec"}},
	{"talks", pureCore, "pkg/request/a.go", importing("net", "net/http"), []string{"2: imports net",
		"3: imports net/http"}},
	{"a cluster client", pureCore, "pkg/topology/a.go", importing("k8s.io/client-go/dynamic"),
		[]string{"2: client-go"}},
	{"load from the core", pureCore, "pkg/topology/a.go", importing(module + "/pkg/load"), []string{"2: pkg/load"}},
	{"cluster from the core", pureCore, "pkg/topology/a.go", importing(module + "/pkg/cluster"),
		[]string{"2: pkg/cluster"}},
	{"under another name", pureCore, "pkg/model/a.go", "package model\nimport . \"os\"\n", []string{"2: imports os"}},
	{"reads the clock", pureCore, "pkg/resolve/a.go",
		"package resolve\nimport \"time\"\nvar t = time.Unix(0, 0)\nvar u = time.Now()\n", []string{"4: time.Now"}},
	{"the clock under another name", pureCore, "pkg/merge/a.go",
		"package merge\nimport clock \"time\"\nvar u = clock.Since\n", []string{"3: time.Since"}},
	{"somebody else's Now", pureCore, "pkg/merge/a.go", "package merge\nvar u = time.Now()\n", nil},
	{"a plugin that reads files", pureCore, "plugins/acme/a.go", importing("embed", "os"), []string{"3: imports os"}},
	{"load may", pureCore, "pkg/load/a.go", importing("os", "net/http"), nil},
	{"cli may", pureCore, "pkg/cli/a.go", importing("os"), nil},

	{"no vendor", noVendor, "pkg/policy/a.go", "package policy\n// Vendor is whoever makes it.\n", nil},
	{"a vendor in a comment", noVendor, "pkg/policy/a.go", "package policy\n\n// as Kuadrant does\n",
		[]string{"3: Kuadrant"}},
	{"a vendor in a name", noVendor, "pkg/policy/a.go", "package policy\nvar isIstioGateway bool\n",
		[]string{"2: Istio"}},
	{"a vendor in a string", noVendor, "pkg/policy/a.go", "package policy\nvar k = \"gateway.envoyproxy.io\"\n",
		[]string{"2: gateway.envoyproxy"}},
	{"every vendor", noVendor, "pkg/a/a.go",
		"package a\n// kgateway\n// Envoy Gateway\n// EnvoyGateway\n// kuma.io\n// nginx\n// gloo\n// NetworkPolicies\n",
		[]string{"2: kgateway", "3: Envoy Gateway", "4: EnvoyGateway", "5: kuma", "6: nginx", "7: gloo",
			"8: NetworkPolic"}},
	{"plugins may", noVendor, "plugins/istio/a.go", "package istio\n", nil},

	{"no init", noInit, "pkg/cli/a.go", "package cli\nfunc initial() {}\ntype t struct{}\nfunc (t) init() {}\n", nil},
	{"an init", noInit, "cmd/x/main.go", "package main\n\nfunc init() {}\n", []string{"3: func init"}},

	{"an exit in a library", noExit, "pkg/cli/a.go", "package cli\nimport \"os\"\nfunc f() { os.Exit(1) }\n",
		[]string{"3: os.Exit"}},
	{"an exit in disguise", noExit, "pkg/cli/a.go",
		"package cli\nimport \"log\"\nfunc f() {\n\tlog.Fatalf(\"x\")\n\tlog.Print()\n}\n", []string{"4: log.Fatalf"}},
	{"a panic", noExit, "plugins/acme/a.go", "package acme\nfunc f() {\n\tpanic(\"x\")\n}\n", []string{"3: panic"}},
	{"a method of that name", noExit, "pkg/cli/a.go", "package cli\nfunc f(x t) { x.panic(); x.Exit(1) }\n", nil},
	{"main may", noExit, "cmd/x/main.go", "package main\nimport \"os\"\nfunc main() { os.Exit(1) }\n", nil},
	{"a generator may", noExit, "internal/docgen/main.go",
		"package main\nimport \"log\"\nfunc main() { log.Fatal() }\n", nil},
	{"main under pkg may not", noExit, "pkg/x/main.go", "package main\nfunc main() { panic(1) }\n",
		[]string{"2: panic"}},
}

func TestSynthetic(t *testing.T) {
	for _, c := range synthetic {
		t.Run(c.name, func(t *testing.T) {
			s, err := parse(c.path, c.text)
			if err != nil {
				t.Fatal(err)
			}
			got := c.check(s)
			if len(got) != len(c.want) {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			for i, want := range c.want {
				line, part, _ := strings.Cut(want, ": ")
				if fmt.Sprint(got[i].line) != line || !strings.Contains(got[i].what, part) {
					t.Errorf("got %q, want %q in line %s", got[i].what, part, line)
				}
			}
		})
	}
}

// TestEveryCheckFails: each check must have a synthetic source that breaks its rule.
func TestEveryCheckFails(t *testing.T) {
	for _, c := range checks {
		broken := 0
		for _, s := range synthetic {
			src, err := parse(s.path, s.text)
			if err != nil {
				t.Fatal(err)
			}
			broken += len(c.check(src))
		}
		if broken == 0 {
			t.Errorf("%s: no synthetic source breaks it", c.name)
		}
	}
}
