package gitops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
)

// The source of this repository may be made by what is not in the input, under any name.
func TestSourceThatNothingDefines(t *testing.T) {
	home := func(name, path, ref string) string {
		return strings.Replace(fluxTo(name, path, "  targetNamespace: "+name+"\n"),
			"  sourceRef: {kind: GitRepository, name: flux-system}\n", ref, 1)
	}
	const ref = "  sourceRef: {kind: GitRepository, name: home}\n"
	source := func(name, url string) string {
		return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name +
			", namespace: flux-system}\nspec: {url: " + url + "}\n"
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
		other bool // something is left out for its source
	}{
		"the only one": {map[string]string{"flux/ks.yaml": home("one", "./a", ref)}, "thing/one/a a/a.yaml:1", false},
		"beside one that is defined": {map[string]string{"flux/ks.yaml": home("one", "./a", ref),
			"flux/two.yaml":    home("two", "./b", "  sourceRef: {kind: GitRepository, name: two}\n"),
			"flux/source.yaml": source("two", "https://example.com/org/two")}, "thing/one/a a/a.yaml:1", true},
		"defined with another address": {map[string]string{"flux/ks.yaml": home("one", "./a", ref),
			"flux/source.yaml": source("home", "https://example.com/org/two")}, "", true},
		"one of two": {map[string]string{"flux/ks.yaml": home("one", "./a", ref),
			"flux/two.yaml": home("two", "./b", "  sourceRef: {kind: GitRepository, name: two}\n")}, "", true},
		"given by a patch": {map[string]string{"apps/ks.yaml": home("one", "./a", ""),
			"flux/ks.yaml": home("apps", "./apps", ref+"  patches:\n  - target: {kind: Kustomization}\n"+
				"    patch: '[{\"op\": \"add\", \"path\": \"/spec/sourceRef\", \"value\": {\"kind\": \"GitRepository\", \"name\": \"home\"}}]'\n"),
		}, "thing/one/a a/a.yaml:1", false},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a/a.yaml": bare("a"), "b/b.yaml": bare("b"), "b/c/c.yaml": bare("c"),
				".git/config": "[remote \"origin\"]\n\turl = https://example.com/org/cluster\n"}
			for file, text := range c.files {
				files[file] = text
			}
			loadtest.Write(t, files)
			got := told(rendered(t, "."))
			has := func(part string) bool {
				return slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, part) })
			}
			if c.want != "" && !slices.Contains(got, c.want) || c.want == "" && has("thing/one/a") {
				t.Errorf("want %q of\n%s", c.want, strings.Join(got, "\n"))
			}
			if has("another repository") != c.other {
				t.Errorf("another repository: want %v of\n%s", c.other, strings.Join(got, "\n"))
			}
		})
	}
}
