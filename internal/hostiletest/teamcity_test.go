//go:build linux

package hostiletest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// serviceMessage is what TeamCity takes as a command, wherever it stands in a line.
const serviceMessage = "zq##teamcity[buildStatus status='SUCCESS' text='zq']"

// TestServiceMessages: no text of the input is a command in TeamCity.
func TestServiceMessages(t *testing.T) {
	w := world{t.TempDir()}
	quoted := `"` + serviceMessage + `"`
	manifests := strings.NewReplacer("name: cart", "name: "+quoted, "name: a}", "name: "+quoted+"}", "namespace: shop",
		"namespace: "+quoted, "gatewayClassName: x", "gatewayClassName: "+quoted).Replace(leafObjects) +
		"---\napiVersion: kuadrant.io/v1\nkind: AuthPolicy\nmetadata: {name: " + quoted + ", namespace: infra}\nspec:\n" +
		"  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: external}\n  defaults: {rules: {authentication: {" +
		quoted + ": {apiKey: {selector: {matchLabels: {app: " + quoted + "}}}}}}}\n"
	file := w.file(t, "a.yaml", []byte(manifests))
	other := w.file(t, "b.yaml", []byte(leafObjects))
	for _, command := range [][]string{{"effective", "-A", "-v", "-f", file}, {"matrix", "-A", "-f", file},
		{"status", "-A", "--all", "-f", file}, {"check", "-f", file, "--config", "none"}, {"graph", "-f", file},
		{"diff", other, file}, {"overridden", "-A", "-f", file}, {"report", "-f", file, "--config", "none"},
		{"effective", serviceMessage, "-f", file}} {
		seen := false
		for _, format := range []string{"table", "wide", "name", "json", "ndjson", "yaml", "markdown", "unified", "junit",
			"sarif", "github", "dot", "mermaid", "html", "openmetrics", "go-template={{.}}"} {
			var out bytes.Buffer
			cli.App{Plugins: plugins.All()}.Run(t.Context(), append(command, "-o", format), cli.Streams{
				In: strings.NewReader(""), Out: &out, Err: &out,
				LookupEnv: func(name string) (string, bool) { return "2026.1", name == "TEAMCITY_VERSION" }})
			seen = seen || strings.Contains(out.String(), "buildStatus")
			if strings.Contains(out.String(), "##teamcity[") {
				t.Errorf("%q -o %s: a command: %.300s", command, format, out.String())
			}
		}
		if !seen {
			t.Errorf("%q: nothing of the texts", command)
		}
	}
}
