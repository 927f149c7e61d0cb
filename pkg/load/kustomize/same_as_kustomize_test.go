package kustomize_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// builtByKustomize returns what kustomize itself makes of a folder: kind, namespace and name of
// each object, sorted.
func builtByKustomize(t *testing.T, dir string) ([]string, error) {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, r := range made.Resources() {
		out = append(out, strings.ToLower(r.GetKind())+"/"+r.GetNamespace()+"/"+r.GetName())
	}
	slices.Sort(out)
	return out, nil
}

// refsOf returns the references of the objects of a snapshot.
func refsOf(s *model.Snapshot) []string {
	out := []string{}
	for _, o := range s.Objects {
		out = append(out, o.Ref.String())
	}
	slices.Sort(out)
	return out
}

const namespaceTransformer = "apiVersion: builtin\nkind: NamespaceTransformer\nmetadata: {name: ns, namespace: all}\n" +
	"fieldSpecs: [{path: metadata/namespace, create: true}]\n"

// What kustomize builds is built, with -k and with -R, and what it refuses is refused.
func TestBuildsAreThoseOfKustomize(t *testing.T) {
	const prefix = "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: p}\nprefix: x-\n" +
		"fieldSpecs: [{path: metadata/name}]\n"
	for name, c := range map[string]struct {
		files   map[string]string
		refused string // what -k says; "": it is built
	}{
		"no resources":     {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "resources: []\n"}},
		"no components":    {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "components: []\n"}},
		"no patches":       {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "patches: []\n"}},
		"no generators":    {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "generators: []\nvalidators: []\n"}},
		"no generated map": {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "configMapGenerator: []\n"}},
		"nothing at all": {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "kind: Kustomization\n"},
			refused: "none/kustomization.yaml: there is nothing in it"},
		"no list": {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "resources:\n"},
			refused: "none/kustomization.yaml: there is nothing in it"},
		"old list": {files: map[string]string{"kustomization.yaml": "resources: [a.yaml, none]\n", "none/kustomization.yaml": "bases: []\n"},
			refused: "none/kustomization.yaml: there is nothing in it"},
		"transformers with a namespace": {files: map[string]string{
			"kustomization.yaml":        "resources: [a.yaml]\ntransformers: [tr]\n",
			"tr/kustomization.yaml":     "namespace: infra\nresources: [../shared]\n",
			"shared/kustomization.yaml": "resources: [t.yaml]\n", "shared/t.yaml": namespaceTransformer}},
		"transformers with a patch": {files: map[string]string{
			"kustomization.yaml":    "resources: [a.yaml]\ntransformers: [tr]\n",
			"tr/kustomization.yaml": "resources: [t.yaml]\npatches: [{target: {kind: PrefixTransformer}, path: p.yaml}]\n",
			"tr/t.yaml":             prefix, "tr/p.yaml": "- {op: replace, path: /prefix, value: y-}\n"}},
		"transformers with a prefix": {files: map[string]string{
			"kustomization.yaml":    "resources: [a.yaml]\ntransformers: [tr]\n",
			"tr/kustomization.yaml": "resources: [t.yaml]\nnamePrefix: other-\ncommonLabels: {a: b}\n", "tr/t.yaml": prefix}},
		"transformers of a component": {files: map[string]string{
			"kustomization.yaml":      "resources: [a.yaml]\ntransformers: [tr]\n",
			"tr/kustomization.yaml":   "components: [../part]\n",
			"part/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [t.yaml]\n",
			"part/t.yaml":             prefix}},
		"generators with a suffix": {files: map[string]string{
			"kustomization.yaml":   "resources: [a.yaml]\ngenerators: [g]\n",
			"g/kustomization.yaml": "resources: [g.yaml]\nnamespace: gen\nnameSuffix: -one\n",
			"g/g.yaml":             "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: made}\nliterals: [a=b]\n"}},
		"patch without its object": {files: map[string]string{"kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
			"p.yaml": loadtest.Thing("none")}, refused: "no resource matches strategic merge patch"},
	} {
		t.Run(name, func(t *testing.T) {
			c.files["a.yaml"] = loadtest.Thing("a")
			loadtest.Write(t, c.files)
			want, err := builtByKustomize(t, ".")
			if (err != nil) != (c.refused != "") {
				t.Fatalf("kustomize says %v", err)
			}
			got, err := kustomization(".", load.Limits{})
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("got error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			loadtest.Same(t, refsOf(got), want...)
			rendered, err := load.Files(t.Context(), load.Options{Paths: []string{"."}, Recursive: true, Render: true})
			if err != nil {
				t.Fatal(err)
			}
			loadtest.Same(t, refsOf(rendered), want...)
			if len(rendered.Problems)+len(rendered.Omissions) > 0 {
				t.Errorf("got %q, %v", loadtest.Describe(rendered), rendered.Omissions)
			}
		})
	}
}

// What a folder of transformers makes of them runs no program and reads no other file.
func TestTransformersCannotBecomePrograms(t *testing.T) {
	trap := loadtest.SetTrap(t)
	for name, patch := range map[string]string{
		"program": "- {op: replace, path: /apiVersion, value: example.com/v1}\n",
		"chart":   "- {op: replace, path: /kind, value: HelmChartInflationGenerator}\n",
		"file":    "- {op: add, path: /path, value: secret.txt}\n",
	} {
		t.Run(name, func(t *testing.T) {
			loadtest.Write(t, map[string]string{
				"kustomization.yaml":    "resources: [a.yaml]\ntransformers: [tr]\n",
				"a.yaml":                loadtest.Thing("a"),
				"secret.txt":            "- {op: add, path: /spec, value: 1}\n",
				"tr/kustomization.yaml": "resources: [t.yaml]\npatches: [{target: {name: p}, path: p.yaml}]\n",
				"tr/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\n" +
					"target: {kind: Thing}\n",
				"tr/p.yaml": patch,
			})
			if s, err := kustomization(".", load.Limits{}); err == nil {
				t.Errorf("got %q", loadtest.Describe(s))
			}
			if n := trap.Requests.Load(); n > 0 || trap.HasRun() {
				t.Errorf("%d requests, or a program ran", n)
			}
		})
	}
}
