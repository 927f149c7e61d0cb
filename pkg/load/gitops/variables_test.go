package gitops_test

import (
	"fmt"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// An optional Secret that is not in the input counts as missing. Where something asks for what it
// may have, that is told.
func TestVariablesOfMissingSecrets(t *testing.T) {
	const from = "  postBuild: {substitute: {APP: echo}, substituteFrom: [{kind: Secret, name: none, optional: true}]}\n"
	loadtest.Write(t, map[string]string{
		"ks.yaml":  fluxTo("a", "./a", from) + "---\n" + fluxTo("b", "./b", from),
		"a/a.yaml": bare("${APP}") + "spec: {host: '${DOMAIN:-none}'}\n",
		"b/b.yaml": bare("b-${APP}") + "spec: {kept: '$${X}'}\n",
	})
	loadtest.Same(t, about(rendered(t, ".")), "thing/default/b-echo b/b.yaml:1", "thing/default/echo a/a.yaml:1",
		"warning NotEvaluated: ks.yaml:1: kustomization/flux-system/a is rendered in part: it asks for variables that an optional Secret may have, which is not in the input and counts as missing",
		"info NamespaceAssumed: 2 objects have no namespace: default is assumed")
}

// The keys of a Secret can be read where its values are not: only these variables stay as they
// stand.
func TestVariablesOfSecrets(t *testing.T) {
	const from = "  postBuild: {substitute: {APP: echo, GIVEN: own}, substituteFrom: [{kind: ConfigMap, name: settings}, {kind: Secret, name: hidden}]}\n"
	loadtest.Write(t, map[string]string{
		"ks.yaml": fluxTo("a", "./a", from) + "---\n" + fluxTo("b", "./b", from) + "---\n" + fluxTo("secrets",
			"./secrets", ""),
		"settings.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {TIER: gold, BOTH: open}\n",
		"secrets/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: hidden, namespace: flux-system}\n" +
			"stringData: {DOMAIN: 'ENC[AES256_GCM,data:x]', BOTH: 'ENC[AES256_GCM,data:x]', GIVEN: 'ENC[AES256_GCM,data:x]'}\nsops: {version: 3.9.0}\n",
		"a/a.yaml": bare("${APP}") +
			"spec: {kind: '${KIND:-Route}', to: '${TO_2:-${TO:-${APP}}}', host: '${DOMAIN:-none}', both: '${BOTH}', given: '${GIVEN}', tier: '${TIER}'}\n",
		"b/b.yaml": bare("b") + "spec: {to: '${TO:-${APP}}'}\n",
	})
	s := rendered(t, ".")
	for name, want := range map[string]string{
		"echo": "map[both:${BOTH} given:own host:${DOMAIN} kind:Route tier:gold to:echo]",
		"b":    "map[to:echo]",
	} {
		o := s.Get(model.Ref{Group: "example.com", Kind: "Thing", Namespace: "default", Name: name})
		if o == nil || fmt.Sprint(o.Get("spec")) != want {
			t.Errorf("%s is %v, want %s", name, o, want)
		}
	}
	var notes []string
	for _, line := range told(s) {
		if len(line) > 8 && line[:8] == "warning " {
			notes = append(notes, line)
		}
	}
	loadtest.Same(t, notes,
		"warning NotEvaluated: ks.yaml:1: kustomization/flux-system/a is rendered in part: variables come from Secrets, whose values are not read")
}
