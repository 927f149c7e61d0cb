package gitops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// fluxHome is a repository that Flux deploys, with what it does not.
var fluxHome = map[string]string{
	"clusters/home/sync.yaml":          fluxTo("flux-system", "./clusters/home", ""),
	"clusters/home/apps.yaml":          fluxTo("apps", "./apps/prod", ""),
	"apps/prod/kustomization.yaml":     "resources: [../base/one, b.yaml]\n",
	"apps/prod/b.yaml":                 bare("b"),
	"apps/base/one/kustomization.yaml": "resources: [a.yaml]\n",
	"apps/base/one/a.yaml":             bare("a"),
	"apps/base/kustomization.yaml":     "resources: [one, gone]\n",
	"later/b.yaml":                     bare("b") + "spec: {x: y}\n",
	"later/ks.yaml":                    fluxTo("later", "./later/app", ""),
	"later/app/l.yaml":                 bare("l"),
}

// Where the source with which Flux begins is known, what it does not lead to is not deployed.
func TestWhatNothingDeploys(t *testing.T) {
	loadtest.Write(t, fluxHome)
	deployed := []string{"thing/default/a apps/base/one/a.yaml:1", "thing/default/b apps/prod/b.yaml:1"}
	s := rendered(t, ".")
	var got []string
	for _, line := range told(s) {
		if !strings.Contains(line, "NamespaceAssumed") && !strings.HasPrefix(line, "kustomization/") {
			got = append(got, line)
		}
	}
	loadtest.Same(t, got, append(deployed,
		"info NotEvaluated: 4 manifests are not read, as nothing deploys them: apps/base, later",
		"info NotEvaluated: kustomization/flux-system/later is not rendered: nothing that is read leads to it")...)
	if len(s.Omissions) > 0 {
		t.Errorf("it may be deployed: %v", omitted(s))
	}
	loadtest.Same(t, thingsOf(t, "later/app"), "thing/default/l later/app/l.yaml:1")
	loadtest.Same(t, thingsOf(t, "later/b.yaml"), "thing/default/b later/b.yaml:1")
}

// A small example of Flux does not tell what else is deployed, and nor does one folder.
func TestMixedTrees(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"example": {"examples/flux/sync.yaml": fluxTo("flux-system", "./examples/flux", ""),
			"examples/flux/a.yaml": bare("a")},
		"one folder":      {"flux/a.yaml": fluxTo("a", "./a", ""), "a/a.yaml": bare("a")},
		"one Application": {"argo/a.yaml": applicationTo("a", "a"), "a/a.yaml": bare("a")},
		"unknown set": {"argo/root.yaml": applicationTo("root", "argo/apps"), "argo/apps/a.yaml": applicationTo("a", "a"),
			"a/a.yaml":           bare("a"),
			"argo/apps/set.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set, namespace: argocd}\nspec: {generators: [{clusters: {}}]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			all := map[string]string{"deploy/b.yaml": bare("b"), "deploy/c.yaml": bare("c"), "d.yaml": bare("d"),
				"kustomized/kustomization.yaml": "resources: [e.yaml]\n", "kustomized/e.yaml": bare("e")}
			for file, text := range files {
				all[file] = text
			}
			loadtest.Write(t, all)
			things := 0
			for _, line := range told(rendered(t, ".")) {
				if strings.HasPrefix(line, "thing/") {
					things++
				}
				if strings.Contains(line, "nothing deploys") {
					t.Error(line)
				}
			}
			if things != 5 {
				t.Errorf("%d things are read", things)
			}
		})
	}
}

// What a source deploys counts, not what stands beside with the same name.
func TestDeployedComesFirst(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"flux/a.yaml": fluxTo("a", "./a", ""),
		"a/a.yaml":    bare("a") + "spec: {of: flux}\n",
		"old/a.yaml":  bare("a") + "spec: {of: old}\n---\n" + bare("b"),
	})
	loadtest.Same(t, thingsOf(t, "."), "thing/default/a a/a.yaml:1", "thing/default/b old/a.yaml:7")
}

// Where most of what sources deploy is not reached, what begins the deployment was not found.
func TestWhatMayBeDeployed(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"clusters/home/sync.yaml": fluxTo("flux-system", "./clusters/home", ""),
		"clusters/home/a.yaml":    fluxTo("a", "./a", ""),
		"a/a.yaml":                bare("a"),
		"apps/ks.yaml":            fluxTo("b", "./b", "") + "---\n" + fluxTo("c", "./c", ""),
		"b/b.yaml":                bare("b"),
		"b/d.yaml":                bare("d"),
		"c/c.yaml":                bare("c"),
		"c/e.yaml":                bare("e"),
	})
	loadtest.Same(t, thingsOf(t, "."), "thing/default/a a/a.yaml:1",
		"warning NotEvaluated: 5 manifests are not read, as nothing that is read leads to what deploys them: apps, b, c",
		"info NotEvaluated: 2 Kustomizations are not rendered: nothing that is read leads to it (flux-system/b, flux-system/c)")
	if s := rendered(t, "."); s.FindOmission(model.GroupKind{Group: "example.com", Kind: "Thing"}, "any") == nil {
		t.Error("nothing may be there")
	}
}

// Definitions that nothing deploys do not judge what a source deploys.
func TestDefinitionsThatNothingDeploys(t *testing.T) {
	const definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec: {group: example.com, names: {kind: Thing}}\n"
	files := map[string]string{"flux/a.yaml": fluxTo("a", "./a", ""), "a/a.yaml": bare("a"), "old/crds.yaml": definition}
	loadtest.Write(t, files)
	loadtest.Same(t, thingsOf(t, "."), "thing/default/a a/a.yaml:1",
		"info NotEvaluated: a CustomResourceDefinition is not used, as nothing that deploys such objects deploys it: old/crds.yaml")
	files["a/crds.yaml"] = definition
	loadtest.Write(t, files)
	loadtest.Same(t, thingsOf(t, "."), "thing/default/a a/a.yaml:1")
	if len(rendered(t, ".").Definitions()) != 1 {
		t.Error("a definition that is deployed is gone")
	}
}

// What a ResourceSet makes may deploy what nothing else does.
func TestResourceSetThatMakesKustomizations(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"clusters/dev/platform.yaml":  fluxTo("platform", "./platform", ""),
		"platform/kustomization.yaml": "resources: [sets.yaml, b.yaml]\n",
		"platform/b.yaml":             bare("b"),
		"platform/sets.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: sets, namespace: flux-system}\n" +
			"spec:\n  resourcesTemplate: |\n    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    spec: {path: << inputs.path >>}\n",
		"platform/gateway/a.yaml": bare("a"),
	})
	s := rendered(t, ".")
	for _, want := range []string{
		"warning NotEvaluated: platform/sets.yaml:1: resourceset/flux-system/sets is not rendered: its templates are not filled in",
		"warning NotEvaluated: 1 manifest is not read, as nothing that is read leads to it, and what a ResourceSet makes may: platform/gateway",
	} {
		if got := told(s); !slices.Contains(got, want) {
			t.Errorf("want %q of\n%s", want, strings.Join(got, "\n"))
		}
	}
	loadtest.Same(t, omitted(s), "1 manifest is not read",
		"resourceset/flux-system/sets is not rendered: its templates are not filled in")
}
