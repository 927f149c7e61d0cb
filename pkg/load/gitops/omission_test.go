package gitops_test

import (
	"context"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// omitted lists the omissions of a snapshot, one a line.
func omitted(s *model.Snapshot) []string {
	var out []string
	for _, o := range s.Omissions {
		line := o.String()
		if o.Namespace != "" {
			line += " (" + o.Namespace + ")"
		}
		for _, gk := range o.Kinds {
			line += " only " + gk.String()
		}
		out = append(out, line)
	}
	return out
}

const helmReleases = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: here, namespace: web}
spec: {chart: {spec: {chart: shop, sourceRef: {kind: HelmRepository, name: charts}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: there, namespace: web}
spec: {targetNamespace: shop, chart: {spec: {chart: shop, sourceRef: {kind: HelmRepository, name: charts}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: anywhere, namespace: web}
spec: {targetNamespace: "${NS}", chart: {spec: {chart: shop, sourceRef: {kind: HelmRepository, name: charts}}}}
`

const helmCharts = `apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: edge, namespace: kube-system}
spec: {targetNamespace: edge}
---
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: metrics, namespace: kube-system}
`

func TestOmissionsOfSources(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"releases.yaml": helmReleases,
		"charts.yaml":   helmCharts,
		"apps.yaml": appTo("chart", "x", "") + "---\n" +
			"apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\nspec:\n" +
			"  generators: [{clusters: {}}]\n  template: {spec: {destination: {namespace: fixed}}}\n---\n" +
			"apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: each, namespace: argocd}\nspec:\n" +
			"  generators: [{clusters: {}}]\n  template: {spec: {destination: {namespace: '{{name}}'}}}\n",
		"flux.yaml":   fluxTo("gone", "./none", "  targetNamespace: apps\n") + "---\n" + fluxTo("free", "./none2", ""),
		"done.yaml":   fluxTo("done", "./done", "  targetNamespace: done\n"),
		"done/a.yaml": bare("a"),
	})
	loadtest.Same(t, omitted(rendered(t, ".")),
		"application/argocd/chart is not rendered: the path is not in the input (chart-ns)",
		"applicationset/argocd/all is not rendered: it makes Applications of what is not in the input (generator clusters) (fixed)",
		"applicationset/argocd/each is not rendered: it makes Applications of what is not in the input (generator clusters)",
		"helmchart/kube-system/edge is not rendered (edge)",
		"helmchart/kube-system/metrics is not rendered (kube-system)",
		"helmrelease/web/anywhere is not rendered: the chart is not in the input",
		"helmrelease/web/here is not rendered: the chart is not in the input (web)",
		"helmrelease/web/there is not rendered: the chart is not in the input (shop)",
		"kustomization/flux-system/free is not rendered: the path is not in the input",
		"kustomization/flux-system/gone is not rendered: the path is not in the input (apps)")
}

func TestOmissionsOfBuilds(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"broken/kustomization.yaml": "namespace: broken\nresources: [none.yaml]\n",
		"parts/kustomization.yaml":  "namespace: outer\nresources: [inner, free]\n",
		"parts/inner/kustomization.yaml": "namespace: inner\nresources: [" + remoteManifest + "]\n" +
			"helmCharts: [{name: web, namespace: web}]\n",
		"parts/free/kustomization.yaml": "resources: [" + remoteManifest + "]\n",
		"free/kustomization.yaml":       "resources: [" + remoteManifest + "]\n",
		"chart/kustomization.yaml":      "helmCharts: [{name: web, namespace: web}, {name: web2}]\n",
		"chart/charts/web/Chart.yaml":   "name: web\n",
		"own/Chart.yaml":                "name: own\n",
		"beside/kustomization.yaml":     "resources: [a.yaml]\n",
		"beside/a.yaml":                 bare("a"),
		"beside/unused.yaml":            bare("unused"),
		"bad.yaml":                      bare("bad") + "spec: {a: [}\n",
		"named.yaml":                    bare("${APP}") + "---\n" + bare("x") + "  namespace: ${NS}\n",
	})
	loadtest.Same(t, omitted(rendered(t, ".")),
		"bad.yaml:5 cannot be read",
		"chart own is not rendered: charts are rendered only if that is asked for",
		"kustomization broken is rendered in part: kustomize refuses it: resources: there is no broken/none.yaml (broken)",
		"kustomization chart is rendered in part: charts are rendered only if that is asked for",
		"kustomization chart is rendered in part: charts are rendered only if that is asked for (web)",
		"kustomization free is rendered in part: objects are remote, and nothing is fetched",
		"kustomization parts/free is rendered in part: objects are remote, and nothing is fetched (outer)",
		"kustomization parts/inner is rendered in part: charts are rendered only if that is asked for (outer)",
		"thing/${NS}/x has a namespace with a variable that is not known only Thing.example.com",
		"thing/default/${APP} has a name with a variable that is not known (default) only Thing.example.com")
}

// What nothing renders leaves out what its objects would have deployed.
func TestOmissionsWithoutRendering(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"in/releases.yaml":         helmReleases,
		"in/flux.yaml":             fluxTo("apps", "./apps", "  targetNamespace: apps\n"),
		"in/kustomization.yaml":    "namespace: web\nresources: [releases.yaml, ../other]\n",
		"plain/kustomization.yaml": "resources: [./releases.yaml]\n",
		"plain/releases.yaml":      helmReleases,
		"dump.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n" +
			"metadata: {name: live, namespace: web, uid: x}\n",
	})
	read := func(o load.Options) *model.Snapshot {
		t.Helper()
		s, err := load.Files(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	releases := []string{"helmrelease/web/anywhere is not rendered", "helmrelease/web/here is not rendered (web)",
		"helmrelease/web/there is not rendered (shop)"}
	loadtest.Same(t, omitted(read(load.Options{Paths: []string{"in", "dump.yaml"}})), append(releases,
		"kustomization in is not built (web)", "kustomization/flux-system/apps is not rendered (apps)")...)
	loadtest.Same(t, omitted(read(load.Options{Paths: []string{"plain"}})), releases...)
	loadtest.Same(t, omitted(read(load.Options{Kustomization: "plain"})), releases...)
}
