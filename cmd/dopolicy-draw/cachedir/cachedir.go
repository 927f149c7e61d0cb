// Package cachedir keeps compiled code out of folders that others can write to.
//
// The Graphviz library compiles its WebAssembly when it is imported, and keeps the machine code in
// a folder of a fixed name below the folder for temporary files. Whoever can create that folder
// first decides what the next user of the machine runs. This package names another folder for
// temporary files before the library looks: one in the user's own cache. Where the user has none,
// it names a folder that does not exist, and nothing is kept.
//
// It depends on nothing but the standard library and its path sorts before the library's, so the
// language has it initialised first: of the packages that are ready, the first by path. A test of
// the program holds that.
package cachedir

import (
	"os"
	"path/filepath"
)

// init runs before the library's own; it is the only place from which that can be reached.
func init() { redirect(folder()) }

// folder is where compiled code may be kept: a folder that nobody but the user can write to, else
// one that cannot exist.
func folder() string {
	nowhere := filepath.Join(os.DevNull, "none")
	cache, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(cache) {
		return nowhere
	}
	own := filepath.Join(cache, "kubectl-dopolicy", "draw")
	if os.MkdirAll(own, 0o700) != nil || os.Chmod(own, 0o700) != nil {
		return nowhere
	}
	if !ours(own) || !ours(filepath.Dir(own)) {
		return nowhere
	}
	return own
}

// redirect names the folder for temporary files on every system.
func redirect(folder string) {
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		// It fails for names and values that the system cannot hold; these are none.
		_ = os.Setenv(name, folder)
	}
}
