package gitops

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// pathPattern picks paths, or takes out what another one picks.
type pathPattern struct {
	path    string
	exclude bool
}

func parsePatterns(from any, field string) (out []pathPattern) {
	list, _ := model.Get(from, field).([]any)
	for _, p := range list {
		exclude, _ := model.Get(p, "exclude").(bool)
		out = append(out, pathPattern{path: model.Text(p, "path"), exclude: exclude})
	}
	return out
}

// isPicked reports whether patterns pick what some of them match.
func isPicked(list []pathPattern, match func(pathPattern) bool) bool {
	picked := false
	for _, p := range list {
		if match(p) {
			if p.exclude {
				return false
			}
			picked = true
		}
	}
	return picked
}

// folderListing is what is below a root of paths, hidden folders and what is in them aside.
type folderListing struct{ folders, files []string }

// listFolder lists what is below a root of paths, once.
func (r *workspace) listFolder(t pathRoot) folderListing {
	root := t.dir.String()
	if known, ok := r.listings[root]; ok {
		return known
	}
	var out folderListing
	_ = filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		below, failed := filepath.Rel(root, at)
		switch {
		case err != nil || failed != nil || below == ".":
			return nil
		case e.IsDir() && input.IsHidden(e.Name()):
			return fs.SkipDir
		case e.IsDir():
			out.folders = append(out.folders, filepath.ToSlash(below))
		case e.Type().IsRegular():
			out.files = append(out.files, filepath.ToSlash(below))
		}
		return nil
	})
	if r.listings == nil {
		r.listings = map[string]folderListing{}
	}
	r.listings[root] = out
	return out
}

// pickFolders returns the folders of the repository that patterns pick, from the first place where
// there are any.
func (g appSetGenerator) pickFolders(roots []pathRoot, list []pathPattern) ([]string, error) {
	for _, t := range roots {
		var out []string
		folders := g.workspace.listFolder(t).folders
		if err := g.template.countValues(len(folders) * len(list) / 10); err != nil {
			return nil, err
		}
		for _, below := range folders {
			if isPicked(list, func(p pathPattern) bool {
				ok, _ := path.Match(strings.TrimPrefix(p.path, "/"),
					below)
				return ok
			}) {
				out = append(out, below)
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}

// pickFiles returns the files below a root of paths that patterns pick, in which * stands for
// slashes too.
func (g appSetGenerator) pickFiles(t pathRoot, list []pathPattern) (out []string, err error) {
	globs := map[string]*regexp.Regexp{}
	for _, p := range list {
		globs[p.path] = compileGlob(p.path)
	}
	files := g.workspace.listFolder(t).files
	if err := g.template.countValues(len(files) * len(list) / 10); err != nil {
		return nil, err
	}
	for _, below := range files {
		if isPicked(list, func(p pathPattern) bool { re := globs[p.path]; return re != nil && re.MatchString(below) }) {
			out = append(out, below)
		}
	}
	return out, nil
}
