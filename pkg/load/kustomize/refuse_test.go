package kustomize_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// refused is the error of a kustomization that must not be built.
func refused(t testing.TB, dir string, limits load.Limits) *load.Error {
	t.Helper()
	_, err := kustomization(dir, limits)
	var failed *load.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, not refused", err)
	}
	return failed
}

func TestKustomizationIsRefused(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // beside a.yaml and kustomization.yaml
		root  string            // the text of kustomization.yaml
		want  string
	}{
		{"chart", nil, "resources: [a.yaml]\nhelmCharts: [{name: x, repo: https://example.com}]\n",
			"kustomization.yaml:2: helmCharts: charts are not inflated"},
		{"old chart", nil, "helmChartInflationGenerator:\n- {chartName: x}\n",
			"kustomization.yaml:2: helmChartInflationGenerator: charts are not inflated"},
		{"chart generator",
			map[string]string{
				"g.yaml": "apiVersion: builtin\nkind: HelmChartInflationGenerator\nmetadata: {name: x}\n"},
			"generators: [g.yaml]\n",
			"g.yaml:1: generators: charts are not inflated"},
		{"program",
			map[string]string{"g.yaml": "---\n# x\napiVersion: example.com/v1\nkind: Make\nmetadata: {name: x}\n"},
			"resources: [a.yaml]\ngenerators: [g.yaml]\n",
			`g.yaml:3: generators: Make of "example.com/v1" is not built into kustomize, and programs are not run`},
		{"function", nil,
			"transformers:\n- |\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: ./x}'}}\n",
			`kustomization.yaml:2: transformers: ConfigMap of "v1" is not built into kustomize, and programs are not run`},
		{"list of programs", nil,
			"validators:\n- '{apiVersion: v1, kind: List, items: [{apiVersion: builtin/v1, kind: X, metadata: {name: x}}]}'\n",
			`kustomization.yaml:2: validators: X of "builtin/v1" is not built into kustomize, and programs are not run`},
		{"merged configuration",
			map[string]string{
				"t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: &m {name: x}\n<<: {path: a}\n"},
			"transformers: [t.yaml]\n",
			"t.yaml:1: transformers: << cannot be used here"},
		{"missing file", nil, "resources:\n- a.yaml\n- b.yaml\n",
			"kustomization.yaml:3: resources: there is no b.yaml"},
		{"missing file that may be an address", nil, "resources:\n- u:secret@example.com/a/b\n",
			"kustomization.yaml:2: resources: there is no ***@example.com/a/b"},
		{"missing patch", nil, "resources: [a.yaml]\npatches:\n- path: p.yaml\n",
			"kustomization.yaml:3: patches: there is no p.yaml"},
		{"missing base below", map[string]string{"b/kustomization.yaml": "resources: [../c]\n"}, "resources: [b]\n",
			"b/kustomization.yaml:1: resources: there is no c"},
		{"empty path", nil, "resources: [a.yaml, '']\n", "kustomization.yaml:1: resources: there is an empty path"},
		{"circle", map[string]string{"b/kustomization.yaml": "resources: [../c]\n",
			"c/kustomization.yaml": "resources: [../b]\n"}, "resources: [b]\n",
			"c/kustomization.yaml:1: resources: a circle: b is, or holds, the folder of b/kustomization.yaml"},
		{"itself", nil, "resources: [.]\n",
			"kustomization.yaml:1: resources: a circle: . is, or holds, the folder of kustomization.yaml"},
		{"above", map[string]string{"b/kustomization.yaml": "components: [..]\n"}, "resources: [b]\n",
			"b/kustomization.yaml:1: components: a circle: . is, or holds, the folder of b/kustomization.yaml"},
		{"outside", map[string]string{"b/kustomization.yaml": "resources: [../a.yaml]\n"}, "resources: [b]\n",
			"b/kustomization.yaml:1: resources: a.yaml is outside of b"},
		{"absolute file outside", nil, "configMapGenerator:\n- name: x\n  files: [/etc/passwd]\n",
			"kustomization.yaml:3: configMapGenerator: /etc/passwd is outside of ."},
		{"absolute folder", nil, "resources: [/etc]\n",
			"kustomization.yaml:1: resources: the path of a kustomization is absolute"},
		{"link outside", nil, "resources: [link.yaml]\n", "kustomization.yaml:1: resources: link.yaml is outside of ."},
		{"no kustomization", map[string]string{"b/c.yaml": ""}, "resources: [b]\n",
			"b: the folder holds no kustomization.yaml"},
		{"two kustomizations", map[string]string{"b/Kustomization": "", "b/kustomization.yml": ""}, "resources: [b]\n",
			"b: the folder holds kustomization.yml and Kustomization"},
		{"folder as data", map[string]string{"b/c": ""}, "configMapGenerator: [{name: x, files: [b]}]\n",
			"kustomization.yaml:1: configMapGenerator: b is a folder"},
		{"file as component", nil, "components: [a.yaml]\n", "kustomization.yaml:1: components: a.yaml is a file"},
		{"component as resource", map[string]string{"b/kustomization.yaml": "kind: Component\nnamePrefix: x\n"},
			"resources: [b]\n",
			"b/kustomization.yaml: it is a component: name it under components"},
		{"resource as component", map[string]string{"b/kustomization.yaml": "namePrefix: x\n"}, "components: [b]\n",
			"b/kustomization.yaml: it is no component: name it under resources"},
		{"empty", nil, "# nothing\n", "kustomization.yaml: there is nothing in it"},
		{"other kind", nil, "kind: Thing\nresources: [a.yaml]\n",
			"kustomization.yaml: kind should be Kustomization or Component"},
		{"unknown field", nil, "resources: [a.yaml]\n\nresurces: []\n",
			`kustomization.yaml:3: invalid Kustomization: json: unknown field "resurces"`},
		{"broken kustomization", nil, "resources: [a.yaml\n", "kustomization.yaml:1: did not find expected ',' or ']'"},
		{"broken resource", map[string]string{"b.yaml": "---\n" + loadtest.Thing("b") + "spec: [\n"},
			"resources: [b.yaml]\n", "b.yaml:5: did not find expected node content"},
		{"broken patch", nil, "patches:\n- patch: |\n    a: [\n",
			"kustomization.yaml:2: patches: did not find expected node content"},
		{"key twice", map[string]string{"b.yaml": loadtest.Thing("b") + "kind: Thing\n"}, "resources: [b.yaml]\n",
			`b.yaml:4: key "kind" is written twice, on lines 2 and 4`},
		{"bomb", map[string]string{"b.yaml": loadtest.Bomb("[", "*a%[2]d, ", "]")}, "resources: [b.yaml]\n",
			"b.yaml:9: aliases repeat more than 100000 keys and values"},
		{"bomb in a patch", nil, "patches:\n- patch: |\n" + indented(loadtest.Bomb("{", "k%d: *a%d, ", "}")),
			"kustomization.yaml:2: patches: aliases repeat more than 100000 keys and values"},
		{"bomb in a transformer", nil, "transformers:\n- |\n" + indented(loadtest.Bomb("{", "k%d: *a%d, ", "}")),
			"kustomization.yaml:2: transformers: aliases repeat more than 100000 keys and values"},
		{"nested", map[string]string{"b.yaml": strings.Repeat("[", 5000)}, "configurations: [b.yaml]\n",
			"b.yaml:1: maps and lists are nested deeper than 100"},
		{"circle of definitions",
			map[string]string{
				"b.yaml": "x/y:\n  Schema: {properties: {apiVersion: {}, kind: {}, metadata: {}, s: {$ref: x//y}}}\n"},
			"crds: [b.yaml]\n",
			"kustomization.yaml:1: crds: the definitions in b.yaml refer to each other in a circle"},
		{"chain of definitions", map[string]string{"b.yaml": chain(5000)}, "crds: [b.yaml]\n",
			"kustomization.yaml:1: crds: the definitions in b.yaml refer to each other in a circle"},
		{"no definitions", map[string]string{"b.yaml": ""}, "crds: [b.yaml]\n",
			"kustomization.yaml:1: crds: b.yaml is empty"},
		{"secret literal", nil, "secretGenerator:\n- name: x\n  literals: [hush]\n",
			"kustomization.yaml:3: secretGenerator: there is one that is not KEY=VALUE"},
		{"library", nil, "resources: [a.yaml]\nreplicas: [{name: x, count: 1}]\n",
			".: resource with name x does not match a config with the following GVK"},
		{"generated twice", nil, "configMapGenerator:\n- {name: x, literals: [a=b]}\n- {name: x, literals: [a=c]}\n",
			".: merging from generator: id "},
		{"no patch", nil, "resources: [a.yaml]\npatches: [{patch: 'hush: 1', target: {kind: Thing}}]\n",
			".: trouble configuring builtin PatchTransformer: unable to parse SM or JSON patch from …"},
		{"object twice", map[string]string{"b.yaml": loadtest.Thing("a")}, "resources: [a.yaml, b.yaml]\n",
			".: merging resources from 'b.yaml'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trap := loadtest.SetTrap(t)
			around := map[string]string{"kustomization.yaml": tt.root, "a.yaml": loadtest.Thing("a")}
			for name, text := range tt.files {
				around[name] = text
			}
			loadtest.Write(t, around)
			if err := os.Symlink("/etc/hostname", "link.yaml"); err != nil {
				t.Fatal(err)
			}
			err := refused(t, ".", load.Limits{})
			if !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
				t.Errorf("got  %s (%s)\nwant %s", err, err.Hint, tt.want)
			}
			if trap.Requests.Load() > 0 || trap.HasRun() {
				t.Error("something was fetched or run")
			}
		})
	}
}

