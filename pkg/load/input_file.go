package load

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"sigs.k8s.io/kustomize/api/konfig"
)

// stdinName is how origins name standard input.
const stdinName = "stdin"

// inputFile is one file to read.
type inputFile struct {
	path     string    // what to open; empty for standard input
	name     string    // as the user would type it, with forward slashes
	named    bool      // given by its own name rather than found in a folder
	content  *TextFile // what is in it, if that is known
	realPath string    // the path without links; empty for standard input
}

// inputFolder is a folder of the input.
type inputFolder struct{ path, name string }

// TextFile is one file of an input that was read elsewhere.
type TextFile struct {
	Name    string // as origins name it
	Content []byte
	Size    int64 // where Content was not read because it is too large
	Named   bool  // given by its own name rather than found in a folder
}

// sourceFile returns how the documents of the file call it.
func (s inputFile) sourceFile() sourceFile { return sourceFile{name: s.name, named: s.named} }

// fileFinder collects the files of an input, each once, in the order in which they are reached.
type fileFinder struct {
	recursive           bool
	separateDeployments bool // kustomizations and charts are kept apart from manifests
	files               []inputFile
	indexByPath         map[string]int // by the real path

	kustomizedFolders, chartFolders []inputFolder
}

// findFiles lists the files that the paths stand for. It fails on a path that is missing and on a folder without manifests.
func findFiles(paths []string, recursive, render bool) (*fileFinder, error) {
	f := &fileFinder{recursive: recursive, separateDeployments: render, indexByPath: map[string]int{}}
	for _, p := range paths {
		if err := f.addPath(p); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *fileFinder) addPath(p string) error {
	if p == "-" {
		f.addFile(inputFile{name: stdinName, named: true})
		return nil
	}
	name := filepath.ToSlash(filepath.Clean(p))
	info, err := os.Stat(p)
	switch {
	case err != nil && (strings.HasPrefix(p, "http://") || strings.HasPrefix(p, "https://")):
		return &document.Error{What: p, Err: errors.New("addresses are not read"), Hint: "download it first, or pipe it in with -f -"}
	case err != nil:
		return document.PathError(name, err)
	case !info.IsDir():
		f.addFile(inputFile{path: p, name: name, named: true})
		return nil
	}
	found, err := f.addFolder(p, name)
	if err != nil {
		return err
	}
	if !found {
		return &document.Error{What: name, Err: errors.New("the folder holds no manifests"), Hint: emptyFolderHint(p, f.recursive)}
	}
	return nil
}

// addFile adds a file unless it was reached before. A file that is once given by name counts as
// given by name.
func (f *fileFinder) addFile(s inputFile) {
	key := realPath(s.path)
	if i, seen := f.indexByPath[key]; seen {
		f.files[i].named = f.files[i].named || s.named
		return
	}
	f.indexByPath[key], s.realPath = len(f.files), key
	f.files = append(f.files, s)
}

// addFolder adds the manifests of a folder by name, and those of its sub-folders if asked to. Hidden entries are skipped;
// links to folders are not followed, so nothing is reached in a circle. It reports whether there was any manifest.
func (f *fileFinder) addFolder(dir, name string) (found bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, document.PathError(name, err)
	}
	if f.separateDeployments && slices.ContainsFunc(entries, isChartFile) {
		f.chartFolders = append(f.chartFolders, inputFolder{dir, name})
		return true, nil
	}
	for _, e := range entries {
		p, n := filepath.Join(dir, e.Name()), path.Join(name, e.Name())
		var here bool
		switch {
		case isHidden(e.Name()):
		case e.IsDir():
			here, err = f.addSubfolder(p, n)
		case f.separateDeployments && isKustomization(e.Name()):
			here = true
			if last := len(f.kustomizedFolders) - 1; last < 0 || f.kustomizedFolders[last].name != name {
				f.kustomizedFolders = append(f.kustomizedFolders, inputFolder{dir, name})
			}
		case isManifest(e.Name()):
			here, err = f.addManifest(p, n)
		}
		if err != nil {
			return found, err
		}
		found = found || here
	}
	return found, nil
}

func (f *fileFinder) addSubfolder(dir, name string) (bool, error) {
	if !f.recursive {
		return false, nil
	}
	return f.addFolder(dir, name)
}

// addManifest adds a manifest that was found in a folder. Pipes and devices are not manifests:
// reading one could wait forever.
func (f *fileFinder) addManifest(p, name string) (bool, error) {
	info, err := os.Stat(p)
	if err != nil {
		return false, document.PathError(name, err)
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	f.addFile(inputFile{path: p, name: name})
	return true, nil
}

func isChartFile(e fs.DirEntry) bool { return e.Name() == "Chart.yaml" && !e.IsDir() }

// isKustomization reports whether a file of that name is a kustomization.
func isKustomization(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), name)
}

// realPath tells files apart: the absolute path without links, or as much of that as can be found out.
func realPath(p string) string {
	if p == "" {
		return ""
	}
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	if resolved, err := filepath.EvalSymlinks(p); err == nil {
		p = resolved
	}
	return p
}

// isHidden reports whether a file or folder of that name is left out of an input.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// isManifest reports whether a file of that name is read when it is found in a folder.
func isManifest(name string) bool {
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
		case p != dir && isHidden(e.Name()) && e.IsDir():
			return fs.SkipDir
		case !e.IsDir() && !isHidden(e.Name()) && isManifest(e.Name()):
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
