package gitops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// rendered loads a folder as it is deployed.
func rendered(t testing.TB, paths ...string) *model.Snapshot {
	t.Helper()
	s, err := load.Files(context.Background(), load.Options{Paths: paths, Recursive: true, Render: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refs are the objects of a snapshot and where they come from, then its problems, one a line.
func told(s *model.Snapshot) []string {
	var out []string
	for _, o := range s.Objects {
		out = append(out, o.Ref.String()+" "+o.Origin.String())
	}
	for _, p := range s.Problems {
		at := ""
		if p.Origin != nil {
			at = p.Origin.String() + ": "
		}
		out = append(out, fmt.Sprintf("%s %s: %s%s", p.Severity, p.Code, at, p.Message))
	}
	return out
}

// bare is a document with a name and no namespace.
func bare(name string) string {
	return "apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: \"" + name + "\"\n"
}

func fluxTo(name, path, rest string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name +
		", namespace: flux-system}\nspec:\n" +
		"  path: " + path + "\n  sourceRef: {kind: GitRepository, name: flux-system}\n" + rest
}

func appTo(name, path, rest string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name +
		", namespace: argocd}\nspec:\n" +
		"  destination: {namespace: " + name +
		"-ns}\n  source:\n    repoURL: https://example.com/org/repo.git\n    path: " + path + "\n" + rest
}

func TestKustomizationsOfFolders(t *testing.T) {
	files := map[string]string{
		"apps/base/kustomization.yaml":       "resources: [a.yaml]\n",
		"apps/base/a.yaml":                   "# a\n" + bare("a"),
		"apps/base/disabled.yaml":            bare("disabled"),
		"apps/prod/kustomization.yaml":       "namespace: prod\nresources: [../base]\ncomponents: [../part]\npatches: [{path: sub/patch.yaml}]\nconfigMapGenerator: [{name: c, files: [values.yaml]}]\ngeneratorOptions: {disableNameSuffixHash: true}\n",
		"apps/prod/sub/patch.yaml":           bare("a") + "spec: {x: 1}\n",
		"apps/prod/values.yaml":              "x: 1\n",
		"apps/part/Kustomization":            "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnameSuffix: -x\nresources: [b.yml]\n",
		"apps/part/b.yml":                    bare("b"),
		"apps/unused-part/kustomization.yml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [c.yml]\n",
		"apps/unused-part/c.yml":             bare("c"),
		"plain/d.yaml":                       loadtest.Thing("d"),
		"broken/kustomization.yaml":          "resources: [none.yaml, e.yaml]\n",
		"broken/e.yaml":                      bare("e"),
	}
	loadtest.Write(t, files)
	loadtest.Same(t, told(rendered(t, ".")),
		"configmap/prod/c-x apps/prod/kustomization.yaml",
		"thing/default/e broken/e.yaml:1",
		"thing/ns/d plain/d.yaml:1",
		"thing/prod/a-x apps/base/a.yaml:2",
		"thing/prod/b-x apps/part/b.yml:1",
		"error NotEvaluated: broken/kustomization.yaml:1: kustomization broken is rendered in part: kustomize refuses it: resources: there is no broken/none.yaml",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed",
		"info NotEvaluated: 1 manifest is not read: the kustomization of the folder does not name it")
	if s := rendered(t, "apps"); s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "prod",
		Name: "a-x"}).Text("spec", "x") != "" {
		t.Error("spec.x is a number")
	}
}

// Kustomizations that only name each other are told, not lost.
func TestKustomizationsInACircle(t *testing.T) {
	loadtest.Write(t, map[string]string{"a/kustomization.yaml": "resources: [../b]\n",
		"b/kustomization.yaml": "resources: [../a]\n", "c.yaml": loadtest.Thing("c")})
	loadtest.Same(t, told(rendered(t, ".")), "thing/ns/c c.yaml:1",
		"error NotEvaluated: a: the kustomization in a is not built: b/kustomization.yaml:1: resources: a circle: a is, or holds, the folder of a/kustomization.yaml")
}

// A folder without anything to render is read as it was.
func TestFoldersWithoutKustomizations(t *testing.T) {
	loadtest.Write(t, map[string]string{"a/a.yaml": loadtest.Thing("a"), "b.yaml": loadtest.Thing("b"),
		"c/x.json": "[1]"})
	plain, err := load.Files(context.Background(), load.Options{Paths: []string{"."}, Recursive: true})
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, told(rendered(t, ".")), told(plain)...)
}

