package load

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// folder is one that holds a kustomization.
type folder struct {
	k     *kustomization
	names []string // real paths of the folders that it names
	part  bool     // another kustomization names it
}

func (f *folder) component() bool { return f.k.Kind == types.ComponentKind }

// place is a folder of the input.
type place struct{ path, name string }

// land is the folders of an input: what they hold, and where paths count from.
type land struct {
	walk    *walk // of which every build has another
	tops    []top
	folders map[string]*folder // those with a kustomization, by their real path
	chartAt map[string]*chart  // by the real path of the folder
	used    map[string]bool    // real paths of the files that kustomizations name
	taken   map[string]bool    // real paths of the folders with such files
	listed  map[string]paths   // what is below a top, as generators of ApplicationSets see it
	putIn   int                // how many values these went through
}

// survey reads the kustomizations among the folders, and notes what they name.
func (r *land) survey(ctx context.Context, f *finder) error {
	for _, at := range f.charts {
		dir, err := filesys.ConfirmDir(r.walk.disk, at.path)
		if err != nil {
			return pathError(at.name, err)
		}
		r.chartAt[dir.String()] = &chart{dir: dir, name: at.name}
	}
	for _, at := range f.kustomized {
		dir, err := filesys.ConfirmDir(r.walk.disk, at.path)
		if err != nil {
			return pathError(at.name, err)
		}
		one := &folder{k: &kustomization{dir: dir, name: at.name}}
		// What is wrong with it is told when it is built.
		if err := r.walk.open(ctx, one.k); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		r.folders[dir.String()] = one
		r.taken[dir.String()] = true
		for _, e := range one.k.entries() {
			r.note(one, e)
		}
		for _, c := range one.k.HelmCharts {
			if chart := r.chartAt[realPath(one.k.dir.Join(one.k.chartPath(c)))]; chart != nil {
				chart.reached = true
			}
			for _, file := range append(c.AdditionalValuesFiles, c.ValuesFile) {
				r.note(one, entry{role: asData, in: one.k, text: file})
			}
		}
	}
	for _, f := range r.folders {
		for _, dir := range f.names {
			if part := r.folders[dir]; part != nil {
				part.part = true
			}
		}
	}
	return nil
}

// note notes the file or folder that an entry of a kustomization names.
func (r *land) note(f *folder, e entry) {
	text := e.text
	switch e.role {
	case asLiteral, asInline, asChart:
		return
	case asData:
		if _, file, found := strings.Cut(text, "="); found {
			text = file
		}
	}
	if text == "" || strings.Contains(text, "\n") || remote(text) {
		return
	}
	if !filepath.IsAbs(text) {
		text = f.k.dir.Join(text)
	}
	dir, file, err := r.walk.disk.CleanedAbs(text)
	switch {
	case err != nil:
	case file == "":
		f.names = append(f.names, dir.String())
	default:
		r.used[dir.Join(file)] = true
		r.taken[dir.String()] = true
	}
}

// scanUsed looks for leads in the files that kustomizations name. They may be changed before they are deployed; where they lead seldom is.
func (r *repo) scanUsed(ctx context.Context) error {
	for _, real := range slices.Sorted(maps.Keys(r.used)) {
		if !isManifest(real) {
			continue
		}
		s := spot{dir: filesys.ConfirmedDir(filepath.Dir(real)), file: filepath.Base(real), name: r.nameOf(real)}
		text, err := r.walk.read(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // which is told when it is built
			continue
		}
		for _, p := range split(source{name: s.name}, text) {
			p.real = real
			r.found = append(r.found, r.leads(p)...)
		}
	}
	return nil
}

// roots are the kustomizations that are built because nothing leads to them.
func (r *repo) roots() []*folder {
	var out []*folder
	for _, dir := range slices.Sorted(maps.Keys(r.folders)) {
		if f := r.folders[dir]; !f.part && !f.component() && !r.claims.hold(dir) {
			out = append(out, f)
		}
	}
	return out
}

// circles builds kustomizations that only name each other. That fails, and says why.
func (r *repo) circles(ctx context.Context) error {
	met := map[string]bool{}
	var meet func(dir string)
	meet = func(dir string) {
		f := r.folders[dir]
		if f == nil || met[dir] {
			return
		}
		met[dir] = true
		for _, next := range f.names {
			meet(next)
		}
	}
	dirs := slices.Sorted(maps.Keys(r.folders))
	for _, dir := range dirs {
		if f := r.folders[dir]; !f.part || f.component() || r.claims.hold(dir) {
			meet(dir)
		}
	}
	for _, dir := range dirs {
		if met[dir] {
			continue
		}
		meet(dir)
		f := r.folders[dir]
		if err := r.built(ctx, order{dir: f.k.dir, name: f.k.name}); err != nil {
			return err
		}
	}
	return nil
}

// claims are real paths of folders that are read because something leads there.
type claims map[string]bool

// hold reports whether a folder is one of them, or in one.
func (c claims) hold(dir string) bool {
	for {
		if c[dir] {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// kustomizationIn is the kustomization file in a folder, "" if there is none.
func (r *land) kustomizationIn(dir filesys.ConfirmedDir) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if at := dir.Join(name); r.walk.disk.Exists(at) && !r.walk.disk.IsDir(at) {
			return at
		}
	}
	return ""
}

// generated is the kustomization of a folder that has none: all manifests in it and below, where folders with a kustomization stand for themselves.
func (r *land) generated(dir filesys.ConfirmedDir) (*types.Kustomization, error) {
	k := &types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind}}
	var list func(below string) error
	list = func(below string) error {
		entries, err := r.walk.disk.ReadDir(dir.Join(below))
		if err != nil {
			return err
		}
		for _, name := range entries {
			at := filepath.Join(below, name)
			switch full := filesys.ConfirmedDir(dir.Join(at)); {
			case hidden(name):
			case !r.walk.disk.IsDir(full.String()):
				if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
					k.Resources = append(k.Resources, "./"+filepath.ToSlash(at))
				}
			case r.kustomizationIn(full) != "":
				k.Resources = append(k.Resources, "./"+filepath.ToSlash(at))
			case realPath(full.String()) != full.String(): // a link is not followed
			default:
				if err := list(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := list(".")
	return k, err
}

// tell says what was left out.
func (r *repo) tell() {
	r.in.problems = append(r.in.problems, r.remarks...)
	for _, o := range r.omitted {
		o.which = slices.DeleteFunc(o.which, func(which fmt.Stringer) bool {
			l, led := which.(*lead)
			return led && r.aside(l)
		})
		if len(o.which) == 0 { // it is for another cluster than the one that is asked about
			continue
		}
		r.in.problems = append(r.in.problems, o.problem())
	}
	if p := r.several(&r.known); p != nil {
		r.in.problems = append(r.in.problems, *p)
	}
	if r.left > 0 {
		r.in.problems = append(r.in.problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Message: counted(r.left, "manifest is", "manifests are") + " not read: the kustomization of the folder does not name " + map[bool]string{true: "it", false: "them"}[r.left == 1],
			Hint:    "kustomize does not deploy them; name them under resources if they are to be"})
	}
	if idle := r.unreached(); len(idle) > 0 {
		o := &omission{kind: idle[0].kind, why: "nothing that is read leads to it", info: true}
		for _, l := range idle {
			o.which = append(o.which, l)
		}
		r.in.problems = append(r.in.problems, o.problem())
	}
}
