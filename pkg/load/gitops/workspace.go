package gitops

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// kustomizedFolder is a folder that holds a kustomization.
type kustomizedFolder struct {
	kustomization *kustomize.Kustomization
	namedFolders  []string // real paths of the folders that it names
	namedFiles    []string // real paths of the files that it names
	isNamed       bool     // another kustomization names it
}

func (f *kustomizedFolder) isComponent() bool { return f.kustomization.Kind == types.ComponentKind }

// workspace is the folders of an input: what they hold, and where paths count from.
type workspace struct {
	fileSystem   filesys.FileSystem
	walk         *kustomize.Walk // reads what kustomizations name, and builds them
	limits       document.Limits
	pathRoots    []pathRoot
	folders      map[string]*kustomizedFolder // those with a kustomization, by their real path
	chartsByPath map[string]*chart            // by the real path of the folder
	usedFiles    map[string]bool              // real paths of the files that kustomizations name
	usedFolders  map[string]bool              // real paths of the folders with such files
	listings     map[string]folderListing     // what is below a top, as generators of ApplicationSets see it
	located      map[string]locatedFolder     // by the path that was looked for
	valuesUsed   int                          // how many values generators have used
}

func newWorkspace(walk *kustomize.Walk, limits document.Limits) workspace {
	return workspace{fileSystem: filesys.MakeFsOnDisk(), walk: walk, limits: limits,
		folders: map[string]*kustomizedFolder{}, chartsByPath: map[string]*chart{},
		usedFiles: map[string]bool{}, usedFolders: map[string]bool{}, located: map[string]locatedFolder{}}
}

// readKustomizations reads the kustomizations among the folders, and notes what they name.
func (r *workspace) readKustomizations(ctx context.Context, f *input.Finder) error {
	for _, at := range f.ChartFolders {
		dir, err := filesys.ConfirmDir(r.fileSystem, at.Path)
		if err != nil {
			return document.PathError(at.Name, err)
		}
		r.chartsByPath[dir.String()] = &chart{dir: dir, name: at.Name}
	}
	for _, at := range f.KustomizedFolders {
		dir, err := filesys.ConfirmDir(r.fileSystem, at.Path)
		if err != nil {
			return document.PathError(at.Name, err)
		}
		k, err := r.walk.OpenFolder(ctx, dir, at.Name)
		if err != nil {
			return err
		}
		one := &kustomizedFolder{kustomization: k}
		r.folders[dir.String()] = one
		r.usedFolders[dir.String()] = true
		for _, named := range k.NamedPaths() {
			r.recordNamedPath(one, named)
		}
		for _, folder := range k.ChartFolders() {
			if chart := r.chartsByPath[input.RealPath(folder)]; chart != nil {
				chart.reached = true
			}
		}
	}
	for _, f := range r.folders {
		for _, dir := range f.namedFolders {
			if part := r.folders[dir]; part != nil {
				part.isNamed = true
			}
		}
	}
	return nil
}

// recordNamedPath notes the file or folder at a path that a kustomization names.
func (r *workspace) recordNamedPath(f *kustomizedFolder, named string) {
	dir, file, err := r.fileSystem.CleanedAbs(named)
	switch {
	case err != nil:
	case file == "":
		f.namedFolders = append(f.namedFolders, dir.String())
	default:
		f.namedFiles = append(f.namedFiles, dir.Join(file))
		r.usedFiles[dir.Join(file)] = true
		r.usedFolders[dir.String()] = true
	}
}

// scanUsedFiles looks for sources in the files that kustomizations name. They may be changed before
// they are deployed; where they lead seldom is.
func (r *renderer) scanUsedFiles(ctx context.Context) error {
	for _, real := range slices.Sorted(maps.Keys(r.workspace.usedFiles)) {
		if !input.IsManifest(real) {
			continue
		}
		s := kustomize.FileLocation{Dir: filesys.ConfirmedDir(filepath.Dir(real)), File: filepath.Base(real),
			Name: r.workspace.displayName(real)}
		text, err := r.workspace.walk.ReadFile(ctx, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // which is reported when it is built
			continue
		}
		r.noteObjects(real, text)
		for _, p := range document.Split(document.File{Name: s.Name}, text) {
			p.RealPath = real
			r.foundSources = append(r.foundSources, r.findSources(p)...)
		}
	}
	return nil
}

// rootKustomizations returns the kustomizations that are built because nothing leads to them.
func (r *renderer) rootKustomizations() []*kustomizedFolder {
	var out []*kustomizedFolder
	for _, dir := range slices.Sorted(maps.Keys(r.workspace.folders)) {
		if f := r.workspace.folders[dir]; !f.isNamed && !f.isComponent() && !r.targetFolders.hasFolder(dir) &&
			!r.isOfOtherCluster(dir) && !r.isFolderLeftOut(dir) {
			out = append(out, f)
		}
	}
	return out
}