// fluxRepo has the shape that Flux's own guides propose: clusters, infrastructure and apps with a
// base and overlays.
var fluxRepo = map[string]string{
	"clusters/prod/flux-system/kustomization.yaml": "resources: [gotk-sync.yaml]\n",
	"clusters/prod/flux-system/gotk-sync.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n" +
		"spec: {url: 'ssh://git@example.com/org/fleet'}\n---\n" + fluxTo("flux-system", "./clusters/prod", ""),
	"clusters/prod/apps.yaml": fluxTo("apps", "./apps/prod",
		"  targetNamespace: shop\n  dependsOn: [{name: settings}]\n  postBuild:\n    substitute: {HOST: shop.example.com}\n"+
			"    substituteFrom: [{kind: ConfigMap, name: settings}, {kind: Secret, name: none, optional: true}]\n"),
	"clusters/prod/settings.yaml":  fluxTo("settings", "settings", ""),
	"settings/settings.yaml":       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {TIER: gold, PORT: '8080'}\n",
	"apps/base/kustomization.yaml": "resources: [a.yaml]\n",
	"apps/base/a.yaml": bare("${TIER}-a") +
		"spec: {host: \"${HOST}\", port: \"${PORT}\", kept: \"$${X}\", other: \"${OTHER:=fallback}\"}\n---\n" +
		bare("b") + "spec: {host: \"${HOST}\"}\n",
	"apps/prod/kustomization.yaml":    "namespace: wrong\nresources: [../base]\n",
	"apps/staging/kustomization.yaml": "namespace: staging\nresources: [../base]\n",
}

func with(files map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for name, text := range files {
		out[name] = text
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

func TestFlux(t *testing.T) {
	loadtest.Write(t, with(fluxRepo, ".git/HEAD", "ref: x\n"))
	want := []string{
		"configmap/flux-system/settings settings/settings.yaml:1",
		"thing/shop/b apps/base/a.yaml:7",
		"thing/shop/gold-a apps/base/a.yaml:1",
	}
	objects := func(s *model.Snapshot) (out []string) {
		for _, line := range told(s) {
			if !strings.Contains(line, "fluxcd.io") && !strings.HasPrefix(line, "kustomization/") &&
				!strings.HasPrefix(line, "gitrepository/") {
				out = append(out, line)
			}
		}
		return out
	}
	const doubt = "warning NotEvaluated: clusters/prod/apps.yaml:1: kustomization/flux-system/apps is rendered in part: it asks for variables that an optional Secret may have, which is not in the input and counts as missing"
	s := rendered(t, "clusters/prod")
	loadtest.Same(t, objects(s), append(want[:3:3], doubt)...)
	got := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "shop", Name: "gold-a"})
	if got == nil || fmt.Sprint(got.Get("spec")) != "map[host:shop.example.com kept:${X} other:fallback port:8080]" {
		t.Errorf("got %v", got.Get("spec"))
	}
	// Of the whole repository, what Flux does not lead to is not read, unless it is named.
	loadtest.Same(t, objects(rendered(t, ".")), append(want[:3:3], doubt,
		"info NotEvaluated: 1 manifest is not read, as nothing deploys it: apps/staging")...)
	loadtest.Same(t, objects(rendered(t, ".", "apps/staging")), append(want[:3:3],
		"thing/staging/${TIER}-a apps/base/a.yaml:1", "thing/staging/b apps/base/a.yaml:7", doubt)...)
}

