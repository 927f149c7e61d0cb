package gitops_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/gitops"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestFillVariables(t *testing.T) {
	values := gitops.Values{"A": "x", "B": "two\nlines", "EMPTY": ""}
	for text, want := range map[string]string{
		"${A}":                        "x",
		"a${A}b${A}":                  "axbx",
		"${B}":                        "twolines",
		"${EMPTY}-":                   "-",
		"${A:-default} ${A:=other}":   "x x",
		"${C:-default}":               "${C:-default}",
		"${C:=${A}}":                  "${C:=x}",
		"${A:-${C}}":                  "x",
		"$${A} $A {A}":                "$${A} $A {A}",
		"${A":                         "${A",
		"${\n A}":                     "${\n A}",
		"${AB} ${1##x} ${}":           "${AB} ${1##x} ${}",
		"${A,,}":                      "x",
		"script: ${X%%.*} host: ${A}": "script: ${X%%.*} host: x",
	} {
		if got := string(values.Fill([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func files(t *testing.T, o load.Options) *model.Snapshot {
	t.Helper()
	s, err := load.Files(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Values of the user are for what is not known, wherever variables stand.
func TestValuesOfTheUser(t *testing.T) {
	const spec = "spec: {port: ${PORT:-1}, host: \"${HOST}\", own: \"${OWN}\", none: \"${NONE:-d}\"}\n"
	quoted := strings.Replace(spec, "${PORT:-1}", "\"${PORT:-1}\"", 1)
	values := gitops.Values{"PORT": "80", "HOST": "h.example.com", "OWN": "user"}
	loadtest.Write(t, map[string]string{
		"flux.yaml": fluxTo("web", "./web", "  postBuild: {substitute: {OWN: flux}, substituteFrom: [{kind: Secret, name: none}]}\n") +
			"---\n" + fluxTo("still", "./still", ""),
		"web/a.yaml":           bare("web") + quoted,
		"still/b.yaml":         bare("still") + quoted,
		"k/kustomization.yaml": "resources: [c.yaml]\n",
		"k/c.yaml":             bare("built") + quoted,
		"plain/d.yaml":         bare("plain") + quoted,
	})
	type is struct{ port, host, own, none any }
	get := func(s *model.Snapshot, name string) is {
		o := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: name})
		if o == nil {
			t.Fatalf("no %s in %q", name, told(s))
		}
		return is{o.Get("spec", "port"), o.Get("spec", "host"), o.Get("spec", "own"), o.Get("spec", "none")}
	}
	filled := is{int64(80), "h.example.com", "user", "${NONE:-d}"}
	text := filled
	text.port = "80"
	s := files(t, load.Options{Paths: []string{"."}, Recursive: true, Render: true, Values: values})
	for name, want := range map[string]is{
		"web":   {int64(80), "h.example.com", "flux", "${NONE}"},
		"still": {"${PORT:-1}", "${HOST}", "${OWN}", "${NONE:-d}"}, // Flux replaces none
		"built": filled, "plain": text,
	} {
		if got := get(s, name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got := get(files(t, load.Options{Paths: []string{"plain"}, Values: values}), "plain"); got != text {
		t.Errorf("-f: got %v", got)
	}
	if got := get(files(t, load.Options{Kustomization: "k", Values: values}), "built"); got != filled {
		t.Errorf("-k: got %v", got)
	}
}

// Where the user gives all values that are needed, nothing is said of the Secret that has them.
func TestValuesThatAreNeeded(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"flux.yaml":  fluxTo("web", "./web", "  postBuild: {substituteFrom: [{kind: Secret, name: none}]}\n"),
		"web/a.yaml": bare("${APP}"),
	})
	warns := func(s *model.Snapshot) bool {
		return slices.ContainsFunc(s.Problems, func(p model.Problem) bool {
			return p.Code == model.NotEvaluated && strings.Contains(p.Hint, "--substitute NAME=VALUE")
		})
	}
	if s := rendered(t, "."); !warns(s) {
		t.Errorf("got %q", told(s))
	}
	s := files(t, load.Options{Paths: []string{"."}, Recursive: true, Render: true, Values: gitops.Values{"APP": "shop"}})
	if warns(s) || len(s.Omissions) > 0 || s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: "shop"}) == nil {
		t.Errorf("got %q, %v", told(s), s.Omissions)
	}
}

// A folder that the user names is what a source has.
func TestFoldersOfSources(t *testing.T) {
	ks := func(name, kind, path string) string {
		return strings.Replace(fluxTo(name, path, ""), "GitRepository, name: flux-system", kind+", name: apps", 1)
	}
	loadtest.Write(t, map[string]string{
		"flux/oci.yaml":    ks("oci", "OCIRepository", "./"),
		"flux/bucket.yaml": ks("bucket", "Bucket", "./sub"),
		"flux/git.yaml":    fluxTo("flux-system", "./flux", ""),
		"flux/release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: flux-system}\n" +
			"spec: {chartRef: {kind: OCIRepository, name: chart}}\n",
		"argo/app.yaml":             appTo("app", "prod", ""),
		"artifact/a.yaml":           bare("a"),
		"artifact/sub/b.yaml":       bare("b"),
		"other/prod/c.yaml":         bare("c"),
		"charts/x/Chart.yaml":       "name: x\n",
		"charts/x/templates/d.yaml": bare("d"),
	})
	s := files(t, load.Options{Paths: []string{"."}, Recursive: true, Render: true})
	if !slices.ContainsFunc(s.Problems, func(p model.Problem) bool {
		return strings.Contains(p.Hint, "--source Bucket/flux-system/apps=FOLDER")
	}) {
		t.Errorf("got %q", loadtest.Describe(s))
	}
	s = files(t, load.Options{Paths: []string{"."}, Recursive: true, Render: true, Sources: []gitops.SourceFolder{
		{Source: "OCIRepository/flux-system/apps", Folder: "./artifact/"},
		{Source: "Bucket/flux-system/apps", Folder: "artifact"},
		{Source: "OCIRepository/flux-system/chart", Folder: "charts/x"},
		{Source: "https://example.com/org/repo", Folder: "other"}}})
	loadtest.Same(t, about(s),
		"thing/app-ns/c other/prod/c.yaml:1", "thing/default/a artifact/a.yaml:1", "thing/default/b artifact/sub/b.yaml:1",
		"helmrelease/flux-system/r flux/release.yaml:1",
		"warning NotEvaluated: flux/release.yaml:1: helmrelease/flux-system/r is not rendered: charts are rendered only if that is asked for",
		"info NamespaceAssumed: 2 objects have no namespace: default is assumed")
	_, err := load.Files(context.Background(), load.Options{Paths: []string{"."}, Recursive: true, Render: true,
		Sources: []gitops.SourceFolder{{Source: "Bucket/a/b", Folder: "none"}}})
	if err == nil || err.Error() != "source Bucket/a/b: there is no folder none" {
		t.Errorf("got %v", err)
	}
}

// Sources are found however they are written.
func TestSourcesInJSON(t *testing.T) {
	const flux = `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":"a","namespace":"flux-system"},"spec":{"path":"./a","sourceRef":{"kind":"GitRepository","name":"flux-system"}}}`
	for name, file := range map[string]struct{ name, text string }{
		"flow":      {"ks.yaml", flux},
		"json":      {"ks.json", flux},
		"list":      {"ks.json", `{"kind":"List","apiVersion":"v1","items":[` + flux + "]}"},
		"slash":     {"ks.json", strings.Replace(flux, ".io/v1", `.io\/v1`, 1)},
		"unicode":   {"ks.json", strings.Replace(flux, "kustomize.toolkit.fluxcd", `kustomize\u002etoolkit\u002efluxcd`, 1)},
		"hex":       {"ks.yaml", strings.Replace(flux, "kustomize.toolkit.fluxcd", `kustomize\x2etoolkit\x2efluxcd`, 1)},
		"flow YAML": {"ks.yaml", "{apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: Kustomization, metadata: {name: a, namespace: flux-system}, spec: {path: a, sourceRef: {kind: GitRepository, name: flux-system}}}"},
	} {
		t.Run(name, func(t *testing.T) {
			loadtest.Write(t, map[string]string{"flux/" + file.name: file.text, "a/kustomization.yaml": "namePrefix: x-\nresources: [a.yaml]\n",
				"a/a.yaml": bare("a")})
			s := rendered(t, ".")
			if len(s.Omissions) > 0 || s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: "x-a"}) == nil ||
				slices.ContainsFunc(s.Problems, func(p model.Problem) bool { return p.Code == model.NotEvaluated }) {
				t.Errorf("got %q, %v", told(s), s.Omissions)
			}
		})
	}
}