// buildCircularKustomizations builds kustomizations that only name each other. That fails, and says
// why.
func (r *renderer) buildCircularKustomizations(ctx context.Context) error {
	met := map[string]bool{}
	var meet func(dir string)
	meet = func(dir string) {
		f := r.workspace.folders[dir]
		if f == nil || met[dir] {
			return
		}
		met[dir] = true
		for _, next := range f.namedFolders {
			meet(next)
		}
	}
	dirs := slices.Sorted(maps.Keys(r.workspace.folders))
	for _, dir := range dirs {
		if f := r.workspace.folders[dir]; !f.isNamed || f.isComponent() || r.targetFolders.hasFolder(dir) {
			meet(dir)
		}
	}
	for _, dir := range dirs {
		if met[dir] || r.isFolderLeftOut(dir) {
			continue
		}
		meet(dir)
		f := r.workspace.folders[dir]
		if err := r.buildAndAdd(ctx, buildRequest{dir: f.kustomization.Dir, name: f.kustomization.Name}); err != nil {
			return err
		}
	}
	return nil
}

// folderSet is a set of folders, by their real paths: those with everything below them, and others,
// for which it holds false.
type folderSet map[string]bool

// addFolder adds a folder, with everything below it or without.
func (c folderSet) addFolder(dir string, withBelow bool) { c[dir] = c[dir] || withBelow }

// hasFolder reports whether a folder is in the set, or lies in one that is there with everything
// below it.
func (c folderSet) hasFolder(dir string) bool {
	if _, there := c[dir]; there {
		return true
	}
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

// findKustomizationFile returns the kustomization file in a folder, "" if there is none.
func (r *workspace) findKustomizationFile(dir filesys.ConfirmedDir) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if at := dir.Join(name); r.fileSystem.Exists(at) && !r.fileSystem.IsDir(at) {
			return at
		}
	}
	return ""
}

// generateKustomization returns the kustomization of a folder that has none: all manifests in it
// and below, where folders with a kustomization stand for themselves.
func (r *workspace) generateKustomization(dir filesys.ConfirmedDir) (*types.Kustomization, error) {
	k := &types.Kustomization{TypeMeta: types.TypeMeta{APIVersion: types.KustomizationVersion,
		Kind: types.KustomizationKind}}
	var list func(below string) error
	list = func(below string) error {
		entries, err := r.fileSystem.ReadDir(dir.Join(below))
		if err != nil {
			return err
		}
		for _, name := range entries {
			at := filepath.Join(below, name)
			switch full := filesys.ConfirmedDir(dir.Join(at)); {
			case input.IsHidden(name):
			case !r.fileSystem.IsDir(full.String()):
				if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
					k.Resources = append(k.Resources, "./"+filepath.ToSlash(at))
				}
			case r.findKustomizationFile(full) != "":
				k.Resources = append(k.Resources, "./"+filepath.ToSlash(at))
			case input.RealPath(full.String()) != full.String(): // a link is not followed
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

// addOmissionProblems says what was left out.
func (r *renderer) addOmissionProblems(files []input.File) {
	r.reader.Problems = append(r.reader.Problems, r.omissions.remarks...)
	for _, o := range r.omissions.omitted {
		o.sources = slices.DeleteFunc(o.sources, func(which deployer) bool {
			l, led := which.(*gitopsSource)
			return led && r.destinations.isElsewhere(l)
		})
		if len(o.sources) == 0 { // it is for another cluster than the one that is asked about
			continue
		}
		r.reader.Problems = append(r.reader.Problems, o.toProblem())
		r.addOmissions(o)
	}
	if p := r.destinations.severalClustersProblem(&r.index); p != nil {
		r.reader.Problems = append(r.reader.Problems, *p)
	}
	for _, g := range r.clusters {
		if p := g.toProblem(&r.workspace); p != nil {
			r.reader.Problems = append(r.reader.Problems, *p)
		}
	}
	r.addUnusedManifests()
	r.addLeftOut(files)
	idle := slices.DeleteFunc(r.unfollowedSources(),
		func(l *gitopsSource) bool { // something may have patched it, or deploys it to another cluster
			return r.reader.Followed[l.toFollower()] || r.otherFiles[l.file]
		})
	if len(idle) > 0 {
		o := &omission{kind: idle[0].kind, why: "nothing that is read leads to it", informative: true}
		for _, l := range idle {
			o.sources = append(o.sources, l)
		}
		r.reader.Problems = append(r.reader.Problems, o.toProblem())
		o.sources = slices.DeleteFunc(o.sources, func(which deployer) bool {
			l, led := which.(*gitopsSource) // that a kustomization leaves out, it leaves out for good
			return led && l.file != "" && (r.deployments.isInScope(l.file) ||
				!r.workspace.usedFiles[l.file] && r.workspace.usedFolders[filepath.Dir(l.file)])
		})
		r.addOmissions(o)
	}
}

// addOmissions notes what the sources that were not rendered would make.
func (r *renderer) addOmissions(o *omission) {
	if o.isWhole {
		return
	}
	for _, l := range o.sources {
		r.reader.Omissions = append(r.reader.Omissions, model.Omission{By: l.String(), Why: o.explainOmission(),
			Namespace: l.targetNamespace(), Kinds: o.kindsOf[l]})
	}
}