func TestFluxLeftOut(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"ks.yaml": fluxTo("elsewhere", "./app", "  kubeConfig: {secretRef: {name: x}}\n") + "---\n" + fluxTo("gone",
			"./gone", "") + "---\n" + fluxTo("up", "../../etc", "") + "---\n" +
			strings.Replace(fluxTo("other", "./app", ""), "name: flux-system}", "name: podinfo}", 1) + "---\n" +
			fluxTo("open", "./open",
				"  postBuild: {substituteFrom: [{kind: Secret, name: s}, {kind: ConfigMap, name: missing}], substitute: {A: a}}\n") + "---\n" +
			fluxTo("bad", "./bad", "  patches: [{patch: '- {op: nope}', target: {kind: Thing}}]\n"),
		"app/a.yaml":  bare("a"),
		"open/a.yaml": bare("open-${A}") + "spec: {x: '${B}', y: '${C:-d}'}\n",
		"bad/b.yaml":  bare("b"),
	})
	s := rendered(t, ".")
	var lines []string
	for _, line := range told(s) {
		if !strings.HasPrefix(line, "kustomization/") {
			lines = append(lines, line)
		}
	}
	loadtest.Same(t, lines,
		"thing/default/open-a open/a.yaml:1",
		"error NotEvaluated: ks.yaml:38: kustomization/flux-system/bad: the kustomization in bad is not built: Unexpected kind: nope",
		"warning NotEvaluated: ks.yaml:9: 2 Kustomizations are not rendered: the path is not in the input (flux-system/gone, flux-system/up)",
		"warning NotEvaluated: ks.yaml:1: kustomization/flux-system/elsewhere is not rendered: it is for another cluster",
		"warning NotEvaluated: ks.yaml:30: kustomization/flux-system/open is rendered in part: variables come from ConfigMaps that are not in the input",
		"warning NotEvaluated: ks.yaml:30: kustomization/flux-system/open is rendered in part: variables come from Secrets, whose values are not read",
		"warning NotEvaluated: ks.yaml:23: kustomization/flux-system/other is not rendered: the source is another repository than the one that is read",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed",
	)
}

func TestArgo(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"argo/apps.yaml": appTo("a", "a", "") + "---\n" + appTo("k", "k",
			"    kustomize: {namePrefix: pre-, patches: [{target: {kind: Thing}, patch: '- {op: add, path: /spec, value: {x: y}}'}]}\n") + "---\n" +
			appTo("deep", "deep", "    directory: {recurse: true, exclude: '{x/*,z.yaml}', include: '*.yaml'}\n") +
			"---\n" +
			strings.Replace(appTo("remote", "a", "    chart: redis\n"), "path: a", "targetRevision: '1'", 1),
		"argo/set.yaml":        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set, namespace: argocd}\nspec: {generators: [{clusters: {}}]}\n",
		"a/a.yaml":             bare("a") + "---\n" + loadtest.Thing("named"),
		"a/sub/b.yaml":         bare("b"),
		"k/kustomization.yaml": "resources: [k.yaml]\n",
		"k/k.yaml":             bare("k"),
		"deep/x/x.yaml":        bare("x"),
		"deep/y/y.yaml":        bare("y"),
		"deep/y/y.json":        `{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "json"}}`,
		"deep/z.yaml":          bare("z"),
	})
	var lines []string
	for _, line := range told(rendered(t, ".")) {
		if !strings.HasPrefix(line, "application") {
			lines = append(lines, line)
		}
	}
	loadtest.Same(t, lines,
		"thing/a-ns/a a/a.yaml:1",
		"thing/deep-ns/y deep/y/y.yaml:1",
		"thing/default/b a/sub/b.yaml:1",
		"thing/k-ns/pre-k k/k.yaml:1",
		"thing/ns/named a/a.yaml:6",
		"warning NotEvaluated: 3 manifests are not read, as nothing that is read leads to them, and what an ApplicationSet makes may: deep",
		"warning NotEvaluated: argo/apps.yaml:30: application/argocd/remote is not rendered: the chart is in another repository",
		"warning NotEvaluated: argo/set.yaml:1: applicationset/argocd/set is not rendered: it makes Applications of what is not in the input (generator clusters)",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed")
}

