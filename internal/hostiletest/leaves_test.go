//go:build linux

package hostiletest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// Files of each kind that is read beside manifests.
const (
	leafKind = `
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: CachePolicy.policies.example.com
short: cp
targets: [Gateway, Gateway/listener, HTTPRoute]
refs: [{at: spec.targetRefs}]
content: {fields: [ttl, zones], condition: when, unset: [unset]}
strategy: {read: [block.mode], values: {replace: atomic, fill: merge}, default: atomic}
rules: [ttl, zones.*, {path: vary, keys: [header]}]
`
	leafRequirements = `
apiVersion: dopolicy.dev/v1alpha1
kind: Requirements
requirements:
- name: authenticate
  severity: warning
  select: {gateways: [infra/external], namespaces: [shop]}
  expression: 'false'
  message: not allowed
- name: limits
  expression: 'false'
  messageExpression: '"no"'
`
	leafTest = `
apiVersion: dopolicy.dev/v1alpha1
kind: RequirementTest
requirements: [requirements.yaml]
tests:
- name: a login
  files: [route.yaml]
  met: [authenticate]
  expect: [{requirement: limits, target: httproute/shop/cart/a, via: infra/external/https}]
- name: no input
  input: '{apiVersion: v1, kind: X}'
`
	leafConfig   = "requirements: [requirements.yaml]\nignore: [{id: RuleShadowed, reason: known, object: httproute/shop/*}]\nfailOn: none\n"
	leafSnapshot = `
apiVersion: dopolicy.dev/v1alpha1
kind: Snapshot
cluster: prod
readAt: "2026-01-01T0%d:00:00Z"
objects: 2
kinds:
- {group: gateway.networking.k8s.io, version: v1, kind: Gateway, plural: gateways, shortNames: [gtw], singular: gateway, namespaced: true}
- {group: gateway.networking.k8s.io, version: v1, kind: HTTPRoute, plural: httproutes, namespaced: true}
gaps: [{group: kuadrant.io, kind: AuthPolicy, namespace: x, except: [other]}]
problems: [{severity: warning, code: Forbidden, message: "no", hint: none, origin: {file: x}}]
`
	leafObjects = `
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: external, namespace: infra}
spec: {gatewayClassName: x, listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: shop}
spec: {parentRefs: [{name: external, namespace: infra}], rules: [{name: a}, {name: b}]}
`
	leafFlux = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./apps, prune: true, targetNamespace: shop, sourceRef: {kind: GitRepository, name: fleet}, postBuild: {substitute: {a: b}}, dependsOn: [{name: infra}]}
`
	leafArgo = `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: apps, namespace: argocd}
