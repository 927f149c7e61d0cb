package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// routes is a file of n HTTPRoutes as people write them.
func routes(n int) []byte {
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

// BenchmarkFiles loads 10,000 routes. It is to cost at most 1.5 times BenchmarkNodes.
func BenchmarkFiles(b *testing.B) {
	text := routes(10_000)
	name := filepath.Join(b.TempDir(), "routes.yaml")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := load.Files(context.Background(), load.Options{Paths: []string{name}})
		if err != nil || len(s.Objects) != 10_000 {
			b.Fatal(err, len(s.Objects))
		}
	}
}

// BenchmarkNodes decodes the same bytes and keeps nothing.
func BenchmarkNodes(b *testing.B) {
	text := routes(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		d := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var n yaml.Node
			if err := d.Decode(&n); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}
