package gitops_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// Flux reads the files of a kustomization from anywhere in the repository, Argo CD if it is set up so.
func TestFilesOutsideOfTheKustomization(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		told  bool
	}{
		"nothing": {nil, true},
		"Flux":    {map[string]string{"flux/ks.yaml": fluxTo("k", "./k", "")}, false},
		"Argo CD": {map[string]string{"argo/app.yaml": applicationTo("k", "k")}, true},
		"Argo CD with the option": {map[string]string{"argo/app.yaml": applicationTo("k", "k"),
			"argo/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\n" +
				"data: {kustomize.buildOptions: --load-restrictor=LoadRestrictionsNone}\n"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"k/kustomization.yaml": "namespace: web\nresources: [../base/a.yaml]\n",
				"base/a.yaml": bare("a")}
			for file, text := range c.files {
				files[file] = text
			}
			loadtest.Write(t, files)
			got := told(rendered(t, "."))
			if !slices.Contains(got, "thing/web/a base/a.yaml:1") {
				t.Errorf("it is not read:\n%s", strings.Join(got, "\n"))
			}
			isTold := slices.Contains(got, "info NotEvaluated: k/kustomization.yaml:2: kustomization k names files outside of its folder, which are read")
			if isTold != c.told || slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "error") }) {
				t.Errorf("want the note: %v\n%s", c.told, strings.Join(got, "\n"))
			}
		})
	}
	loadtest.Write(t, map[string]string{"in/k/kustomization.yaml": "resources: [../../a.yaml]\n", "a.yaml": bare("a"),
		"in/b.yaml": bare("b")})
	if got := told(rendered(t, "in")); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "is outside of") }) {
		t.Errorf("a file outside of the input is read:\n%s", strings.Join(got, "\n"))
	}
}

// TestApplicationLinks: links in the folder of an Application are followed within the repository.
func TestApplicationLinks(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"repo/.git/config": "[remote \"origin\"]\n\turl = https://git.example.com/shop.git\n",
		"repo/apps/app.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\n" +
			"spec: {source: {repoURL: https://git.example.com/shop.git, path: apps/shop}, destination: {namespace: ns}}\n",
		"repo/apps/shop/a.yaml": loadtest.Thing("a"), "repo/other/b.yaml": loadtest.Thing("b"), "secret.yaml": loadtest.Thing("s"),
	})
	for link, to := range map[string]string{"in": "../../other/b.yaml", "out": "../../../secret.yaml"} {
		if err := os.Symlink(to, "repo/apps/shop/"+link+".yaml"); err != nil {
			t.Skip(err)
		}
	}
	s, err := load.Files(context.Background(), load.Options{Paths: []string{"repo/apps"}, Recursive: true, Render: true})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(loadtest.Describe(s), "\n")
	for _, want := range []string{"thing/ns/a ", "thing/ns/b ", "out.yaml:1: not read: it is a link that leads out of the repository"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "thing/ns/s") {
		t.Error("the secret is read")
	}
}
