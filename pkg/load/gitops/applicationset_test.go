package gitops_test

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
)

// setOf is an ApplicationSet for the repository at hand.
func setOf(name, options, generators, template string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: " + name +
		", namespace: argocd}\nspec:\n" + options +
		"  generators:\n" + generators + "  template:\n    metadata: {name: '" + name + "-" + template +
		"'}\n    spec:\n      project: default\n      destination: {server: 'https://kubernetes.default.svc', namespace: '" + template + "'}\n"
}

const setSource = "      source: {repoURL: 'https://example.com/org/repo.git', path: '"

// objectsOf leaves out the objects that lead somewhere.
func objectsOf(t *testing.T) (out []string) {
	t.Helper()
	for _, line := range told(rendered(t, ".")) {
		if !strings.HasPrefix(line, "application") {
			out = append(out, line)
		}
	}
	return out
}

func TestApplicationSetsOfFolders(t *testing.T) {
	git := "  - git:\n      repoURL: https://example.com/org/repo.git\n      directories: [{path: 'apps/*'}, {path: apps/off, exclude: true}]\n"
	files := map[string]string{
		"sets/plain.yaml":     setOf("plain", "", git, "{{path.basenameNormalized}}") + setSource + "{{ path }}'}\n",
		"apps/Shop_A/r.yaml":  bare("a"),
		"apps/blog/r.yaml":    bare("b") + "---\n" + loadtest.Thing("named"),
		"apps/off/r.yaml":     bare("off"),
		"apps/.hidden/r.yaml": bare("hidden"),
	}
	want := []string{"thing/blog/b apps/blog/r.yaml:1", "thing/ns/named apps/blog/r.yaml:6",
		"thing/shop-a/a apps/Shop_A/r.yaml:1",
		"info NotEvaluated: 2 manifests are not read, as nothing deploys them: apps/.hidden, apps/off"}
	loadtest.Write(t, files)
	loadtest.Same(t, objectsOf(t), want...)
	files["sets/plain.yaml"] = setOf("plain", "  goTemplate: true\n  goTemplateOptions: ['missingkey=error']\n", git,
		"{{ .path.basenameNormalized }}") + setSource + "{{ index .path.segments 0 }}/{{ .path.basename }}'}\n"
	loadtest.Write(t, files)
	loadtest.Same(t, objectsOf(t), want...)
}

func TestApplicationSetsOfListsAndFiles(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"sets/list.yaml": setOf("list", "", "  - list:\n      elements: [{name: one, at: a}, {name: two, at: b}]\n",
			"{{name}}") + setSource + "{{at}}'}\n",
		"sets/file.yaml": setOf("file", "  goTemplate: true\n",
			"  - git:\n      repoURL: https://example.com/org/repo.git\n      files: [{path: 'c/*/config.json'}]\n      values: {dir: '{{ .path.path }}/deploy'}\n", "{{ .app.namespace | default \"none\" }}") +
			setSource + "{{ .values.dir }}'}\n",
		"sets/matrix.yaml": setOf("matrix", "",
			"  - matrix:\n      generators:\n      - list: {elements: [{env: dev}, {env: prod}]}\n      - git: {repoURL: 'https://example.com/org/repo.git', directories: [{path: 'm/{{env}}/*'}]}\n", "{{path.basename}}-{{env}}") +
			setSource + "{{path}}'}\n",
		"a/a.yaml":             bare("a"),
		"b/b.yaml":             bare("b"),
		"c/x/config.json":      `{"app": {"namespace": "far"}}`,
		"c/x/deploy/c.yaml":    bare("c"),
		"m/dev/one/m.yaml":     bare("m"),
		"m/prod/one/m.yaml":    bare("m"),
		"m/staging/one/m.yaml": bare("left"),
	})
	loadtest.Same(t, objectsOf(t), "thing/far/c c/x/deploy/c.yaml:1",
		"thing/one/a a/a.yaml:1", "thing/one-dev/m m/dev/one/m.yaml:1",
		"thing/one-prod/m m/prod/one/m.yaml:1", "thing/two/b b/b.yaml:1",
		"info NotEvaluated: 1 manifest is not read, as nothing deploys it: m/staging/one")
}

// An ApplicationSet that stands in a folder which one of its own Applications deploys is where
// everything begins.
func TestApplicationSetOfItself(t *testing.T) {
	git := "  - git:\n      repoURL: https://example.com/org/repo.git\n      directories: [{path: 'apps/*'}]\n"
	loadtest.Write(t, map[string]string{
		"apps/argocd/kustomization.yaml": "resources: [set.yaml, a.yaml]\n",
		"apps/argocd/set.yaml":           setOf("s", "", git, "{{path.basename}}") + setSource + "{{path}}'}\n",
		"apps/argocd/a.yaml":             bare("a"),
		"apps/shop/b.yaml":               bare("b"),
	})
	loadtest.Same(t, objectsOf(t), "thing/argocd/a apps/argocd/a.yaml:1", "thing/shop/b apps/shop/b.yaml:1")
}

// A patch of the template that changes nothing of what is deployed, and functions that make names
// of names.
func TestApplicationSetsPatched(t *testing.T) {
	options := "  goTemplate: true\n  templatePatch: |\n    {{- if eq .path.basename \"a-conf\" }}\n    spec:\n      ignoreDifferences: [{kind: ConfigMap}]\n    {{- end }}\n"
	git := "  - git:\n      repoURL: https://example.com/org/repo.git\n      directories: [{path: 'apps/*'}]\n"
	loadtest.Write(t, map[string]string{
		"set.yaml": setOf("s", options, git, `{{ regexReplaceAll "-conf$" .path.basename "" }}`) +
			setSource + "{{ .path.path }}'}\n",
		"apps/a-conf/a.yaml": bare("a"),
		"apps/b/b.yaml":      bare("b"),
	})
	loadtest.Same(t, objectsOf(t), "thing/a/a apps/a-conf/a.yaml:1", "thing/b/b apps/b/b.yaml:1")
}

