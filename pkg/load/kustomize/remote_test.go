package kustomize_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// The traps are where the library would run into them.
func TestTraps(t *testing.T) {
	trap := loadtest.SetTrap(t)
	for address, sprung := range map[string]func() bool{
		"https://example.com/a.yaml": func() bool { return trap.Requests.Load() > 0 },
		"git@example.com:org/repo":   trap.HasRun,
	} {
		loadtest.Write(t, map[string]string{"kustomization.yaml": "resources: ['" + address + "']\n"})
		if _, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "."); err == nil ||
			!sprung() {
			t.Errorf("%s: the trap did not spring: %v", address, err)
		}
	}
}

// addresses are what the library would fetch, and what looks as if it should.
var addresses = []string{
	"https://example.com/manifests/a.yaml",
	"http://127.0.0.1:8080/a.yaml",
	"HTTPS://EXAMPLE.COM/a.yaml",
	"https:a.yaml",
	"https://example.com/archive.tar.gz",
	"https://example.com/org/repo.git//base?ref=v1",
	"https://github.com/org/repo/tree?ref=main&timeout=90s&submodules=false",
	"github.com/org/repo",
	"github.com/org/repo//base?ref=v1.0.0",
	"GitHub.com/org/repo",
	"github.com:org/repo",
	"git@github.com:org/repo.git",
	"git@example.com:org/repo//base?ref=x",
	"user@host:path/repo",
	"a@host/org/repo",
	"package@v1.28.0.example/configs/base",
	"ssh://git@example.com/org/repo",
	"ssh://example.com/org/repo",
	"git::https://example.com/org/repo",
	"GIT::git@example.com:org/repo",
	"file:///srv/repo",
	"file://srv/repo?ref=x",
	"oci://example.com/charts",
	"s3::https://example.com/bucket",
	"https://dev.azure.com/org/project/_git/repo",
}

// places are the kustomizations in which an address may stand, with %s for it, and the line on
// which it does.
var places = []struct {
	name, file, text string
	line             int
}{
	{"resources", "kustomization.yaml", "resources:\n- a.yaml\n- '%s'\n", 3},
	{"other case", "kustomization.yaml", "Resources:\n- a.yaml\n- '%s'\n", 3},
	{"bases", "kustomization.yaml", "bases: ['%s']\n", 1},
	{"components", "kustomization.yaml", "components:\n- '%s'\n", 2},
	{"crds", "kustomization.yaml", "crds:\n- '%s'\n", 2},
	{"configurations", "kustomization.yaml", "configurations:\n- '%s'\n", 2},
	{"openapi", "kustomization.yaml", "openapi:\n  path: '%s'\n", 2},
	{"generators", "kustomization.yaml", "generators:\n- '%s'\n", 2},
	{"transformers", "kustomization.yaml", "resources: [a.yaml]\ntransformers:\n- '%s'\n", 3},
	{"validators", "kustomization.yaml", "validators: ['%s']\n", 1},
	{"patches", "kustomization.yaml", "patches:\n- target: {kind: Thing}\n  path: '%s'\n", 3},
	{"patchesStrategicMerge", "kustomization.yaml", "patchesStrategicMerge:\n- '%s'\n", 2},
	{"patchesJson6902", "kustomization.yaml", "patchesJson6902:\n- path: '%s'\n", 2},
	{"replacements", "kustomization.yaml", "replacements:\n- path: '%s'\n", 2},
	{"configMapGenerator env", "kustomization.yaml", "configMapGenerator:\n- name: x\n  env: '%s'\n", 3},
	{"configMapGenerator envs", "kustomization.yaml", "configMapGenerator:\n- name: x\n  envs:\n  - '%s'\n", 4},
	{"base", "base/kustomization.yaml", "resources:\n- '%s'\n", 2},
	{"base of a base", "deep/kustomization.yaml", "resources:\n- '%s'\n", 2},
	{"component", "part/kustomization.yaml", "kind: Component\nresources:\n- '%s'\n", 3},
	{"written generator", "kustomization.yaml",
		"generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n  metadata: {name: x}\n  envs: ['%s']\n",
		2},
	{"transformer file", "transformer.yaml",
		"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: '%s'\n", 1},
	{"transformer list", "transformer.yaml",
		"# two\nkind: AnyList\nitems:\n- {kind: List, items: [{apiVersion: builtin, kind: ReplacementTransformer, metadata: {name: x}, replacements: [{path: '%s'}]}]}\n", 2},
	{"transformer, letters that fold", "transformer.yaml",
		"apiVersion: builtin\nkind: PatchStrategicMergeTransformer\nmetadata: {name: x}\nPATH\u017f: ['%s']\n", 1},
	{"transformer folder", "folder/transformer.yaml",
		"apiVersion: builtin\nkind: PatchJson6902Transformer\nmetadata: {name: x}\npath: '%s'\n", 1},
}

