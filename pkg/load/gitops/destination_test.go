package gitops_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// appOn is an Application for a cluster, which to says as flow YAML.
func appOn(name, path, to string) string {
	return strings.Replace(appTo(name, path, ""), "destination: {", "destination: {"+to+", ", 1)
}

// about is what is told of objects that are no leads, and of trouble.
func about(s *model.Snapshot) (out []string) {
	for _, line := range told(s) {
		if !strings.HasPrefix(line, "application/") && !strings.HasPrefix(line, "kustomization/") {
			out = append(out, line)
		}
	}
	return out
}

func readFor(t *testing.T, destination string) (*model.Snapshot, error) {
	t.Helper()
	return load.Files(context.Background(), load.Options{Paths: []string{"."}, Recursive: true, Render: true,
		Destination: destination})
}

const ownServer = `server: "https://kubernetes.default.svc"`

// Applications for several clusters are not read as one without a word, and one of the clusters can
// be chosen.
func TestArgoDestinations(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"apps/root.yaml": appOn("root", "apps/children", ownServer),
		"apps/children/a.yaml": appOn("a", "a", ownServer) + "---\n" + appOn("b", "b", "name: prod") + "---\n" +
			appOn("c", "c", `server: "https://10.0.0.1"`) + "---\n" +
			appOn("d", "d", "name: prod") + "---\n" + appOn("e", "e", "name: in-cluster"),
		"a/a.yaml": bare("a"), "b/b.yaml": bare("b"), "c/c.yaml": bare("c"), "d/d.yaml": bare("d"),
		"e/e.yaml":   bare("e"),
		"plain.yaml": loadtest.Thing("plain"),
	})
	undeployed := "info NotEvaluated: 1 manifest is not read, as nothing deploys it: plain.yaml"
	problem := "warning NotEvaluated: apps/children/a.yaml:1: Applications for 3 clusters are read as if they were for one: https://10.0.0.1 (argocd/c), in-cluster (argocd/a, argocd/e), prod (argocd/b, argocd/d)"
	loadtest.Same(t, about(rendered(t, ".")), "thing/a-ns/a a/a.yaml:1", "thing/b-ns/b b/b.yaml:1",
		"thing/c-ns/c c/c.yaml:1", "thing/d-ns/d d/d.yaml:1", "thing/e-ns/e e/e.yaml:1", problem, undeployed)
	for destination, want := range map[string][]string{
		"prod":                           {"thing/b-ns/b b/b.yaml:1", "thing/d-ns/d d/d.yaml:1", undeployed},
		"https://10.0.0.1":               {"thing/c-ns/c c/c.yaml:1", undeployed},
		"in-cluster":                     {"thing/a-ns/a a/a.yaml:1", "thing/e-ns/e e/e.yaml:1", undeployed},
		"https://kubernetes.default.svc": {"thing/a-ns/a a/a.yaml:1", "thing/e-ns/e e/e.yaml:1", undeployed},
	} {
		s, err := readFor(t, destination)
		if err != nil {
			t.Fatal(err)
		}
		loadtest.Same(t, about(s), want...)
	}
	if _, err := readFor(t, "prd"); err == nil || err.Error() != "destination prd: nothing that is read deploys there" {
		t.Errorf("got %v", err)
	}
}

// An Application that brings nothing but other Applications is about no cluster of its own.
func TestArgoOneDestination(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"root.yaml":       appOn("root", "children", ownServer),
		"children/a.yaml": appOn("a", "a", "name: prod"),
		"a/a.yaml":        bare("a"),
	})
	loadtest.Same(t, about(rendered(t, ".")), "thing/a-ns/a a/a.yaml:1")
}

// A Kustomization with a kubeConfig is for another cluster, and so are the charts that it brings.
// Its destination is the Secret.
func TestFluxDestinations(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"ks.yaml": fluxTo("here", "./here", "") + "---\n" + fluxTo("there", "./there",
			"  kubeConfig: {secretRef: {name: prod}}\n"),
		"here/a.yaml":  bare("a") + "---\n" + helmReleaseOf("elsewhere", ""),
		"there/b.yaml": bare("b"),
	})
	const chart = "warning NotEvaluated: here/a.yaml:6: helmrelease/apps/elsewhere is not rendered: the chart is not in the input"
	loadtest.Same(t, about(rendered(t, ".")), "thing/default/a here/a.yaml:1",
		"helmrelease/apps/elsewhere here/a.yaml:6", chart,
		"warning NotEvaluated: ks.yaml:8: kustomization/flux-system/there is not rendered: it is for another cluster",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed")
	for destination, want := range map[string][]string{"prod": {"thing/default/b there/b.yaml:1"},
		"in-cluster": {"thing/default/a here/a.yaml:1", "helmrelease/apps/elsewhere here/a.yaml:6", chart}} {
		s, err := readFor(t, destination)
		if err != nil {
			t.Fatal(err)
		}
		loadtest.Same(t, about(s),
			append(want, "info NamespaceAssumed: 1 object has no namespace: default is assumed")...)
	}
}
