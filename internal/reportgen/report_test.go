package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// largest is how many bytes the report of ten thousand rules may have, without its picture, which
// is collapsed to what can be read.
const largest = 14_000_000

// TestSizeOfReports: pages can be mailed.
func TestSizeOfReports(t *testing.T) {
	if testing.Short() {
		t.Skip("timed: run by make test-hostile")
	}
	for name, s := range shops() {
		t.Run(name, func(t *testing.T) {
			if size := len(answer(t, written(t, s), "report", "--no-picture")); size > largest {
				t.Errorf("%d bytes", size)
			}
		})
	}
}

// BenchmarkReport holds the report against one of the answers that are in it.
func BenchmarkReport(b *testing.B) {
	for name, s := range shops() {
		file := written(b, s)
		for _, args := range [][]string{{"effective", "-A", "-o", "json"}, {"report", "--no-picture"},
			{"report", "-o", "json"}} {
			b.Run(name+"/"+fmt.Sprint(args), func(b *testing.B) {
				for b.Loop() {
					b.SetBytes(int64(len(answer(b, file, args...))))
				}
			})
		}
	}
}

func shops() map[string]shop {
	return map[string]shop{"a third of the routes has policies": {5000, 3}, "every route has policies": {5000, 1}}
}

func written(t testing.TB, s shop) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.yaml")
	to, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.write(to); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// answer is what a command says of a file.
func answer(t testing.TB, file string, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	s := cli.Streams{In: &bytes.Buffer{}, Out: &out, Err: &errs, LookupEnv: os.LookupEnv}
	if code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), append(args, "-f", file),
		s); code != cli.ExitAnswered {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	return out.Bytes()
}
