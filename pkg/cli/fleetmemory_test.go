package cli_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// What was read of clusters is not kept: neither here nor in the libraries.
func TestFleetsAreForgotten(t *testing.T) {
	if testing.Short() {
		t.Skip("timed: run by make test-hostile")
	}
	demo, err := filepath.Abs("../../testdata/demo")
	if err != nil {
		t.Fatal(err)
	}
	kept := func(clusters int) int64 {
		dir := t.TempDir()
		for i := range clusters {
			if err := os.CopyFS(filepath.Join(dir, strconv.Itoa(i)), os.DirFS(demo)); err != nil {
				t.Fatal(err)
			}
		}
		s := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string,
			bool) {
			return "", false
		}}
		if code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), []string{"effective", "-A", "-o",
			"ndjson", "--each", "-f", dir}, s); code != cli.ExitAnswered {
			t.Fatalf("exit code %d", code)
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	few := kept(3)
	many := kept(43)
	if grown := (many - few) / 40; grown > 20_000 {
		t.Errorf("%d bytes are kept of each cluster", grown)
	}
}