// A ConfigMap that is there in several versions gives the values that all of them have, and no others.
func TestVariablesOfSeveralVersions(t *testing.T) {
	settings := func(data string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {" + data + "}\n"
	}
	use := "  postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}\n"
	for name, files := range map[string]map[string]string{
		"plain":    {"a/settings.yaml": settings("VIP: x, SAME: s, DOMAIN: a"), "b/settings.yaml": settings("SAME: s, DOMAIN: b")},
		"deployed": {"a/settings.yaml": settings("VIP: x, SAME: s, DOMAIN: a"), "b/ks.yaml": fluxTo("late", "./late", ""), "late/settings.yaml": settings("SAME: s, DOMAIN: b")},
	} {
		t.Run(name, func(t *testing.T) {
			files["a/flux.yaml"] = fluxTo("apps", "./apps", use)
			files["apps/a.yaml"] = bare("a") + "spec: {vip: '${VIP}', same: '${SAME}', domain: '${DOMAIN}'}\n"
			loadtest.Write(t, files)
			s := rendered(t, ".")
			a := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: "a"})
			if a == nil || a.Text("spec", "vip") != "${VIP}" || a.Text("spec", "same") != "s" || a.Text("spec", "domain") != "${DOMAIN}" {
				t.Errorf("got %v", told(s))
			}
		})
	}
}