func indented(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// chain is n OpenAPI definitions, each of which refers to the next.
func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: {Schema: {properties: {s: {$ref: k%d}}}}\n", i, i+1)
	}
	return b.String()
}

// Bases that are named twice on every level are built twice as often on each: the walk ends before.
func TestKustomizationsThatExplode(t *testing.T) {
	files := map[string]string{"k29/kustomization.yaml": "resources: [a.yaml]\n", "k29/a.yaml": loadtest.Thing("a")}
	for i := range 29 {
		files[fmt.Sprintf("k%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../k%d, ../k%[1]d]\n", i+1)
	}
	loadtest.Write(t, files)
	if err := refused(t, "k0", load.Limits{}); !strings.HasSuffix(err.Error(),
		": kustomizations are named more than 10000 times") {
		t.Errorf("got %s", err)
	}
}

// A build that takes too long, or too much memory, is left behind.
func TestBuildLimits(t *testing.T) {
	doubling := "resources: [a.yaml]\nreplacements:\n"
	for i := range 17 {
		doubling += fmt.Sprintf(
			"- {source: {kind: Thing, name: a, fieldPath: spec}, targets: [{select: {kind: Thing}, fieldPaths: [spec.x%d], options: {create: true}}]}\n", i)
	}
	files := map[string]string{"kustomization.yaml": doubling, "a.yaml": loadtest.Thing("a") + "spec: {a: b}\n"}
	for _, tt := range []struct {
		limits load.Limits
		want   string
	}{
		{load.Limits{Build: time.Nanosecond}, ".: not built within 1ns"},
		{load.Limits{BuildMemory: 8 << 20}, ".: not built within 8 MiB of memory"},
	} {
		loadtest.Write(t, files)
		if err := refused(t, ".", tt.limits); err.Error() != tt.want || err.Hint == "" {
			t.Errorf("got %s (%s)", err, err.Hint)
		}
	}
}

func TestKustomizationIsCancelled(t *testing.T) {
	loadtest.Write(t, map[string]string{"kustomization.yaml": "resources: [a.yaml]\n",
		"a.yaml": string(loadtest.Routes(1000))})
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := load.Files(ctx, load.Options{Kustomization: "."}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestKustomizationLimits(t *testing.T) {
	loadtest.Write(t, map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": loadtest.Thing("a")})
	if err := refused(t, ".",
		load.Limits{
			Total: 40}); err.Error() != "a.yaml: not read: with this file the input is larger than the limit for all files together (--max-input)" {
		t.Errorf("got %s", err)
	}
	if err := refused(t, "a.yaml", load.Limits{}); err.Error() != "a.yaml: a kustomization is a folder" {
		t.Errorf("got %s", err)
	}
	if err := refused(t, "nowhere", load.Limits{}); err.Error() != "nowhere: no such file or directory" {
		t.Errorf("got %s", err)
	}
	_, err := load.Files(context.Background(), load.Options{Kustomization: ".", Paths: []string{"a.yaml"}})
	if err == nil || err.Error() != "input: files and a kustomization cannot be read together" {
		t.Errorf("got %v", err)
	}
}

func TestKustomizationWithoutObjects(t *testing.T) {
	loadtest.Write(t, map[string]string{"kustomization.yaml": "namePrefix: x-\n"})
	s, err := kustomization(".", load.Limits{})
	if !errors.Is(err, load.ErrNothingReadable) || s == nil {
		t.Errorf("got %v", err)
	}
}

// What the library says of folders in folders is cut to its last cause, without paths of the machine.
func TestMessagesWithoutPaths(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"kustomization.yaml":         "resources: [all]\n",
		"all/kustomization.yaml":     "resources: [one, two]\n",
		"all/one/kustomization.yaml": "resources: [a.yaml]\n",
		"all/one/a.yaml":             loadtest.Thing("a"),
		"all/two/kustomization.yaml": "resources: [a.yaml]\n",
		"all/two/a.yaml":             loadtest.Thing("a"),
	})
	_, err := load.Files(t.Context(), load.Options{Kustomization: "."})
	if err == nil || err.Error() != ".: may not add resource with an already registered id: Thing.v1.example.com/a.ns" {
		t.Errorf("got %v", err)
	}
}

// The library's words about old fields are not printed.
func TestNothingIsPrinted(t *testing.T) {
	loadtest.Write(t, map[string]string{"kustomization.yaml": "commonLabels: {a: b}\nresources: [a.yaml]\n", "a.yaml": loadtest.Thing("a")})
	before := os.Stderr
	defer func() { os.Stderr = before }()
	printed, err := os.Create("printed")
	if err != nil {
		t.Fatal(err)
	}
	os.Stderr = printed
	if _, err := load.Files(t.Context(), load.Options{Kustomization: "."}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile("printed"); err != nil || len(text) > 0 || os.Stderr != printed {
		t.Errorf("printed %q, %v", text, err)
	}
}
