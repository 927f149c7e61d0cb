package input

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// stdinName is how origins name standard input.
const stdinName = "stdin"

// File is one file to read.
type File struct {
	Path     string    // what to open; empty for standard input
	Name     string    // as the user would type it, with forward slashes
	Named    bool      // given by its own name rather than found in a folder
	Content  *TextFile // what is in it, if that is known
	RealPath string    // the path without links; empty for standard input
	LeavesAt string    // the folder that it was found in, if it is a link that leads out of that: it is not read
}

// Folder is a folder of the input.
type Folder struct{ Path, Name string }

// TextFile is one file of an input that was read elsewhere.
type TextFile struct {
	Name    string // as origins name it
	Content []byte
	Size    int64 // where Content was not read because it is too large
	Named   bool  // given by its own name rather than found in a folder
}

// documentFile returns how the documents of the file call it.
func (s File) documentFile() document.File { return document.File{Name: s.Name, Named: s.Named} }

// Finder collects the files of an input, each once, in the order in which they are reached.
type Finder struct {
	recursive           bool
	root                string // the named folder whose files are being collected
	SeparateDeployments bool   // kustomizations and charts are kept apart from manifests
	Files               []File
	indexByPath         map[string]int // by the real path

	KustomizedFolders, ChartFolders []Folder
}

// Find lists the files that the paths stand for. It fails on a path that is missing and on a folder
// without manifests.
func Find(paths []string, recursive, render bool) (*Finder, error) {
	f := &Finder{recursive: recursive, SeparateDeployments: render, indexByPath: map[string]int{}}
	for _, p := range paths {
		if err := f.addPath(p); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *Finder) addPath(p string) error {
	if p == "-" {
		f.addFile(File{Name: stdinName, Named: true})
		return nil
	}
	name := filepath.ToSlash(filepath.Clean(p))
	info, err := os.Stat(p)
	switch {
	case err != nil && (strings.HasPrefix(p, "http://") || strings.HasPrefix(p, "https://")):
		return &document.Error{What: p, Err: errors.New("addresses are not read"),
			Hint: "download it first, or pipe it in with -f -"}
	case err != nil:
		return document.PathError(name, err)
	case !info.IsDir():
		f.addFile(File{Path: p, Name: name, Named: true})
		return nil
	}
	f.root = p
	found, err := f.addFolder(p, name)
	if err != nil {
		return err
	}
	if !found {
		return &document.Error{What: name, Err: errors.New("the folder holds no manifests"),
			Hint: emptyFolderHint(p, f.recursive)}
	}
	return nil
}

// addFile adds a file unless it was reached before. A file that is once given by name counts as
// given by name; one that is reached without a link out of a folder is read.
func (f *Finder) addFile(s File) {
	key := RealPath(s.Path)
	if i, seen := f.indexByPath[key]; seen {
		if known := &f.Files[i]; known.LeavesAt != "" && s.LeavesAt == "" {
			known.Path, known.Name, known.LeavesAt = s.Path, s.Name, ""
		}
		f.Files[i].Named = f.Files[i].Named || s.Named
		return
	}
	f.indexByPath[key], s.RealPath = len(f.Files), key
	f.Files = append(f.Files, s)
}

// addFolder adds the manifests of a folder by name, and those of its sub-folders if asked to.
// Files whose names begin with a dot are read, as kubectl does; links to folders are not followed, so
// nothing is reached in a circle.
// It reports whether there was any manifest.
func (f *Finder) addFolder(dir, name string) (found bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, document.PathError(name, err)
	}
	if f.SeparateDeployments && slices.ContainsFunc(entries, isChartFile) {
		f.ChartFolders = append(f.ChartFolders, Folder{dir, name})
		return true, nil
	}
	for _, e := range entries {
		p, n := filepath.Join(dir, e.Name()), path.Join(name, e.Name())
		var here bool
		switch {
		case e.IsDir() && e.Name() == gitFolder:
		case e.IsDir():
			here, err = f.addSubfolder(p, n)
		case f.SeparateDeployments && IsKustomization(e.Name()):
			here = true
			if last := len(f.KustomizedFolders) - 1; last < 0 || f.KustomizedFolders[last].Name != name {
				f.KustomizedFolders = append(f.KustomizedFolders, Folder{dir, name})
			}
		case IsManifest(e.Name()):
			here = f.addManifest(e, p, n)
		}
		if err != nil {
			return found, err
		}
		found = found || here
	}
	return found, nil
}

func (f *Finder) addSubfolder(dir, name string) (bool, error) {
	if !f.recursive {
		return false, nil
	}
	if _, err := os.ReadDir(dir); errors.Is(err, fs.ErrPermission) {
		f.addFile(File{Path: dir, Name: name}) // which the reader reports
		return true, nil
	}
	return f.addFolder(dir, name)
}

// addManifest adds a manifest that was found in a folder. A link leads to a file of the named folder,
// or is not read: whoever may write to the folder need not be allowed to read what is beside it.
// Pipes and devices are not manifests: reading one could wait forever. What cannot be looked at is
// left to the reader to report.
func (f *Finder) addManifest(e fs.DirEntry, p, name string) bool {
	file := File{Path: p, Name: name}
	info, err := os.Stat(p)
	isLink := e.Type()&fs.ModeSymlink != 0
	switch {
	case err == nil && info.IsDir():
		return false
	case err == nil && isLink && !IsInside(f.root, p):
		file.LeavesAt = filepath.ToSlash(filepath.Clean(f.root))
	case err == nil && !info.Mode().IsRegular():
		return false
	}
	f.addFile(file)
	return true
}

func isChartFile(e fs.DirEntry) bool { return e.Name() == "Chart.yaml" && !e.IsDir() }

// IsKustomization reports whether a file of that name is a kustomization.
func IsKustomization(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), name)
}

// gitFolder is what a repository is in: it holds no manifests.
const gitFolder = ".git"

// IsHidden reports whether the name of a file or folder begins with a dot.
func IsHidden(name string) bool { return strings.HasPrefix(name, ".") }

// IsManifest reports whether a file of that name is read when it is found in a folder.
func IsManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// emptyFolderHint says what to do about a folder without manifests.
func emptyFolderHint(dir string, recursive bool) string {
	const files = "manifests are files that end in .yaml, .yml or .json"
	if recursive {
		return files
	}
	below := false
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case p != dir && e.Name() == gitFolder && e.IsDir():
			return fs.SkipDir
		case !e.IsDir() && IsManifest(e.Name()):
			below = true
			return fs.SkipAll
		}
		return nil
	})
	if below {
		return "its sub-folders hold some: add -R"
	}
	return files
}
