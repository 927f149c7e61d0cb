package gitops_test

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
)

// Where another program makes a kustomization, or what it names, nothing is wrong with it.
func TestKustomizationsOfTemplates(t *testing.T) {
	const why = "a template is not rendered, which makes the kustomization or what it names"
	loadtest.Write(t, map[string]string{
		"apps/a.yaml":                    bare("a"),
		"boilerplate/kustomization.yaml": "namespace: {{ .Namespace }}\nresources:\n  - {{ .Name }}.yaml\n",
		"terraform/kustomization.yaml":   "resources: [config.yaml, b.yaml]\n",
		"terraform/config.yaml.tpl":      bare("${name}"),
		"terraform/b.yaml":               bare("b"),
		"named/kustomization.yaml":       "resources: ['{{ .Name }}.yaml', c.yaml]\n",
		"named/c.yaml":                   bare("c"),
		"file/kustomization.yaml":        "resources: [d.yaml]\n",
		"file/d.yaml":                    bare("d") + "spec: {port: ${port}}\n",
		"mistake/kustomization.yaml":     "resources: [none.yaml]\n",
		"deployed/kustomization.yaml":    "resources: [e.yaml]\n",
		"deployed/e.yaml":                bare("e") + "spec: {port: ${port}}\n",
		"flux.yaml":                      fluxTo("deployed", "./deployed", ""),
	})
	s := rendered(t, ".")
	loadtest.Same(t, told(s), "thing/default/a apps/a.yaml:1", "thing/default/b terraform/b.yaml:1",
		"thing/default/c named/c.yaml:1", "kustomization/flux-system/deployed flux.yaml:1",
		"error NotEvaluated: deployed/kustomization.yaml:1: kustomization deployed is rendered in part: kustomize refuses it: deployed/e.yaml:5: did not find expected ',' or '}'",
		"error NotEvaluated: mistake/kustomization.yaml:1: kustomization mistake is rendered in part: kustomize refuses it: resources: there is no mistake/none.yaml",
		"warning NotEvaluated: file/kustomization.yaml:1: 3 kustomizations are rendered in part: "+why+" (file, named, terraform)",
		"warning NotEvaluated: boilerplate: kustomization boilerplate is not rendered: "+why,
		"info NamespaceAssumed: 3 objects have no namespace: default is assumed")
}
