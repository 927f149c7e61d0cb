package gitops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
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
