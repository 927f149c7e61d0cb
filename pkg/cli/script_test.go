package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
	"github.com/rogpeppe/go-internal/testscript"
)

// built is what a release would tell the program about itself.
var built = cli.Build{Version: "v1.2.3", Commit: "0123456789abcdef0123456789abcdef01234567", Date: "2026-01-02T03:04:05Z"}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-dopolicy": func() {
		os.Exit(cli.App{Plugins: plugins.All(), Build: built}.Run(context.Background(), os.Args[1:], cli.Terminal()))
	}})
}

// TestScripts runs testdata/script/<command>/*.txtar. The demo is copied to demo/ UPDATE_GOLDEN=1 rewrites what the scripts compare with.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(root, "script", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			testscript.Run(t, testscript.Params{Dir: dir, UpdateScripts: os.Getenv("UPDATE_GOLDEN") != "",
				Setup: func(e *testscript.Env) error {
					e.Setenv("LANG", "C.UTF-8")
					return os.CopyFS(filepath.Join(e.WorkDir, "demo"), os.DirFS(filepath.Join(root, "demo")))
				}})
		})
	}
}
