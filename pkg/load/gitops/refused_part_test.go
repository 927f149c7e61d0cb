package gitops_test

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
)

// A file that does not parse costs itself, and not what is deployed with it.
func TestFilesThatDoNotParse(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"flux.yaml":              fluxTo("web", "./web", "  targetNamespace: web\n  postBuild: {substitute: {A: a}, substituteFrom: [{kind: Secret, name: none}]}\n"),
		"web/kustomization.yaml": "resources: [a.yaml, flow.yaml, b.json, text.yaml, value.yaml]\n",
		"web/a.yaml":             bare("a"),
		"web/flow.yaml":          bare("flow") + "spec: {port: ${PORT}}\n",
		"web/b.json":             `{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "b"}, "spec": {"port": ${PORT}}}`,
		"web/text.yaml":          bare("text") + "spec: {script: '${A'}\n",
		"web/value.yaml":         bare("value") + "spec: {port: \"${PORT}\"}\n",
	})
	loadtest.Same(t, told(rendered(t, ".")),
		"thing/web/a web/a.yaml:1", "thing/web/value web/value.yaml:1", "kustomization/flux-system/web flux.yaml:1",
		"error NotEvaluated: web/kustomization.yaml:1: kustomization web is rendered in part: kustomize refuses it: web/b.json:1: invalid character '$' looking for beginning of value",
		"error NotEvaluated: web/kustomization.yaml:1: kustomization web is rendered in part: kustomize refuses it: web/flow.yaml:5: did not find expected ',' or '}'",
		"warning NotEvaluated: web/text.yaml:1: kustomization/flux-system/web is rendered in part: thing/web/text is not read: its variables cannot be replaced: missing closing brace",
		"warning NotEvaluated: flux.yaml:1: kustomization/flux-system/web is rendered in part: variables come from Secrets, whose values are not read")
}

// A folder that cannot be built costs itself, and not the tree that it is in.
func TestFoldersThatCannotBeBuilt(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"kustomization.yaml":         "resources: [good, remote, program, twice, patched]\n",
		"good/kustomization.yaml":    "resources: [a.yaml]\n",
		"good/a.yaml":                bare("a"),
		"remote/kustomization.yaml":  "namespace: far\nresources: [b.yaml]\ncomponents: [https://example.com/org/repo//part]\n",
		"remote/b.yaml":              bare("b"),
		"program/kustomization.yaml": "resources: [c.yaml]\ntransformers: [t.yaml]\n",
		"program/c.yaml":             bare("c"),
		"program/t.yaml":             "apiVersion: example.com/v1\nkind: Change\nmetadata: {name: t}\n",
		"twice/kustomization.yaml":   "resources: [d.yaml, e.yaml]\n",
		"twice/d.yaml":               bare("d"),
		"twice/e.yaml":               bare("d"),
		"patched/kustomization.yaml": "resources: [f.yaml]\npatches: [{target: {kind: Thing}, patch: '[{\"op\": \"remove\", \"path\": \"/none\"}]'}]\n",
		"patched/f.yaml":             bare("f"),
	})
	s := rendered(t, ".")
	const change = `Change of "example.com/v1" is not built into kustomize, and programs are not run`
	const twice = "twice: merging resources from 'e.yaml': may not add resource with an already registered id: Thing.v1.example.com/d.[noNs]"
	loadtest.Same(t, told(s), "thing/default/a good/a.yaml:1", "thing/default/c program/c.yaml:1", "thing/far/b remote/b.yaml:1",
		"error NotEvaluated: kustomization.yaml:1: kustomization patched is not rendered: kustomize refuses it: patched: error in remove for path: '/none': Unable to remove nonexistent key: none: missing value",
		"error NotEvaluated: kustomization.yaml:1: kustomization twice is not rendered: kustomize refuses it: "+twice,
		"warning NotEvaluated: program/kustomization.yaml:2: kustomization program is rendered in part: a transformer is not run: "+change,
		"warning NotEvaluated: remote/kustomization.yaml:3: kustomization remote is rendered in part: a component is remote, and nothing is fetched",
		"info NamespaceAssumed: 2 objects have no namespace: default is assumed")
	loadtest.Same(t, omitted(s),
		"kustomization patched is not rendered: kustomize refuses it: patched: error in remove for path: '/none': Unable to remove nonexistent key: none: missing value",
		"kustomization program is rendered in part: a transformer is not run: "+change,
		"kustomization remote is rendered in part: a component is remote, and nothing is fetched (far)",
		"kustomization twice is not rendered: kustomize refuses it: "+twice)
}
