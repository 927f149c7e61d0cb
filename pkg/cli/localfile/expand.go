package localfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
)

// IsPattern reports whether a path is one that stands for several, and not that of a file with such
// a name.
func IsPattern(path string) bool {
	if begin := strings.IndexByte(path, '['); !strings.ContainsAny(path, "*?") &&
		(begin < 0 || !strings.Contains(path[begin:], "]")) {
		return false
	}
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// IsArchive reports whether a file is, by its name, the archive of a snapshot.
func IsArchive(path string) bool {
	return strings.HasSuffix(path, ".tgz") || strings.HasSuffix(path, ".tar.gz")
}

// Expand returns the files and folders that a path, a pattern or the content of a folder stands
// for.
func Expand(path string) ([]string, error) {
	if IsPattern(path) {
		found, err := filepath.Glob(path)
		switch {
		case err != nil:
			return nil, failure.Usage("the patterns are those of a shell: * ? [a-z]", "%s is not a pattern: %s", path,
				err)
		case len(found) == 0:
			return nil, failure.NoAnswer("no file matches "+path, "check the folder")
		}
		return found, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // reading the file reports the error
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, failure.NoAnswer(fmt.Sprintf("reading %s: %s", path, err), "")
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, ".") && (e.IsDir() || IsArchive(name) ||
			slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))) {
			file := filepath.Join(path, name)
			if err := checkEntry(path, file); err != nil {
				return nil, failure.NoAnswer(err.Error(), "take it out of the folder, or name the files that are meant")
			}
			out = append(out, file)
		}
	}
	if len(out) == 0 {
		return nil, failure.NoAnswer(path+" holds no snapshots or manifests", "their names end in .tgz, .yaml or .json")
	}
	return out, nil
}

// checkEntry returns an error for an entry of a folder that leads out of it, or that could be read
// for ever.
func checkEntry(folder, file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil: // reading the file reports the error
		return nil
	case !info.Mode().IsRegular() && !info.IsDir():
		return fmt.Errorf("reading %s: %w", file, errNotRegular)
	case !input.IsInside(folder, file):
		return fmt.Errorf("reading %s: it is a link that leads out of %s", file, folder)
	}
	return nil
}
