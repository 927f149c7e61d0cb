package load_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
)

// BenchmarkFiles loads 10,000 routes. It is to cost at most 1.5 times BenchmarkNodes.
func BenchmarkFiles(b *testing.B) {
	text := loadtest.Routes(10_000)
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
	text := loadtest.Routes(10_000)
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