// What a plugin renders is read as if there were none, and told: a kustomization with its
// namespace, plain manifests as they stand, once.
func TestArgoPlugins(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"apps.yaml": appTo("k", "k", "    plugin: {name: build-with-helm}\n") + "---\n" + appTo("a", "a",
			"    plugin: {name: pick}\n") + "---\n" + appTo("b", "a", "    plugin: {name: pick}\n"),
		"k/kustomization.yaml": "resources: [k.yaml]\n",
		"k/k.yaml":             bare("k"),
		"a/a.yaml":             bare("a") + "---\n" + loadtest.Thing("named"),
	})
	loadtest.Same(t, about(rendered(t, ".")), "thing/default/a a/a.yaml:1", "thing/k-ns/k k/k.yaml:1",
		"thing/ns/named a/a.yaml:6",
		"warning NotEvaluated: apps.yaml:1: 3 Applications are rendered in part: a plugin renders it, which is not run: it is read as if there were none (argocd/a, argocd/b, argocd/k)",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed")
}

// A repository in which the Kustomizations of all apps come out of a build, patched. One is
// disabled: its kustomization does not name it.
func TestFluxOfFlux(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"flux/ks.yaml": fluxTo("cluster-apps", "./apps",
			"  patches:\n  - target: {kind: Kustomization, group: kustomize.toolkit.fluxcd.io}\n    patch: |\n"+
				"      apiVersion: kustomize.toolkit.fluxcd.io/v1\n      kind: Kustomization\n      metadata: {name: x}\n      spec: {postBuild: {substitute: {DOMAIN: example.com}}}\n"),
		"apps/net/kustomization.yaml": "namespace: net\nresources: [./echo/ks.yaml, ./local.yaml]\ncomponents: [../../parts/common]\n",
		"apps/net/local.yaml":         bare("local"),
		"apps/net/echo/ks.yaml": strings.Replace(fluxTo("echo", "./apps/net/echo/app",
			"  targetNamespace: echo\n  components: [../../../../parts/extra]\n"), "name: flux-system}",
			"name: flux-system, namespace: flux-system}", 1),
		"apps/net/echo/app/kustomization.yaml": "resources: [echo.yaml]\n",
		"apps/net/echo/app/echo.yaml":          bare("echo") + "spec: {host: 'echo.${DOMAIN}'}\n",
		"apps/net/off/ks.yaml":                 fluxTo("idle", "./apps/net/off/app", ""),
		"apps/net/off/app/kustomization.yaml":  "resources: [off.yaml]\n",
		"apps/net/off/app/off.yaml":            bare("idle"),
		"parts/common/kustomization.yaml":      "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [ns.yaml]\n",
		"parts/common/ns.yaml":                 "apiVersion: v1\nkind: Namespace\nmetadata: {name: whatever}\n",
		"parts/extra/kustomization.yaml":       "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [e.yaml]\n",
		"parts/extra/e.yaml":                   bare("extra"),
	})
	s := rendered(t, ".")
	loadtest.Same(t, told(s),
		"namespace/net parts/common/ns.yaml",
		"thing/echo/echo apps/net/echo/app/echo.yaml:1",
		"thing/echo/extra parts/extra/e.yaml:1",
		"thing/net/local apps/net/local.yaml:1",
		"kustomization/flux-system/cluster-apps flux/ks.yaml:1",
		"kustomization/net/echo apps/net/echo/ks.yaml:1",
		"info NotEvaluated: 2 manifests are not read, as nothing deploys them: apps/net/off",
		"info NotEvaluated: kustomization/flux-system/idle is not rendered: nothing that is read leads to it")
	if host := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "echo", Name: "echo"}).Text("spec",
		"host"); host != "echo.example.com" {
		t.Errorf("the host is %s", host)
	}
}
