package gitops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
)

// thingsOf are the Things of a folder as it is deployed, and what is said about it.
func thingsOf(t *testing.T, path string) (out []string) {
	t.Helper()
	for _, line := range told(rendered(t, path)) {
		if strings.HasPrefix(line, "thing/") || strings.Contains(line, "NotEvaluated") {
			out = append(out, line)
		}
	}
	return out
}

// What Flux begins with need not be deployed by the folder it leads to.
func TestFluxBeginsOutside(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"kustomization.yaml":         "resources: [apps.yaml]\n",
		"flux-system/gotk-sync.yaml": fluxTo("flux-system", "./", ""),
		"apps.yaml":                  fluxTo("apps", "./apps", ""),
		"idle.yaml":                  fluxTo("idle", "./idle", ""),
		"apps/a.yaml":                bare("a"),
		"idle/b.yaml":                bare("b"),
	})
	loadtest.Same(t, thingsOf(t, "."), "thing/default/a apps/a.yaml:1",
		"info NotEvaluated: 1 manifest is not read, as nothing deploys it: idle",
		"info NotEvaluated: 1 manifest is not read: the kustomization of the folder does not name it",
		"info NotEvaluated: kustomization/flux-system/idle is not rendered: nothing that is read leads to it")
}

// A cluster is not lost because a Kustomization of another one waits for its variables.
func TestFluxOfClustersThatWait(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"clusters/a/sync.yaml": fluxTo("flux-system", "./clusters/a", ""),
		"clusters/a/apps.yaml": fluxTo("apps", "./apps",
			"  postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}\n"),
		"clusters/a/settings.yaml": fluxTo("settings", "./settings", ""),
		"settings/settings.yaml":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {NAME: x}\n",
		"apps/a.yaml":              bare("a-${NAME}"),
		"clusters/b/sync.yaml":     fluxTo("flux-system", "./clusters/b", ""),
		"clusters/b/b.yaml":        bare("b"),
	})
	loadtest.Same(t, thingsOf(t, "."), "thing/default/a-x apps/a.yaml:1",
		"warning NotEvaluated: clusters/a/sync.yaml:1: the input is for 2 clusters (clusters/a, clusters/b): kustomization/flux-system/flux-system is another one in each. Only clusters/a is read")
	s, err := readFor(t, "clusters/b")
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Same(t, about(s), "thing/default/b clusters/b/b.yaml:1",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed")
}

// A folder that a source leads to deploys what its kustomization names, and not the source that
// leads there.
func TestPathsThatHoldWhatLeadsToThem(t *testing.T) {
	t.Run("flux", func(t *testing.T) {
		loadtest.Write(t, map[string]string{
			"k8s/kustomization.yaml":           "resources: []\n",
			"k8s/component/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [c.yaml]\n",
			"k8s/component/c.yaml":             bare("c"),
			"k8s/apps/kustomization.yaml":      "resources: [db.yaml, a.yaml]\n",
			"k8s/apps/db.yaml":                 fluxTo("db", "./k8s", "  components: [./component]\n"),
			"k8s/apps/a.yaml":                  bare("a"),
			"k8s/cluster/apps.yaml":            fluxTo("apps", "./k8s/apps", ""),
		})
		loadtest.Same(t, thingsOf(t, "."), "thing/default/a k8s/apps/a.yaml:1", "thing/default/c k8s/component/c.yaml:1")
	})
	t.Run("argo", func(t *testing.T) {
		loadtest.Write(t, map[string]string{
			"argocd/kustomization.yaml":      "resources: [ns.yaml]\n",
			"argocd/ns.yaml":                 bare("ns"),
			"argocd/root.yaml":               applicationTo("root", "argocd/apps"),
			"argocd/apps/kustomization.yaml": "resources: [argocd.yaml, web.yaml]\n",
			"argocd/apps/argocd.yaml":        applicationTo("argocd", "argocd"),
			"argocd/apps/web.yaml":           applicationTo("web", "web"),
			"web/a.yaml":                     bare("a"),
		})
		loadtest.Same(t, thingsOf(t, "."), "thing/web/a web/a.yaml:1", "thing/web/ns argocd/ns.yaml:1")
	})
}

// applicationTo is an Application of a folder, whose objects go to the namespace web.
func applicationTo(name, path string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + ", namespace: argocd}\nspec:\n  source: {repoURL: https://github.com/acme/fleet, path: " +
		path + "}\n  destination: {server: https://kubernetes.default.svc, namespace: web}\n"
}

// Where git has a remote, another repository is not the one at hand because it is the only one that
// is named. A fork of it has its name.
func TestRepositoryNamedAlone(t *testing.T) {
	for remote, isRead := range map[string]bool{"acme/fleet": true, "me/fleet": true, "acme/state": false} {
		loadtest.Write(t, map[string]string{
			".git/config": "[remote \"origin\"]\n\turl = https://github.com/" + remote + ".git\n",
			"app.yaml":    applicationTo("web", "web"),
			"web/a.yaml":  bare("a"),
		})
		if got := slices.Contains(thingsOf(t, "."), "thing/web/a web/a.yaml:1"); got != isRead {
			t.Errorf("%s: %v", remote, got)
		}
	}
}

// The source called flux-system need not be in the input: the operator of Flux makes it.
func TestSourceThatTheOperatorMakes(t *testing.T) {
	loadtest.Write(t, map[string]string{
		".git/config":  "[remote \"origin\"]\n\turl = https://github.com/acme/fleet.git\n",
		"flux/ks.yaml": fluxTo("apps", "./apps", ""),
		"apps/a.yaml":  bare("a"),
		"apps/other.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\nspec: {url: https://github.com/acme/fleet}\n---\n" +
			strings.Replace(fluxTo("web", "./web", ""), "name: flux-system}", "name: fleet}", 1),
		"web/b.yaml": bare("b"),
	})
	loadtest.Same(t, thingsOf(t, "."), "thing/default/a apps/a.yaml:1", "thing/default/b web/b.yaml:1")
}
