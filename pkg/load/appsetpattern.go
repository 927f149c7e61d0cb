package load

import (
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// pattern picks paths, or takes out what another one picks.
type pattern struct {
	path    string
	exclude bool
}

func patterns(from any, field string) (out []pattern) {
	list, _ := model.Get(from, field).([]any)
	for _, p := range list {
		exclude, _ := model.Get(p, "exclude").(bool)
		out = append(out, pattern{path: model.Text(p, "path"), exclude: exclude})
	}
	return out
}

// pick reports whether patterns pick what some of them match.
func pick(list []pattern, match func(pattern) bool) bool {
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

// paths are what is below a top, hidden folders and what is in them aside.
type paths struct{ folders, files []string }

// below lists a top, once.
func (r *land) below(t top) paths {
	root := t.dir.String()
	if known, ok := r.listed[root]; ok {
		return known
	}
	var out paths
	_ = filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		below, failed := filepath.Rel(root, at)
		switch {
		case err != nil || failed != nil || below == ".":
			return nil
		case e.IsDir() && hidden(e.Name()):
			return fs.SkipDir
		case e.IsDir():
			out.folders = append(out.folders, filepath.ToSlash(below))
		case e.Type().IsRegular():
			out.files = append(out.files, filepath.ToSlash(below))
		}
		return nil
	})
	if r.listed == nil {
		r.listed = map[string]paths{}
	}
	r.listed[root] = out
	return out
}

// directories are the folders of the repository that patterns pick, from the first place where there are any.
func (g generator) directories(list []pattern) ([]string, error) {
	for _, t := range g.land.tops {
		var out []string
		folders := g.land.below(t).folders
		if err := g.write.takes(len(folders) * len(list) / 10); err != nil {
			return nil, err
		}
		for _, below := range folders {
			if pick(list, func(p pattern) bool { ok, _ := path.Match(strings.TrimPrefix(p.path, "/"), below); return ok }) {
				out = append(out, below)
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, nil
}

// files are the files below a top that patterns pick, in which * stands for slashes too.
func (g generator) files(t top, list []pattern) (out []string, err error) {
	globs := map[string]*regexp.Regexp{}
	for _, p := range list {
		globs[p.path] = glob(p.path)
	}
	files := g.land.below(t).files
	if err := g.write.takes(len(files) * len(list) / 10); err != nil {
		return nil, err
	}
	for _, below := range files {
		if pick(list, func(p pattern) bool { re := globs[p.path]; return re != nil && re.MatchString(below) }) {
			out = append(out, below)
		}
	}
	return out, nil
}
