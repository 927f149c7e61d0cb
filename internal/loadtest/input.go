// Package loadtest is what the tests of pkg/load and of the packages below it share: input to read,
// and what has become of it.
package loadtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Write puts files into a new folder and makes it the working directory.
func Write(t testing.TB, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// Describe lists objects as "ref origin" and problems as "severity code ref origin: message
// (hint)".
func Describe(s *model.Snapshot) []string {
	var lines []string
	for _, o := range s.Objects {
		lines = append(lines, fmt.Sprintf("%s %s", o.Ref, o.Origin))
	}
	for _, p := range s.Problems {
		line := fmt.Sprintf("%s %s", p.Severity, p.Code)
		if p.Ref != nil {
			line += " " + p.Ref.String()
		}
		if p.Origin != nil {
			line += " " + p.Origin.String()
		}
		line += ": " + p.Message
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// Same compares lines.
func Same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Thing returns a document with a name.
func Thing(name string) string {
	return "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: " + name + ", namespace: ns}\n"
}

// Bomb returns a document whose aliases stand for ten times as much on every level.
func Bomb(open, each, end string) string {
	var b strings.Builder
	b.WriteString(Thing("bomb") + "a0: &a0 {k: v}\n")
	for i := range 12 {
		fmt.Fprintf(&b, "a%d: &a%d %s", i+1, i+1, open)
		for j := range 10 {
			fmt.Fprintf(&b, each, j, i)
		}
		b.WriteString(end + "\n")
	}
	return b.String()
}

// Routes returns a file of n HTTPRoutes as people write them.
func Routes(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: route-%d
  namespace: team-%d
  labels:
    app: shop
spec:
  parentRefs:
  - name: external
    namespace: infra
    sectionName: https
  hostnames:
  - shop-%d.example.com
  rules:
  - name: api
    matches:
    - path:
        type: PathPrefix
        value: /api/v%d
      method: GET
    - headers:
      - name: x-version
        value: "2"
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier:
        set:
        - name: x-route
          value: route-%d
    backendRefs:
    - name: api-%d
      port: 8080
      weight: 90
    - name: api-canary
      port: 8080
      weight: 10
  - matches:
    - path:
        type: PathPrefix
        value: /
    backendRefs:
    - name: web
      port: 80
`, i, i%100, i, i%7, i, i)
	}
	return b.Bytes()
}
