package localfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
)

// ResolveRelative returns the path of a file or folder that another file names relative to itself;
// file is "" if the current folder counts. It lies, with all links followed, in the tree of the file
// that names it: whoever may write that file need not be allowed to read what else is there.
func ResolveRelative(file, name string) (string, error) {
	path := name
	if !filepath.IsAbs(name) && file != "" {
		path = filepath.Join(filepath.Dir(file), name)
	}
	return path, checkInside(treeOf(filepath.Dir(file)), path)
}

// checkFound returns an error if a file that was found is a link out of the tree that it is in.
func checkFound(name string) error { return checkInside(treeOf(filepath.Dir(name)), name) }

func checkInside(tree, path string) error {
	if input.IsInside(tree, path) {
		return nil
	}
	return &fs.PathError{Op: "read", Path: path, Err: errors.New(
		"it is outside of " + tree + ", and only the command line can name files elsewhere")}
}

// treeOf returns the folder that files in a folder may name files of: the git working tree that it
// lies in, else the current folder if it lies in that, else the folder itself.
func treeOf(folder string) string {
	folder = input.RealPath(folder)
	if top := input.FindWorkingTree(folder); top != "" {
		return top
	}
	here := input.RealPath(".")
	if here != filepath.Dir(here) && input.IsInside(here, folder) {
		return here
	}
	return folder
}

// OpenFolder returns the files of a folder: regular ones of bounded size, and no link that leads out.
func OpenFolder(name string) (fs.ReadFileFS, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return boundedFolder{root.FS(), root}, nil
}

// boundedFolder is a folder whose files are read within bounds.
type boundedFolder struct {
	fs.FS
	root *os.Root
}

// ReadFile implements fs.ReadFileFS.
func (f boundedFolder) ReadFile(name string) ([]byte, error) {
	info, err := f.root.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: name, Err: errNotRegular}
	}
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadLimited(file, name, maxSize)
}
