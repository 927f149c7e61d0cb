package gitops_test

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const remoteManifest = "https://example.com/install.yaml"

// What would have to be fetched or rendered does not take the rest of its kustomization with it.
func TestBuildsGoWithoutWhatIsRemote(t *testing.T) {
	trap := loadtest.SetTrap(t)
	loadtest.Write(t, map[string]string{
		"top/kustomization.yaml":  "namespace: top\nresources: [a.yaml, ../crds, ../charts, ../mixed]\n",
		"top/a.yaml":              bare("a"),
		"crds/kustomization.yaml": "resources:\n- " + remoteManifest + "\n- github.com/example/repo//config?ref=v1\n",
		"mixed/kustomization.yaml": "bases: [git@example.com:org/repo.git//base]\nresources: [m.yaml]\n" +
			"patches: [{target: {kind: ConfigMap, name: remote}, patch: '[{\"op\": \"remove\", \"path\": \"/data\"}]'}]\n",
		"mixed/m.yaml":              bare("m"),
		"charts/kustomization.yaml": "helmGlobals: {chartHome: x}\nhelmCharts: [{name: web, repo: https://example.com}]\nresources: [c.yaml]\n",
		"charts/c.yaml":             bare("c"),
		"patched/kustomization.yaml": "resources: [" + remoteManifest +
			", p.yaml]\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: remote}}'}]\n",
		"patched/p.yaml":          bare("p"),
		"part/kustomization.yaml": "components: [https://example.com/org/repo//part]\nresources: [q.yaml]\n",
		"part/q.yaml":             bare("q"),
	})
	loadtest.Same(t, told(rendered(t, ".")),
		"thing/default/p patched/p.yaml:1",
		"thing/default/q part/q.yaml:1",
		"thing/top/a top/a.yaml:1",
		"thing/top/c charts/c.yaml:1",
		"thing/top/m mixed/m.yaml:1",
		"warning NotEvaluated: patched/kustomization.yaml:1: 3 kustomizations are rendered in part: objects are remote, and nothing is fetched (crds, mixed, patched)",
		"warning NotEvaluated: charts/kustomization.yaml:2: kustomization charts is rendered in part: charts are rendered only if that is asked for",
		"warning NotEvaluated: part/kustomization.yaml:1: kustomization part is rendered in part: a component is remote, and nothing is fetched",
		"info NamespaceAssumed: 2 objects have no namespace: default is assumed",
		"info NotEvaluated: patched/kustomization.yaml:2: kustomization patched is rendered in part: a patch is skipped, as configmap/remote is not there: it may be in what is left out",
	)
	if n := trap.Requests.Load(); n > 0 || trap.HasRun() {
		t.Errorf("%d requests, or a program ran", n)
	}
}

func TestBuildsGoWithoutChartsThatAreMissing(t *testing.T) {
	standIn(t, copying)
	loadtest.Write(t, map[string]string{
		"k/kustomization.yaml": "helmCharts: [{name: web, repo: https://example.com}]\nresources: [c.yaml]\n",
		"k/c.yaml":             bare("c"),
	})
	loadtest.Same(t, told(withHelm(t, ".")), "thing/default/c k/c.yaml:1",
		"warning NotEvaluated: k/kustomization.yaml:1: kustomization k is rendered in part: a chart of it is not in the input, and nothing is fetched",
		"info NamespaceAssumed: 1 object has no namespace: default is assumed")
}

// A generator that is a program makes objects of the kinds that are known of it, else of any.
func TestProgramsThatMakeObjects(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"a/kustomization.yaml": "namespace: a\nresources: [a.yaml]\ngenerators: [g.yaml]\n",
		"a/a.yaml":             bare("a"),
		"a/g.yaml":             "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: g}\nfiles: [x.sops.yaml]\n",
		"a/x.sops.yaml":        "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\ndata: {a: 'ENC[x]'}\n",
		"d/kustomization.yaml": "namespace: d\nresources: [d.yaml]\ngenerators: [g.yaml]\n",
		"d/d.yaml":             bare("d"),
		"d/g.yaml":             "apiVersion: viaduct.ai/v1\nkind: ksops\nmetadata: {name: g}\nfiles: [x.sops.yaml]\n",
		"d/x.sops.yaml":        bare("x") + "sops: {}\n",
		"b/kustomization.yaml": "namespace: b\nresources: [b.yaml]\ngenerators: [g.yaml]\n",
		"b/b.yaml":             bare("b"),
		"b/g.yaml":             "apiVersion: example.com/v1\nkind: Maker\nmetadata: {name: g}\n",
	})
	s := rendered(t, ".")
	secret, thing := model.GroupKind{Kind: "Secret"}, model.GroupKind{Group: "example.com", Kind: "Thing"}
	for _, in := range []string{"a", "b", "c", "d"} {
		if got, want := s.FindOmission(secret, in) != nil, in == "a" || in == "b"; got != want {
			t.Errorf("a Secret in %s: got %v", in, got)
		}
		if got, want := s.FindOmission(thing, in) != nil, in == "b" || in == "d"; got != want {
			t.Errorf("a Thing in %s: got %v", in, got)
		}
	}
}
