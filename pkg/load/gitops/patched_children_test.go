package gitops_test

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// patchesChildren is what a Kustomization says that has its children, and theirs, label all Things.
const patchesChildren = `  patches:
  - target: {group: kustomize.toolkit.fluxcd.io, kind: Kustomization}
    patch: |-
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata: {name: any}
      spec:
        patches:
        - target: {kind: Thing}
          patch: '[{"op": "add", "path": "/metadata/labels", "value": {"by": "parent"}}]'
`

func substituteFrom(kind, name, rest string) string {
	return "  postBuild: {substituteFrom: [{kind: " + kind + ", name: " + name + rest + "}]}\n"
}

func settingsIn(namespace string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: " + namespace + "}\ndata: {ZONE: z}\n"
}

// What a parent patches its children with is in all that they deploy, once, whatever it waits for.
func TestPatchedChildrenAreDeployedOnce(t *testing.T) {
	const zone = "spec: {zone: \"${ZONE}\"}\n"
	base := func(parent string) map[string]string {
		return map[string]string{
			"flux/apps.yaml":          fluxTo("apps", "./apps", parent+patchesChildren),
			"apps/kustomization.yaml": "resources: [child.yaml]\n",
			"apps/child.yaml":         fluxTo("child", "./deep/shop", substituteFrom("ConfigMap", "settings", ", optional: true")),
			"deep/shop/a.yaml":        bare("a") + zone,
		}
	}
	with := func(files map[string]string, more map[string]string) map[string]string {
		for name, text := range more {
			files[name] = text
		}
		return files
	}
	for name, c := range map[string]struct {
		files map[string]string
		zone  string
	}{
		"nothing":           {base(""), "${ZONE}"},
		"missing":           {base(substituteFrom("ConfigMap", "settings", "")), "${ZONE}"},
		"missing, optional": {base(substituteFrom("ConfigMap", "settings", ", optional: true")), "${ZONE}"},
		"missing Secret":    {base(substituteFrom("Secret", "settings", "")), "${ZONE}"},
		"in the parent": {with(base(substituteFrom("ConfigMap", "settings", ", optional: true")), map[string]string{
			"apps/kustomization.yaml": "resources: [child.yaml, settings.yaml]\n",
			"apps/settings.yaml":      settingsIn("flux-system")}), "z"},
		"in the child": {with(base(substituteFrom("ConfigMap", "settings", "")), map[string]string{
			"deep/shop/settings.yaml": settingsIn("flux-system")}), "z"},
		"in a sibling": {with(base(substituteFrom("ConfigMap", "settings", "")), map[string]string{
			"flux/cfg.yaml":     fluxTo("cfg", "./cfg", ""),
			"cfg/settings.yaml": settingsIn("flux-system")}), "z"},
		"in a sibling that waits": {with(base(substituteFrom("ConfigMap", "settings", "")), map[string]string{
			"flux/zcfg.yaml":    fluxTo("zcfg", "./cfg", substituteFrom("ConfigMap", "none", "")),
			"cfg/settings.yaml": settingsIn("flux-system")}), "z"},
		"three levels": {with(base(substituteFrom("ConfigMap", "none", "")), map[string]string{
			"flux/apps.yaml": fluxTo("top", "./a/b/c/top", substituteFrom("ConfigMap", "none", "")),
			"a/b/c/top/apps.yaml": fluxTo("apps", "./apps", substituteFrom("ConfigMap", "none", ", optional: true")+
				patchesChildren)}), "${ZONE}"},
		"from its own folder": {with(base(substituteFrom("ConfigMap", "settings", "")), map[string]string{
			"flux/apps.yaml":   fluxTo("flux-system", "./flux", ""),
			"flux/all.yaml":    fluxTo("apps", "./apps", substituteFrom("ConfigMap", "none", "")+patchesChildren),
			"apps/child.yaml":  fluxTo("child", "./deep/shop", ""),
			"deep/shop/a.yaml": bare("a") + "spec: {zone: fixed}\n"}), "fixed"},
	} {
		t.Run(name, func(t *testing.T) {
			loadtest.Write(t, c.files)
			s := rendered(t, ".")
			for _, p := range s.Problems {
				if p.Code == model.DuplicateObject {
					t.Error(p.Message)
				}
			}
			o := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: "a"})
			if o == nil {
				t.Fatalf("got %q", told(s))
			}
			if o.Labels["by"] != "parent" || o.Text("spec", "zone") != c.zone {
				t.Errorf("labels %v, zone %q in %q", o.Labels, o.Text("spec", "zone"), told(s))
			}
			if slices.ContainsFunc(s.Problems, func(p model.Problem) bool { return p.Severity == model.Error }) {
				t.Errorf("got %q", told(s))
			}
		})
	}
}
