package load

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
)

// stdinName is how origins name standard input.
const stdinName = "stdin"

// source is one file to read.
type source struct {
	path  string // what to open; empty for standard input
	name  string // as the user would type it, with forward slashes
	named bool   // given by its own name rather than found in a folder
	text  *Text  // what is in it, if that is known
	real  string // the path without links; empty for standard input
}

// finder collects the files of an input, each once, in the order in which they are reached.
type finder struct {
	recursive bool
	render    bool // kustomizations and charts are told apart from manifests
	sources   []source
	at        map[string]int // by the real path

	kustomized, charts []place
}

// find lists the files that the paths stand for. It fails on a path that is missing and on a folder without manifests.
func find(paths []string, recursive, render bool) (*finder, error) {
	f := &finder{recursive: recursive, render: render, at: map[string]int{}}
	for _, p := range paths {
		if err := f.add(p); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *finder) add(p string) error {
	if p == "-" {
		f.put(source{name: stdinName, named: true})
		return nil
	}
	name := filepath.ToSlash(filepath.Clean(p))
	info, err := os.Stat(p)
	switch {
	case err != nil && (strings.HasPrefix(p, "http://") || strings.HasPrefix(p, "https://")):
		return &Error{What: p, Err: errors.New("addresses are not read"), Hint: "download it first, or pipe it in with -f -"}
	case err != nil:
		return pathError(name, err)
	case !info.IsDir():
		f.put(source{path: p, name: name, named: true})
		return nil
	}
	found, err := f.folder(p, name)
	if err != nil {
		return err
	}
	if !found {
		return &Error{What: name, Err: errors.New("the folder holds no manifests"), Hint: emptyHint(p, f.recursive)}
	}
	return nil
}

// put adds s unless the same file has been reached before; a file once given by name counts as given by name.
func (f *finder) put(s source) {
	key := realPath(s.path)
	if i, seen := f.at[key]; seen {
		f.sources[i].named = f.sources[i].named || s.named
		return
	}
	f.at[key], s.real = len(f.sources), key
	f.sources = append(f.sources, s)
}

// folder adds the manifests of a folder by name, and those of its sub-folders if asked to. Hidden entries are skipped;
// links to folders are not followed, so nothing is reached in a circle. It reports whether there was any manifest.
func (f *finder) folder(dir, name string) (found bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, pathError(name, err)
	}
	if f.render && slices.ContainsFunc(entries, isChart) {
		f.charts = append(f.charts, place{dir, name})
		return true, nil
	}
	for _, e := range entries {
		p, n := filepath.Join(dir, e.Name()), path.Join(name, e.Name())
		var here bool
		switch {
		case hidden(e.Name()):
		case e.IsDir():
			here, err = f.below(p, n)
		case f.render && isKustomization(e.Name()):
			here = true
			if last := len(f.kustomized) - 1; last < 0 || f.kustomized[last].name != name {
				f.kustomized = append(f.kustomized, place{dir, name})
			}
		case isManifest(e.Name()):
			here, err = f.file(p, n)
		}
		if err != nil {
			return found, err
		}
		found = found || here
	}
	return found, nil
}

func (f *finder) below(dir, name string) (bool, error) {
	if !f.recursive {
		return false, nil
	}
	return f.folder(dir, name)
}

// file adds a manifest found in a folder. Pipes and devices are not manifests: reading one could wait forever.
func (f *finder) file(p, name string) (bool, error) {
	info, err := os.Stat(p)
	if err != nil {
		return false, pathError(name, err)
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	f.put(source{path: p, name: name})
	return true, nil
}

func isChart(e fs.DirEntry) bool { return e.Name() == "Chart.yaml" && !e.IsDir() }

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

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name))
}

// emptyHint says what to do about a folder without manifests.
func emptyHint(dir string, recursive bool) string {
	const files = "manifests are files that end in .yaml, .yml or .json"
	if recursive {
		return files
	}
	below := false
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case p != dir && hidden(e.Name()) && e.IsDir():
			return fs.SkipDir
		case !e.IsDir() && !hidden(e.Name()) && isManifest(e.Name()):
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
