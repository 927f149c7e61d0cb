package gitops_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// twoClusters are two clusters with the same apps, as people lay them out.
func twoClusters(layout string) map[string]string {
	files := map[string]string{
		"apps/base/kustomization.yaml":    "resources: [a.yaml]\n",
		"apps/base/a.yaml":                bare("a"),
		"apps/prod/kustomization.yaml":    "resources: [../base, db.yaml]\ncommonAnnotations: {stage: prod}\n",
		"apps/prod/db.yaml":               fluxTo("db", "./db/prod", ""),
		"apps/staging/kustomization.yaml": "resources: [../base, db.yaml]\ncommonAnnotations: {stage: staging}\n",
		"apps/staging/db.yaml":            fluxTo("db", "./db/staging", ""),
		"db/prod/d.yaml":                  bare("d") + "spec: {stage: prod}\n",
		"db/staging/d.yaml":               bare("d") + "spec: {stage: staging}\n",
		"shared.yaml":                     loadtest.Thing("shared"), // nothing deploys it
	}
	for _, stage := range []string{"prod", "staging"} {
		apps := fluxTo("apps", "./apps/"+stage, "")
		switch layout {
		case "bootstrap":
			files["clusters/"+stage+"/flux-system/gotk-sync.yaml"] = fluxTo("flux-system", "./clusters/"+stage, "")
			files["clusters/"+stage+"/apps.yaml"] = apps
		case "files":
			files["clusters/"+stage+"/apps.yaml"] = apps
		case "kustomizations":
			files["clusters/"+stage+"/kustomization.yaml"] = "resources: [apps.yaml]\n"
			files["clusters/"+stage+"/apps.yaml"] = apps
		case "overlays":
			files["clusters/base/apps.yaml"] = apps
			files["clusters/base/kustomization.yaml"] = "resources: [apps.yaml]\n"
			files["clusters/"+stage+"/kustomization.yaml"] = "resources: [../base]\npatches: [{target: {kind: Kustomization}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"./apps/" +
				stage + "\"}]'}]\n"
		}
		files["clusters/"+stage+"/own.yaml"] = loadtest.Thing("own") + "spec: {stage: " + stage + "}\n"
		if layout == "kustomizations" || layout == "overlays" {
			delete(files, "clusters/"+stage+"/own.yaml")
		}
	}
	return files
}

// One of several clusters is read, and the others are asked for.
func TestSeveralClusters(t *testing.T) {
	for _, layout := range []string{"bootstrap", "files", "kustomizations", "overlays"} {
		t.Run(layout, func(t *testing.T) {
			loadtest.Write(t, twoClusters(layout))
			for _, named := range []string{"", "clusters/prod", "clusters/staging", "staging", "./clusters/prod/"} {
				s, err := readFor(t, named)
				if err != nil {
					t.Fatalf("%q: %v", named, err)
				}
				stage := "prod"
				if strings.Contains(named, "staging") {
					stage = "staging"
				}
				asked := 0
				for _, p := range s.Problems {
					if strings.Contains(p.Message, "2 clusters (clusters/prod, clusters/staging)") &&
						p.Hint == "choose one of them: --destination clusters/staging" {
						asked++
					} else if p.Severity != model.Info {
						t.Errorf("%q: %s", named, p.Message)
					}
				}
				if want := map[bool]int{true: 1}[named == ""]; asked != want {
					t.Errorf("%q: asked %d times", named, asked)
				}
				a := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: "a"})
				d := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: "d"})
				if a == nil || d == nil || a.Annotations["stage"] != stage || d.Text("spec", "stage") != stage ||
					s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "ns", Name: "shared"}) != nil {
					t.Errorf("%q: got %q", named, told(s))
				}
				if len(s.Omissions) > 0 {
					t.Errorf("%q: %v", named, omitted(s))
				}
			}
			_, err := readFor(t, "clusters/none")
			if failed, ok := err.(*load.Error); !ok || failed.Hint != "there are in-cluster, clusters/prod, clusters/staging" {
				t.Errorf("got %#v", err)
			}
		})
	}
}

// The folder of the only cluster can be chosen as well.
func TestOnlyClusterIsChosen(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"clusters/prod/apps.yaml": fluxTo("apps", "./apps", ""),
		"apps/a.yaml":             bare("a"),
	})
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	s, err := readFor(t, "clusters/prod")
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, about(s), "thing/default/a apps/a.yaml:1",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed")
	t.Chdir("..")
	for _, named := range []string{"clusters/prod", filepath.Join(filepath.Base(dir), "clusters/prod")} {
		s, err := load.Files(t.Context(), load.Options{Paths: []string{dir}, Recursive: true, Render: true, Destination: named})
		if err != nil || len(s.Objects) != 2 {
			t.Errorf("%s: %v", named, err)
		}
	}
	t.Chdir(dir)
	if _, err := readFor(t, "clusters/none"); err == nil {
		t.Error("a folder is chosen that is not there")
	}
}

// Argo CD in two clusters, with Applications of the same names.
func TestSeveralArgoClusters(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"argo/prod/apps.yaml":    appTo("shop", "shop/prod", ""),
		"argo/staging/apps.yaml": appTo("shop", "shop/staging", ""),
		"shop/prod/a.yaml":       bare("a") + "spec: {x: 1}\n",
		"shop/staging/a.yaml":    bare("a") + "spec: {x: 2}\n",
	})
	loadtest.Same(t, about(rendered(t, ".")), "thing/shop-ns/a shop/prod/a.yaml:1",
		"warning NotEvaluated: argo/prod/apps.yaml:1: the input is for 2 clusters (argo/prod, argo/staging): application/argocd/shop is another one in each. Only argo/prod is read")
	s, err := readFor(t, "argo/staging")
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, about(s), "thing/shop-ns/a shop/staging/a.yaml:1")
}

// Where several destinations have an object of one name, that of the first is read.
func TestObjectsOfSeveralDestinations(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"apps.yaml": strings.ReplaceAll(appOn("a", "a", "name: prod")+"---\n"+appOn("b", "b", "name: dev"), "-ns", ""),
		"a/a.yaml":  loadtest.Thing("x") + "spec: {from: prod}\n---\n" + loadtest.Thing("a"),
		"b/b.yaml":  loadtest.Thing("x") + "spec: {from: dev}\n",
	})
	s := rendered(t, ".")
	loadtest.Same(t, about(s), "thing/ns/a a/a.yaml:6", "thing/ns/x b/b.yaml:1",
		"warning NotEvaluated: apps.yaml:1: Applications for 2 clusters are read as if they were for one: dev (argocd/b), prod (argocd/a). What several of them have is read as the first has it: 1 object")
}