spec:
  goTemplate: true
  generators: [{list: {elements: [{name: a, path: apps}]}}, {git: {repoURL: https://example.com/x.git, directories: [{path: apps/*}]}}]
  template:
    metadata: {name: '{{.name}}'}
    spec: {project: default, source: {repoURL: https://example.com/x.git, path: '{{.path}}', helm: {releaseName: x}}, destination: {name: in-cluster, namespace: shop}}
`
	leafKustomization = "resources: [objects.yaml]\nnamePrefix: a-\ncommonAnnotations: {a: b}\npatches: [{path: patch.yaml, target: {kind: Gateway}}]\nconfigMapGenerator: [{name: x, files: [values]}]\n"
)

// TestEscapesOfFiles: each text of a file by itself, in what is read and in the errors that say why
// it is not.
func TestEscapesOfFiles(t *testing.T) {
	w := world{t.TempDir()}
	route := w.file(t, "route.yaml", []byte(leafObjects))
	w.file(t, "requirements.yaml", []byte(leafRequirements))
	for name, one := range map[string]struct {
		text, file string
		behind     string // the rest of the file
		args       [][]string
	}{
		"kinds": {text: leafKind, file: "kinds.yaml", args: [][]string{{"kinds", "-o", "wide", "-f", route,
			"--policy-kinds", "@"}, {"effective", "-A", "-f", route, "--policy-kinds", "@"}}},
		"requirements": {text: leafRequirements, file: "leaf.yaml",
			args: [][]string{{"check", "-f", route, "--requirements", "@", "--config", "none", "-o", "github"},
				{"check", "-f", route, "--requirements", "@", "--config", "none"}, {"check", "-f", route,
					"--requirements",
					"@", "--config", "none", "-o", "junit"}, {"check", "-f", route, "--requirements", "@", "--config",
					"none", "-o", "sarif"}}},
		"tests": {text: leafTest, file: "tests.yaml", args: [][]string{{"check", "test", "@"},
			{"check", "test", "@", "-o", "junit"}, {"check", "test", "@", "-o", "yaml"}}},
		"configs": {text: leafConfig, file: "config.yaml", args: [][]string{{"check", "-f", route, "--config",
			"@"}, {"report", "-f", route, "--config", "@", "-o", "json"}}},
		"snapshots": {text: fmt.Sprintf(leafSnapshot, 3), file: "snapshots/2.yaml", behind: leafObjects,
			args: [][]string{{"effective", "-A", "-f", "@"}, {"check", "-f", "@", "--config", "none", "-o", "github"},
				{"history", "cart", "-n", "shop", "--snapshots", w.in + "/snapshots"}, {"diff", "--at",
					"2026-01-01T01:00", "--snapshots", w.in + "/snapshots"}}},
		"Flux": {text: leafFlux, file: "flux/a.yaml",
			args: [][]string{{"effective", "-A", "-R", "-f", w.in + "/flux", "-v"}}},
		"Argo CD": {text: leafArgo, file: "argo/a.yaml",
			args: [][]string{{"effective", "-A", "-R", "-f", w.in + "/argo", "-v"}}},
		"kustomizations": {text: leafKustomization, file: "kustomize/kustomization.yaml",
			args: [][]string{{"effective", "-A", "-k", w.in + "/kustomize"}, {"effective", "-A", "-R", "-f",
				w.in + "/kustomize"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, folder := range []string{"snapshots/1.yaml", "flux/apps/o.yaml", "argo/apps/o.yaml",
				"kustomize/objects.yaml"} {
				text := leafObjects
				if folder == "snapshots/1.yaml" {
					text = fmt.Sprintf(leafSnapshot, 1) + leafObjects
				}
				w.file(t, folder, []byte(text))
			}
			w.file(t, "kustomize/values", []byte(poisoned("x")))
			w.file(t, "kustomize/patch.yaml", []byte("- {op: add, path: /metadata/labels, value: {a: b}}\n"))
			at := w.file(t, one.file, []byte(one.text+one.behind))
			for _, args := range one.args {
				if code, text := answers(args, at); code >= cli.ExitUsage {
					t.Errorf("%s: without any of it: %d, %s", args, code, text)
				}
			}
			eachLeaf(t, one.text, func(doc []byte) {
				at := w.file(t, one.file, append(append(doc, '\n'), one.behind...))
				for _, args := range one.args {
					t.Run("", func(t *testing.T) { // the document is shown with what fails
						said(t, string(doc), strings.Split(strings.ReplaceAll(strings.Join(args, "\x00"), "@", at),
							"\x00"))
					})
				}
			})
		})
	}
}

// answers runs a command line in which @ is a file.
func answers(args []string, file string) (int, string) {
	var out bytes.Buffer
	line := strings.Split(strings.ReplaceAll(strings.Join(args, "\x00"), "@", file), "\x00")
	code := cli.App{Plugins: plugins.All()}.Run(context.Background(), line, cli.Streams{In: strings.NewReader(""),
		Out: &out, Err: &out, LookupEnv: func(string) (string, bool) { return "", false }})
	return code, out.String()
}

// said runs a command line, whatever its end, and shows the document if that fails.
func said(t *testing.T, doc string, args []string) {
	t.Helper()
	if says(t, args...); t.Failed() {
		at := strings.Index(doc, poisonBefore)
		t.Logf("of the document: %s", doc[max(0, at-100):max(0, at)])
	}
}

// TestEscapesOfArguments: names that a command line has, which a script may have taken from
// anywhere.
func TestEscapesOfArguments(t *testing.T) {
	w := world{t.TempDir()}
	route := w.file(t, "route.yaml", []byte(leafObjects))
	t.Chdir(w.in) // one of them is the name of a file to write
	p := poisoned("x")
	for _, args := range [][]string{
		{p}, {"effective", p, "-f", route}, {"effective", "-f", route, "--" + p}, {"effective", "-f", p}, {"effective",
			"-f", route, "-n", p}, {"effective", "-f", route, "-o", p}, {"effective", "-f", route, "-l", p},
		{"effective", "-f", route, "-o", "jsonpath=" + p + "{"}, {"effective", "-f", route, "-o", "go-template=" + p +
			"{{"}, {"effective", "-f", route, "--policy-kind", p}, {"effective", "-f", route, "--sort-by", p},
		{"effective", "-f", route, "--for-request", p}, {"effective", "-f", route, "--vendor-setting",
			p}, {"effective", "-f", route, "--color", p}, {"effective", "-f", route, "--limit", p},
		{"effective", "-k", p}, {"effective", "--kubeconfig", p}, {"effective", "--context", p, "--kubeconfig", route},
		{"matrix", "-A", "-f", route, "--missing", p}, {"reach", p, "-f", route}, {"overridden", "--target", p, "-f",
			route}, {"explain", p, "-f", route}, {"explain", "cart", p, "-n", "shop", "-f", route},
		{"status", p, "-f", route}, {"audit", "--dataplane", p, "-f", route}, {"audit", p, "-f", route}, {"graph",
			"--focus", p, "-f", route}, {"graph", "--request", p, "-f", route}, {"graph", "--theme", p, "-f", route},
		{"request", p, "-f", route}, {"request", p, "http://x", "-f", route}, {"request", "http://x/" + p, "-H", p,
			"-f", route}, {"request", "--curl", p, "-f", route}, {"request", "--curl", "curl '" + p +
			"'", "-f", route}, {"request", "http://x", "--expect", p, "-f", route},
		{"request", "http://x", "--gateway", p, "-f", route}, {"request", "http://x", "--grpc", p, "-f", route},
		{"request", "--requests-file", p, "-f", route}, {"request", "--from", p, "--to", p, "--protocol", "TCP",
			"--port", "1", "-f", route},
		{"prove", "--require", p, "-f", route}, {"prove", "--expression", p, "-f", route}, {"prove", "--property", p,
			"-f", route}, {"prove", "--paths", p, "--hosts", p, "--require", "AuthPolicy", "-f", route},
		{"prove", "--headers", p, "--require", "AuthPolicy", "-f", route},
		{"diff", p, route}, {"diff", "git:" + p, route}, {"diff", route, "--delete", p}, {"diff", "--behavior", route,
			route, "--weights", p}, {"diff", "--behavior", route, route, "--protect", p},
		{"diff", "--at", p, "--snapshots", p}, {"history", p, "--snapshots", p},
		{"check", p}, {"check", "--list", p}, {"check", "-f", route, "--requirements", p}, {"check", "-f", route,
			"--config", p}, {"check", "-f", route, "--ignore", p, "--config", "none"},
		{"check", "-f", route, "--fail-on", p}, {"check", "coverage", "--requirements", p}, {"check", "test",
			p}, {"check", "-f", route, "--crds", p},
		{"kinds", "--policy-kinds", p}, {"publish", "-f", route, "--to", p}, {"publish", "-f", route, "--to",
			p + ".yaml"}, {"publish", "-f", route, "--values", p, "--dry-run"}, {"report", "-f", route, "-o", p},
		{"report", "-f", route, "--title", p, "-o", "json", "--config", "none"}, {"completion", p}, {"help",
			p}, {"__complete", "effective", "-f", route, p}, {"snapshot", "-o", p, "--kubeconfig", p},
	} {
		says(t, args...)
	}
}
