//go:build linux

package hostiletest

import (
	"fmt"
	"strings"
	"testing"
)

// kustomizeAttacks are small kustomizations whose build takes much time or memory. They are made when
// they are asked for: what a run has in memory from the start counts.
func kustomizeAttacks() []folderAttack {
	return []folderAttack{
		{attack{name: "a JSON patch of copies", args: "effective -A -k m", exit: 3, want: "the copy operations of a JSON patch add more than 64 KiB"}, copies(26)},
		{attack{name: "a JSON patch of copies, built with -R", args: "check -R -f m", exit: 3, want: "the copy operations of a JSON patch add more than 64 KiB"}, copies(26)},
		{attack{name: "replacements that double a text", args: "effective -A -k m", exit: 3,
			want: "its replacements may write more than 8 MiB"}, replacements(40, "data.a", "data.a", `delimiter: ",", index: 1`)},
		{attack{name: "replacements that double a text, built with -R", args: "check -R -f m", exit: 3,
			want: "its replacements may write more than 8 MiB"}, replacements(40, "data.a", "data.a", `delimiter: ",", index: 1`)},
		{attack{name: "replacements that double a map", args: "effective -A -k m", exit: 3,
			want: "its replacements may write more than 8 MiB"}, replacements(40, "data", "data.x%d", "create: true")},
		{attack{name: "replacements that double across folders", args: "effective -A -k m/d9", exit: 3,
			want: "its replacements may write more than 8 MiB"}, nestedReplacements(10, 5)},
		{attack{name: "a kustomization of many objects", args: "effective -A -k m", exit: 3, want: "more than 15000000 steps"},
			kustomization("resources: [a.yaml]\n", numbered("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", 12_000))},
		{attack{name: "many generators", args: "effective -A -k m", exit: 3, want: "more than 15000000 steps"},
			kustomization("configMapGenerator:\n"+numbered("- {name: c%d, literals: [a=b]}\n", 8_000), "")},
		{attack{name: "patches of many objects", args: "effective -A -k m", exit: 3, want: "more than 15000000 steps"},
			kustomization("resources: [a.yaml]\npatches:\n"+
				numbered("- {target: {kind: ConfigMap}, patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {k%d: v}}'}\n", 500),
				numbered("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", 1_000))},
		{attack{name: "patches of many objects in a component", args: "effective -A -k m", exit: 3,
			want: "more than 15000000 steps"}, func(t *testing.T) {
			files(map[string]string{"m/kustomization.yaml": "resources: [a.yaml]\ncomponents: [c]\n",
				"m/a.yaml": numbered("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", 1_000),
				"m/c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n" +
					numbered("- {target: {kind: ConfigMap}, patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {k%d: v}}'}\n", 500)})(t)
		}},
		{attack{name: "an env file of many lines", args: "effective -A -k m", exit: 3, want: "more than 15000000 steps"},
			func(t *testing.T) {
				files(map[string]string{"m/kustomization.yaml": "configMapGenerator: [{name: a, envs: [a.env]}]\n",
					"m/a.env": numbered("k%d=v\n", 100_000)})(t)
			}},
		{attack{name: "a generator with a large file", args: "effective -A -k m", exit: 0, want: "1 object was read"},
			kustomization("configMapGenerator: [{name: a, files: [a.yaml]}]\n", strings.Repeat("a line of a file\n", 20<<20/17))},
		{attack{name: "many kustomizations, built with -R", args: "check -R -f m", exit: 1,
			want: "all builds together would take more than 20000000 steps"}, func(t *testing.T) {
			content := map[string]string{}
			for i := range 200 {
				content[fmt.Sprintf("m/k%d/kustomization.yaml", i)] = "resources: [../base]\nnamePrefix: x-\n"
			}
			content["m/base/kustomization.yaml"] = "resources: [a.yaml]\npatches:\n" +
				numbered("- {target: {kind: ConfigMap, name: none}, patch: '[{\"op\": \"add\", \"path\": \"/k%d\", \"value\": \"v\"}]'}\n", 60)
			content["m/base/a.yaml"] = numbered("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", 60)
			files(content)(t)
		}},
	}
}

// numbered is a text many times, with a number in each.
func numbered(text string, n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, text, i)
	}
	return out.String()
}

// kustomization makes a kustomization in the folder m, and the file a.yaml beside it.
func kustomization(text, objects string) func(*testing.T) {
	return files(map[string]string{"m/kustomization.yaml": text, "m/a.yaml": objects})
}

// oneConfigMap is what is made ever larger.
const oneConfigMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: \"x,y\"}\n"

// copies has a patch copy what it has copied before.
func copies(n int) func(*testing.T) {
	patch := "[" + strings.TrimSuffix(numbered(`{"op": "copy", "from": "/data", "path": "/data/k%d"},`, n), ",") + "]"
	return kustomization("resources: [a.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '"+patch+"'}]\n", oneConfigMap)
}

// replacements have an object written into itself.
func replacements(n int, from, to, options string) func(*testing.T) {
	text := "resources: [a.yaml]\nreplacements:\n"
	for i := range n {
		text += replacement(from, strings.Replace(to, "%d", fmt.Sprint(i), 1), options)
	}
	return kustomization(text, oneConfigMap)
}

func replacement(from, to, options string) string {
	return fmt.Sprintf("- source: {kind: ConfigMap, name: c, fieldPath: %s}\n"+
		"  targets: [{select: {kind: ConfigMap, name: c}, fieldPaths: [%s], options: {%s}}]\n", from, to, options)
}

// nestedReplacements makes folders that each build the one before, and write an object into itself.
func nestedReplacements(folders, n int) func(*testing.T) {
	content := map[string]string{"m/d0/a.yaml": oneConfigMap}
	for i := range folders {
		text := "resources: [a.yaml]\nreplacements:\n"
		if i > 0 {
			text = fmt.Sprintf("resources: [../d%d]\nreplacements:\n", i-1)
		}
		for range n {
			text += replacement("data.a", "data.a", `delimiter: ",", index: 1`)
		}
		content[fmt.Sprintf("m/d%d/kustomization.yaml", i)] = text
	}
	return files(content)
}
