//go:build linux

package hostiletest

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// folderAttack is an attack with a folder of files, in which the command runs.
type folderAttack struct {
	attack
	files func(t *testing.T) // writes them into the current folder
}

// folderAttacks are those of this package, of every kind.
func folderAttacks() []folderAttack {
	return slices.Concat(linkAttacks, gitAttacks, memoryAttacks, kustomizeAttacks())
}

// listFolderAttacks returns them as SECURITY.md lists them.
func listFolderAttacks() []attack {
	var out []attack
	for _, a := range folderAttacks() {
		out = append(out, a.attack)
	}
	return out
}

func TestFolderAttacks(t *testing.T) {
	for _, a := range folderAttacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			a.files(t)
			debug.FreeOSMemory() // a run is as large as this process is when it starts it
			run(t, a.attack, strings.Fields(a.args))
		})
	}
}

// files returns what writes files, which may be links ("-> target").
func files(content map[string]string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for name, text := range content {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
			var err error
			if target, isLink := strings.CutPrefix(text, "-> "); isLink {
				err = os.Symlink(target, name)
			} else {
				err = os.WriteFile(name, []byte(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
