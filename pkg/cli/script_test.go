package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// built is what a release would tell the program about itself.
var built = cli.Build{Version: "v1.2.3", Commit: "0123456789abcdef0123456789abcdef01234567",
	Date: "2026-01-02T03:04:05Z"}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"helm": helm, "kubectl-dopolicy": func() {
		os.Exit(cli.App{Plugins: plugins.All(), Build: built}.Run(context.Background(), os.Args[1:], cli.Terminal()))
	}})
}

// TestScripts runs testdata/script/<command>/*.txtar. The demos are copied to demo/ and
// demo-rfc0009/, $DRAW is the folder of the program that draws for the commands that have pictures.
// UPDATE_GOLDEN=1 rewrites what the scripts compare with.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(root, "script", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	drawer := sync.OnceValues(func() (string, error) {
		folder := t.TempDir()
		out, err := exec.Command("go", "build", "-o", folder, "../../cmd/dopolicy-draw").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return folder, nil
	})
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			testscript.Run(t, testscript.Params{Dir: dir, UpdateScripts: os.Getenv("UPDATE_GOLDEN") != "",
				Setup: func(e *testscript.Env) error {
					e.Setenv("LANG", "C.UTF-8")
					if slices.Contains([]string{"graph", "report"}, filepath.Base(dir)) {
						folder, err := drawer()
						if err != nil {
							return err
						}
						e.Setenv("DRAW", folder)
						e.Setenv("HOME", folder) // for its cache
						e.Setenv("PATH", withoutDrawer(e.Getenv("PATH")))
					}
					return errors.Join(os.CopyFS(filepath.Join(e.WorkDir, "demo"),
						os.DirFS(filepath.Join(root, "demo"))),
						os.CopyFS(filepath.Join(e.WorkDir, "demo-rfc0009"),
							os.DirFS(filepath.Join(root, "demo-rfc0009"))))
				}})
		})
	}
}

// withoutDrawer leaves out the folders of a search path that have the program that draws, which
// `make install` puts there: scripts try what happens without it.
func withoutDrawer(path string) string {
	return strings.Join(slices.DeleteFunc(filepath.SplitList(path), func(folder string) bool {
		found, _ := filepath.Glob(filepath.Join(folder, "dopolicy-draw*"))
		return len(found) > 0
	}), string(filepath.ListSeparator))
}
