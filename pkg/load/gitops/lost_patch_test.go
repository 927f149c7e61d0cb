package gitops_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

func thingPatch(name string) string { return bare(name) + "spec: {patched: 'yes'}\n" }

// A patch or a replacement whose object is in a part that is left out is skipped and named.
func TestPatchesOfPartsThatAreLeftOut(t *testing.T) {
	files := map[string]string{
		"kustomization.yaml":         "resources: [gateway, scanner, more]\n",
		"gateway/kustomization.yaml": "resources: [a.yaml]\n",
		"gateway/a.yaml":             bare("a"),
		"scanner/kustomization.yaml": "helmCharts: [{name: web, namespace: scan}]\nresources: [b.yaml]\n" +
			"patches:\n- path: patches.yaml\n- patch: |\n" + indentBy(thingPatch("second"), "    ") +
			"replacements:\n- source: {kind: Thing, name: none}\n  targets: [{select: {name: b}, fieldPaths: [spec.x]}]\n" +
			"- path: r.yaml\n",
		"scanner/r.yaml": "- source: {kind: Thing, name: b}\n  targets: [{select: {name: b}, fieldPaths: [metadata.labels.name], options: {create: true}}]\n" +
			"- source: {kind: Thing, name: gone, fieldPath: spec.y}\n  targets: [{select: {name: b}, fieldPaths: [spec.x]}]\n",
		"scanner/b.yaml":          bare("b"),
		"scanner/patches.yaml":    thingPatch("b") + "---\n" + thingPatch("first"),
		"more/kustomization.yaml": "resources: [c.yaml]\ncomponents: [../part]\npatchesStrategicMerge: [old.yaml]\n",
		"more/c.yaml":             bare("c"),
		"more/old.yaml":           thingPatch("old"),
		"part/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n" +
			"resources: [" + remoteManifest + "]\npatches: [{path: p.yaml}]\n",
		"part/p.yaml": thingPatch("remote"),
	}
	loadtest.Write(t, files)
	s := rendered(t, ".")
	const skipped = " is not there: it may be in what is left out"
	loadtest.Same(t, told(s),
		"thing/default/a gateway/a.yaml:1", "thing/default/b scanner/b.yaml:1", "thing/default/c more/c.yaml:1",
		"warning NotEvaluated: part/kustomization.yaml:3: kustomization part is rendered in part: objects are remote, and nothing is fetched",
		"warning NotEvaluated: scanner/kustomization.yaml:1: kustomization scanner is rendered in part: charts are rendered only if that is asked for",
		"info NamespaceAssumed: 3 objects have no namespace: default is assumed",
		"info NotEvaluated: more/old.yaml:1: kustomization more is rendered in part: a patch is skipped, as thing/old"+skipped,
		"info NotEvaluated: part/p.yaml:1: kustomization part is rendered in part: a patch is skipped, as thing/remote"+skipped,
		"info NotEvaluated: scanner/patches.yaml:7: kustomization scanner is rendered in part: a patch is skipped, as thing/first"+skipped,
		"info NotEvaluated: scanner/kustomization.yaml:5: kustomization scanner is rendered in part: a patch is skipped, as thing/second"+skipped,
		"info NotEvaluated: scanner/r.yaml:1: kustomization scanner is rendered in part: a replacement is skipped, as thing/gone"+skipped,
		"info NotEvaluated: scanner/kustomization.yaml:12: kustomization scanner is rendered in part: a replacement is skipped, as thing/none"+skipped)
	for _, o := range s.Objects {
		if o.Ref.Name == "b" && (o.Text("spec", "patched") != "yes" || o.Labels["name"] != "b") {
			t.Errorf("what is there is not applied: %v", o.Body.Value())
		}
	}
	loadtest.Same(t, omitted(s),
		"kustomization part is rendered in part: objects are remote, and nothing is fetched",
		"kustomization scanner is rendered in part: charts are rendered only if that is asked for (scan)")
}

func indentBy(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by) + "\n"
}

// A patch whose object is nowhere has kustomize refuse the build, which is an error. With -R the
// rest is read, with -k nothing is.
func TestPatchesWithoutObjects(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"app/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: p.yaml}]\n",
		"app/a.yaml":             bare("a"),
		"app/p.yaml":             thingPatch("none"),
		"flux.yaml":              fluxTo("web", "./web", "  patches:\n  - patch: |\n"+indentBy(thingPatch("lost"), "      ")),
		"web/w.yaml":             bare("w"),
	})
	loadtest.Same(t, told(rendered(t, ".")), "thing/default/a app/a.yaml:1", "thing/default/w web/w.yaml:1",
		"kustomization/flux-system/web flux.yaml:1",
		"error NotEvaluated: app/p.yaml:1: kustomization app is rendered in part: kustomize refuses a patch, as thing/none is not there; the rest is read",
		"error NotEvaluated: flux.yaml:1: kustomization web is rendered in part: kustomize refuses a patch, as thing/lost is not there; the rest is read",
		"info NamespaceAssumed: 2 objects have no namespace: default is assumed")
	if _, err := load.Files(context.Background(), load.Options{Kustomization: "app"}); err == nil ||
		!strings.Contains(err.Error(), "no resource matches") {
		t.Errorf("got %v", err)
	}
}

// A generator that is a program is left out, and a validator that is one.
func TestProgramsAreLeftOut(t *testing.T) {
	trap := loadtest.SetTrap(t)
	loadtest.Write(t, map[string]string{
		"kustomization.yaml": "namespace: web\nresources: [a.yaml]\ngenerators: [secrets.yaml]\nvalidators: [v.yaml]\n",
		"a.yaml":             bare("a"),
		"secrets.yaml":       "apiVersion: example.com/v1\nkind: Decrypt\nmetadata: {name: s}\n",
		"v.yaml":             "apiVersion: example.com/v1\nkind: Check\nmetadata: {name: s}\n",
	})
	s := rendered(t, ".")
	loadtest.Same(t, told(s), "thing/web/a a.yaml:1",
		`warning NotEvaluated: kustomization.yaml:3: kustomization . is rendered in part: a generator is not run: Decrypt of "example.com/v1" is not built into kustomize, and programs are not run`)
	loadtest.Same(t, omitted(s),
		`kustomization . is rendered in part: a generator is not run: Decrypt of "example.com/v1" is not built into kustomize, and programs are not run (web)`)
	if trap.HasRun() {
		t.Error("a program ran")
	}
}
