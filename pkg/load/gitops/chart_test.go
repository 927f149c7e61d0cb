package gitops_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// standIn puts a program called helm on the PATH. It copies the templates of the chart with the
// release, the namespace and the last file of values in the place of RELEASE, NAMESPACE and VALUES,
// and says what it sees of the machine.
func standIn(t *testing.T, body string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "helm"), []byte("#!/bin/sh\n"+body), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

const copying = `release=$2 chart=$3 namespace=$5
values='{}'
shift 5
while [ $# -gt 0 ]; do case $1 in --values) values=$(cat "$2"); shift 2;; *) shift;; esac; done
for f in "$chart"/templates/*.yaml; do
  echo "---"; echo "# Source: x/templates/${f##*/}"
  sed -e "s|RELEASE|$release|g; s|NAMESPACE|$namespace|g; s|VALUES|$values|g" "$f"
done
`

var shopChart = map[string]string{
	"charts/shop/Chart.yaml":            "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
	"charts/shop/values.yaml":           "{host: default}\n",
	"charts/shop/templates/a.yaml":      "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: RELEASE-a}\nspec: VALUES\n",
	"charts/shop/templates/_help.tpl":   "{{ define }}",
	"charts/shop/charts/sub/Chart.yaml": "name: sub\n",
}

func withHelm(t *testing.T, path string) *model.Snapshot {
	t.Helper()
	s, err := load.Files(context.Background(), load.Options{Paths: []string{path}, Recursive: true,
		Render: true, Helm: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func helmReleaseOf(name, rest string) string {
	return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name +
		", namespace: apps}\nspec:\n" +
		"  chart: {spec: {chart: ./charts/shop, sourceRef: {kind: GitRepository, name: flux-system}}}\n" + rest
}

func TestCharts(t *testing.T) {
	standIn(t, copying)
	loadtest.Write(t, with(shopChart,
		"hr.yaml", helmReleaseOf("one", "  values: {host: one}\n")+"---\n"+helmReleaseOf("two",
			"  targetNamespace: far\n  valuesFrom: [{kind: ConfigMap, name: v}]\n"),
		"v.yaml",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v, namespace: apps}\ndata: {values.yaml: '{host: two}'}\n",
		"remote.yaml", strings.Replace(strings.Replace(helmReleaseOf("three", ""), "GitRepository", "HelmRepository",
			1), "./charts/shop", "shop", 1),
		"app.yaml", appTo("four", "charts/shop", "    helm: {releaseName: r, valueFiles: [/env/four.yaml]}\n"),
		"env/four.yaml", "{host: four}",
		"k/kustomization.yaml",
		"namePrefix: k-\nhelmGlobals: {chartHome: charts}\nhelmCharts: [{name: own, releaseName: own, valuesInline: {host: five}}, {name: own, releaseName: again}]\n",
		"k/charts/own/Chart.yaml", "name: own\n",
		"k/charts/own/templates/a.yaml", shopChart["charts/shop/templates/a.yaml"],
	))
	s := withHelm(t, ".")
	var lines []string
	for _, line := range told(s) {
		if strings.HasPrefix(line, "thing") || strings.Contains(line, "NotEvaluated") {
			lines = append(lines, line)
		}
	}
	loadtest.Same(t, lines,
		"thing/apps/one-a charts/shop/templates/a.yaml",
		"thing/default/k-again-a k/kustomization.yaml",
		"thing/default/k-own-a k/kustomization.yaml",
		"thing/far/far-two-a charts/shop/templates/a.yaml",
		"thing/four-ns/r-a charts/shop/templates/a.yaml",
		"warning NotEvaluated: remote.yaml:1: helmrelease/apps/three is not rendered: the chart is not in the input")
	hosts := ""
	for _, o := range s.Objects {
		hosts += o.Text("spec", "host") + " "
	}
	if strings.Join(strings.Fields(hosts), " ") != "one five two four" {
		t.Errorf("hosts %s", hosts)
	}
}

// Without being asked for, no program runs, and what is not rendered is told once for each kind.
func TestChartsAreNotRendered(t *testing.T) {
	trap := loadtest.SetTrap(t)
	loadtest.Write(t, with(shopChart, "hr.yaml", helmReleaseOf("one", "")+"---\n"+helmReleaseOf("two", ""),
		"other/Chart.yaml", "name: other\n", "other/templates/x.yaml", "{{ x",
		"lib/Chart.yaml", "name: lib\ntype: library\n", "third/Chart.yaml", "name: third\n"))
	var lines []string
	for _, line := range told(rendered(t, ".")) {
		if strings.Contains(line, "NotEvaluated") {
			lines = append(lines, line)
		}
	}
	loadtest.Same(t, lines,
		"warning NotEvaluated: hr.yaml:1: 2 HelmReleases are not rendered: charts are rendered only if that is asked for (apps/one, apps/two)",
		"warning NotEvaluated: 2 charts are not rendered: charts are rendered only if that is asked for (other, third)")
	if trap.HasRun() {
		t.Error("a program ran")
	}
}

// The program sees a copy without links, and neither the home, the cluster nor the plugins of the
// user.
func TestChartsAreConfined(t *testing.T) {
	standIn(t, `if [ -e "$3/templates/link.yaml" ]; then echo "a link" >&2; exit 1; fi
printf -- '---\n# Source: x/templates/a.yaml\nkind: Thing\napiVersion: example.com/v1\nmetadata: {name: a}\nspec: {home: "%s", kube: "%s", user: "%s"}\n' "$(ls "$HOME" | tr '\n' ' ')" "$(cat "$KUBECONFIG" 2>&1 | grep -c secret)" "$DOPOLICY_SECRET"
`)
	t.Setenv("DOPOLICY_SECRET", "hush")
	loadtest.Write(t, with(shopChart, "secret.yaml", loadtest.Thing("s")))
	if err := os.Symlink("../../../secret.yaml", "charts/shop/templates/link.yaml"); err != nil {
		t.Skip(err)
	}
	s := withHelm(t, "charts")
	loadtest.Same(t, told(s), "thing/default/a charts/shop/templates/a.yaml")
	if got, _ := s.Objects[0].Get("spec").(map[string]any); got["home"] != "chart " || got["kube"] != "0" ||
		got["user"] != "" {
		t.Errorf("it sees %v", got)
	}
}

func TestChartsThatFail(t *testing.T) {
	standIn(t, "echo 'Error: template: shop/templates/a.yaml:3: bad' >&2; exit 1\n")
	loadtest.Write(t, with(shopChart, "b.yaml", loadtest.Thing("b")))
	loadtest.Same(t, told(withHelm(t, ".")), "thing/ns/b b.yaml:1",
		"error NotEvaluated: charts/shop: chart charts/shop: the chart in charts/shop is not rendered: helm says: Error: template: shop/templates/a.yaml:3: bad")
}
