package gitops

import (
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// fileSet is a set of files, by their real paths.
type fileSet map[string]bool

// addFilesBehind adds the files that a build of a folder reads: those that its kustomization names,
// and the folders that this names. Of a folder without one it is all manifests in it and below.
func (r *workspace) addFilesBehind(dir string, to fileSet, met folderSet) {
	if met[dir] {
		return
	}
	met[dir] = true
	if f := r.folders[dir]; f != nil {
		for _, file := range f.namedFiles {
			to[file] = true
		}
		for _, next := range f.namedFolders {
			r.addFilesBehind(next, to, met)
		}
		return
	}
	if r.findKustomizationFile(filesys.ConfirmedDir(dir)) != "" { // it is not in the input
		return
	}
	made, err := r.generateKustomization(filesys.ConfirmedDir(dir))
	if err != nil { // which is reported when it is built
		return
	}
	for _, name := range made.Resources {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if r.fileSystem.IsDir(at) {
			r.addFilesBehind(input.RealPath(at), to, met)
		} else {
			to[input.RealPath(at)] = true
		}
	}
}

// deploysFile reports whether a source, or what an ApplicationSet makes, deploys what stands in a
// file.
func (r *renderer) deploysFile(l *gitopsSource, file string) bool {
	if l.files == nil {
		l.files = r.findDeployedFiles(l)
	}
	return file != "" && l.files[file]
}

// findDeployedFiles returns the files of the input that a source deploys, as far as they can be told
// without rendering.
func (r *renderer) findDeployedFiles(l *gitopsSource) fileSet {
	out := fileSet{}
	for _, app := range l.applications {
		for file := range r.findDeployedFiles(app) {
			out[file] = true
		}
	}
	met := folderSet{}
	repositories := l.sourceRepositories()
	for i, path := range l.sourcePaths() {
		dir, _, ok := r.locateInRepository(repositories[i], path)
		if !ok || !r.repositories.isLocal(repositories[i]) {
			continue
		}
		switch {
		case l.kind == fluxKustomization:
			r.workspace.addFilesBehind(dir.String(), out, met)
			r.addComponents(dir, l.listAt("spec", "components"), out, met)
		case l.kind == argoApplication:
			r.addApplicationFiles(l.pathSources()[i], dir, out, met)
		}
	}
	return out
}

// readsBelow reports whether what lies below the folder of a path of a source is for that source to
// deploy or not: an Application of a folder of manifests may not look there.
func (r *renderer) readsBelow(l *gitopsSource, i int, dir filesys.ConfirmedDir) bool {
	if l.kind != argoApplication {
		return true
	}
	source := l.pathSources()[i]
	recurse, _ := model.Get(source, "directory", "recurse").(bool)
	return recurse || r.isBuilt(source, dir) || r.isChart(source, dir)
}

// isChart reports whether Argo CD takes a folder for a chart.
func (r *renderer) isChart(source any, dir filesys.ConfirmedDir) bool {
	return model.Get(source, "helm") != nil || model.Get(source, "kustomize") == nil &&
		model.Get(source, "directory") == nil && r.workspace.fileSystem.Exists(dir.Join("Chart.yaml"))
}

// isBuilt reports whether Argo CD takes a folder that is no chart for a kustomization.
func (r *renderer) isBuilt(source any, dir filesys.ConfirmedDir) bool {
	return model.Get(source, "kustomize") != nil ||
		model.Get(source, "directory") == nil && r.workspace.findKustomizationFile(dir) != ""
}

// addApplicationFiles adds the files in a folder that a source of an Application deploys.
func (r *renderer) addApplicationFiles(source any, dir filesys.ConfirmedDir, to fileSet, met folderSet) {
	switch {
	case r.isChart(source, dir):
	case r.isBuilt(source, dir):
		r.workspace.addFilesBehind(dir.String(), to, met)
		list, _ := model.Get(source, "kustomize", "components").([]any)
		r.addComponents(dir, list, to, met)
	default:
		listed, err := listDirectory(dir, model.Get(source, "directory"))
		if err != nil { // which is reported when it is read
			return
		}
		for _, file := range listed.manifests {
			to[input.RealPath(file)] = true
		}
	}
}

// addComponents adds the files of components, whose paths count from a folder.
func (r *renderer) addComponents(dir filesys.ConfirmedDir, paths []any, to fileSet, met folderSet) {
	for _, c := range paths {
		if path, ok := c.(string); ok {
			r.workspace.addFilesBehind(input.RealPath(dir.Join(path)), to, met)
		}
	}
}

// sourcesBehind returns the sources among the idle ones that others lead to, through any of them.
func (r *renderer) sourcesBehind(next, idle []*gitopsSource) map[*gitopsSource]bool {
	out := map[*gitopsSource]bool{}
	for len(next) > 0 {
		var found []*gitopsSource
		for _, l := range idle {
			if !out[l] && slices.ContainsFunc(next,
				func(by *gitopsSource) bool { return by != l && r.deploysFile(by, l.file) }) {
				out[l], found = true, append(found, l)
			}
		}
		next = found
	}
	return out
}
