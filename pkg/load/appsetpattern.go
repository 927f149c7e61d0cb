package load

import (
	"io/fs"
	"path"
	"path/filepath"
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

// pick reports whether patterns pick a path.
func pick(list []pattern, at string, match func(pattern, at string) bool) bool {
	picked := false
	for _, p := range list {
		if match(p.path, at) {
			if p.exclude {
				return false
			}
			picked = true
		}
	}
	return picked
}

// directories are the folders of the repository that patterns pick, from the first place where there are any.
func (r *land) directories(list []pattern) []string {
	for _, t := range r.tops {
		var out []string
		_ = filepath.WalkDir(t.dir.String(), func(at string, e fs.DirEntry, err error) error {
			below, failed := filepath.Rel(t.dir.String(), at)
			switch {
			case err != nil || failed != nil || !e.IsDir():
				return nil
			case below == ".":
				return nil
			case hidden(e.Name()):
				return fs.SkipDir
			}
			below = filepath.ToSlash(below)
			if pick(list, below, func(pattern, at string) bool { ok, _ := path.Match(strings.TrimPrefix(pattern, "/"), at); return ok }) {
				out = append(out, below)
			}
			return nil
		})
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// files are the files below a top that patterns pick, in which * stands for slashes too.
func (t top) files(list []pattern) (out []string) {
	_ = filepath.WalkDir(t.dir.String(), func(at string, e fs.DirEntry, err error) error {
		below, failed := filepath.Rel(t.dir.String(), at)
		switch {
		case err != nil || failed != nil:
			return nil
		case e.IsDir() && below != "." && hidden(e.Name()):
			return fs.SkipDir
		case e.Type().IsRegular() && pick(list, filepath.ToSlash(below), func(pattern, at string) bool { re := glob(pattern); return re != nil && re.MatchString(at) }):
			out = append(out, filepath.ToSlash(below))
		}
		return nil
	})
	return out
}