// Selectors pick from what a generator gives, and patches change what the template makes of it.
func TestApplicationSetsWithSelectors(t *testing.T) {
	options := `  goTemplate: true
  templatePatch: |
    spec:
      source:
        path: '{{ .path.path }}{{ if hasKey . "sub" }}/{{ .sub }}{{ end }}'
      {{- if hasKey . "extra" }}
      info: {{ .extra | toYaml | nindent 8 }}
      {{- end }}
      {{- with .options }}
      syncPolicy:
        syncOptions:
        {{- range . }}
        - {{ . }}
        {{- end }}
      {{- end }}
`
	git := "  - git:\n      repoURL: https://example.com/org/repo.git\n      files: [{path: 'apps/*/config.yaml'}]\n" +
		"    selector: {matchLabels: {path.basename: %s}, matchExpressions: [{key: enabled, operator: In, values: ['true']}, {key: sub.none, operator: DoesNotExist}]}\n"
	set := setOf("s", options, strings.Replace(git, "{path.basename: %s}", "{}", 1), "{{ .path.basename }}") + setSource + "gone'}\n"
	files := map[string]string{
		"set.yaml":             set,
		"apps/a/config.yaml":   "enabled: true\nsub: deploy\nextra: [{name: a, value: b}]\noptions: [x, y]\n",
		"apps/a/deploy/a.yaml": bare("a"),
		"apps/b/config.yaml":   "- enabled: true\n",
		"apps/b/b.yaml":        bare("b"),
		"apps/c/config.yaml":   "enabled: false\n",
		"apps/c/c.yaml":        bare("c"),
	}
	loadtest.Write(t, files)
	loadtest.Same(t, thingsOf(t, "."), "thing/a/a apps/a/deploy/a.yaml:1", "thing/b/b apps/b/b.yaml:1",
		"info NotEvaluated: 1 manifest is not read, as nothing deploys it: apps/c")
	files["set.yaml"] = setOf("s", options, strings.Replace(git, "%s", "b", 1), "{{ .path.basename }}") + setSource + "gone'}\n"
	loadtest.Write(t, files)
	for _, line := range thingsOf(t, ".") {
		if strings.HasPrefix(line, "thing/a") {
			t.Error(line)
		}
	}
}

// What is not known is named, and what is known is read all the same.
func TestApplicationSetsLeftOut(t *testing.T) {
	list := "  - list:\n      elements: [{name: one}]\n"
	for name, c := range map[string]struct{ set, why string }{
		"clusters": {setOf("s", "", "  - clusters: {}\n", "{{name}}") + setSource + "a'}\n",
			"is not rendered: it makes Applications of what is not in the input (generator clusters)"},
		"part": {setOf("s", "", "  - clusters: {}\n"+list, "{{name}}") + setSource + "a'}\n",
			"is rendered in part: it makes Applications of what is not in the input (generator clusters)"},
		"patch": {setOf("s", "  goTemplate: true\n  templatePatch: '{spec: {source: {$patch: delete}}}'\n", list,
			"{{.name}}") + setSource + "a'}\n", "is not rendered: the patch of its template has directives"},
		"patch is no patch": {setOf("s", "  templatePatch: x\n", list, "{{name}}") + setSource + "a'}\n",
			"is not rendered: it patches its template, which takes Go templates"},
		"elsewhere": {setOf("s", "",
			"  - git: {repoURL: 'https://example.com/org/other.git', directories: [{path: '*'}]}\n", "x") + "---\n" +
			appTo("app", "a", ""), "is not rendered: the source is another repository than the one that is read"},
		"selector": {setOf("s", "", strings.TrimSuffix(list, "\n")+"\n    selector: {matchExpressions: [{key: a, operator: Like}]}\n",
			"{{name}}") + setSource + "a'}\n", "is not rendered: the selector of a generator has the operator Like"},
		"template": {setOf("s", "", strings.TrimSuffix(list, "\n")+"\n      template: {spec: {project: x}}\n",
			"{{name}}") + setSource + "a'}\n", "is not rendered: a generator has a template of its own"},
		"function": {setOf("s", "  goTemplate: true\n", list, "{{ .name | sha256sum }}") + setSource +
			"a'}\n",
			`is not rendered: its template s-{{ .name | sha256sum }} is not filled in: :1: function "sha256sum" not defined`},
		"loop": {setOf("s", "  goTemplate: true\n", list, "{{ range .name }}{{ end }}") + setSource +
			"a'}\n",
			"is not rendered: its template s-{{ range .name }}{{ end }} is not filled in: it has {{range .name}}{{end}}"},
		"format": {setOf("s", "  goTemplate: true\n", list, "{{ printf \"%9999d\" 1 }}") + setSource +
			"a'}\n", "is not rendered: its template s-{{ printf \"%9999d\" 1 }} is not filled in: it calls printf"},
	} {
		t.Run(name, func(t *testing.T) {
			loadtest.Write(t, map[string]string{"set.yaml": c.set, "a/a.yaml": loadtest.Thing("a")})
			lines := objectsOf(t)
			want := "warning NotEvaluated: set.yaml:1: applicationset/argocd/s " + c.why
			if last := lines[len(lines)-1]; last != want {
				t.Errorf("got  %s\nwant %s", last, want)
			}
		})
	}
}