// What is remote is refused before anything is built, wherever it stands.
func TestRemoteIsRefused(t *testing.T) {
	trap := loadtest.SetTrap(t)
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			for _, address := range addresses {
				around := map[string]string{
					"kustomization.yaml":        "resources: [base]\ncomponents: [part]\ntransformers: [transformer.yaml, folder]\n",
					"base/kustomization.yaml":   "resources: [../deep]\n",
					"deep/kustomization.yaml":   "resources: [b.yaml]\n",
					"deep/b.yaml":               loadtest.Thing("b"),
					"part/kustomization.yaml":   "kind: Component\nlabels: [{pairs: {a: b}}]\n",
					"transformer.yaml":          "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: x}\nprefix: p-\n",
					"folder/kustomization.yaml": "resources: [transformer.yaml]\n",
					"folder/transformer.yaml":   "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: y}\nprefix: p-\n",
					"a.yaml":                    loadtest.Thing("a"),
				}
				around[place.file] = fmt.Sprintf(place.text, address)
				loadtest.Write(t, around)
				err := refused(t, ".", load.Limits{})
				if want := fmt.Sprintf("%s:%d: ", place.file, place.line); !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%s: got %s, not at %s", address, err, want)
				}
				if want := ": " + address + " is remote, and nothing is fetched"; !strings.HasSuffix(err.Error(),
					want) || err.Hint == "" {
					t.Errorf("%s: got %s (%s)", address, err, err.Hint)
				}
			}
		})
	}
	if trap.Requests.Load() > 0 || trap.HasRun() {
		t.Errorf("%d requests were made, a program was started: %v", trap.Requests.Load(), trap.HasRun())
	}
}

// With a key in front, an address is the path behind the first equals sign; with two the library
// takes neither.
func TestRemoteDataIsRefused(t *testing.T) {
	trap := loadtest.SetTrap(t)
	for _, generator := range []string{"configMapGenerator", "secretGenerator"} {
		for _, address := range addresses {
			for _, text := range []string{address, "key=" + address, "a=b=" + address} {
				loadtest.Write(t, map[string]string{"kustomization.yaml": generator + ": [{name: x, files: ['" +
					text + "']}]\n"})
				refused(t, ".", load.Limits{})
			}
		}
	}
	if trap.Requests.Load() > 0 || trap.HasRun() {
		t.Error("something was fetched")
	}
}

func TestRemoteRootIsRefused(t *testing.T) {
	trap := loadtest.SetTrap(t)
	for _, address := range addresses {
		if err := refused(t, address, load.Limits{}); err.Error() != address+": it is remote, and nothing is fetched" {
			t.Errorf("got %s", err)
		}
	}
	if trap.Requests.Load() > 0 || trap.HasRun() {
		t.Error("something was fetched")
	}
}

// Paths that look a little like addresses are paths.
func TestPathsAreNotRemote(t *testing.T) {
	for _, name := range []string{"./git@example.com:org/a.yaml", "github.com.yaml", "x/github.com/a.yaml", "a:b.yaml",
		"https/a.yaml", "ünï.yaml"} {
		loadtest.Write(t, map[string]string{"kustomization.yaml": "resources: ['" + name + "']\n",
			name: loadtest.Thing("a")})
		built(t, ".")
	}
}

// Whatever stands in a kustomization, nothing is fetched and no program is started.
func FuzzKustomization(f *testing.F) {
	for _, place := range places {
		for _, address := range []string{"a.yaml", addresses[0], addresses[12]} {
			f.Add(fmt.Sprintf(place.text, address),
				"apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: x}\npath: b\n")
		}
	}
	for _, text := range shop {
		f.Add(text, loadtest.Thing("a"))
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		trap := loadtest.SetTrap(t)
		loadtest.Write(t, map[string]string{"kustomization.yaml": text, "a.yaml": other, "b": other,
			"c/kustomization.yaml": other, "d/Kustomization": "resources: [a.yaml]\n", "d/a.yaml": other})
		_, err := kustomization(".", load.Limits{Build: 10 * time.Second, BuildMemory: 512 << 20})
		if trap.Requests.Load() > 0 || trap.HasRun() {
			t.Errorf("something was fetched or run: %v", err)
		}
		if err != nil && strings.Contains(err.Error(), "not checked before the build") {
			t.Errorf("the walk did not see a file that the build reads: %v", err)
		}
	})
}
