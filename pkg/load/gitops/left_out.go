package gitops

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// rootSources are the sources of one tool from which everything that it deploys begins.
type rootSources struct {
	roots []*gitopsSource
	scope string // the folder in which nothing is deployed but what they lead to
}

// deployments are what the root sources of an input lead to, as the files say it.
type deployments struct {
	tools       []rootSources
	reached     fileSet   // the files that sources deploy
	rootFolders folderSet // the folders in which root sources stand
	rootFiles   fileSet
	named       []string // folders and files that the user names, and that hold no root
}

// toolOf returns the tool whose object a source is; "" for what roots do not lead to.
func (l *gitopsSource) toolOf() string {
	switch l.kind {
	case fluxKustomization:
		return "flux"
	case argoApplication, argoApplicationSet:
		return "argo"
	}
	return ""
}

// findDeployments finds the root sources and what they lead to. Where a tool has none, as where it
// only deploys single folders, that does not tell what else is deployed.
func (r *renderer) findDeployments(files []input.File) {
	d := &deployments{reached: fileSet{}, rootFolders: folderSet{}, rootFiles: fileSet{}}
	for _, tool := range []string{"flux", "argo"} {
		all := slices.DeleteFunc(slices.Clone(r.foundSources),
			func(l *gitopsSource) bool { return l.toolOf() != tool || l.file == "" })
		for _, l := range all {
			r.deploysFile(l, l.file)
			maps.Copy(d.reached, l.files)
		}
		t := rootSources{roots: r.findRoots(all)}
		if len(t.roots) == 0 || r.mayLeadAnywhere(tool) {
			for _, l := range all { // the other tool does not tell what this one deploys
				d.rootFiles[l.file] = true
			}
			continue
		}
		var folders []string
		count := 0
		behind := r.sourcesBehind(t.roots, all)
		own := fileSet{}
		for _, l := range all {
			isRoot := slices.Contains(t.roots, l)
			if !isRoot && !behind[l] {
				continue
			}
			if isRoot {
				d.rootFolders[filepath.Dir(l.file)], d.rootFiles[l.file] = true, true
				folders = append(folders, filepath.Dir(l.file))
			}
			folders = append(folders, r.localFolders(l)...)
			maps.Copy(own, l.files)
		}
		for _, f := range files {
			if own[f.RealPath] {
				count++
			}
		}
		t.scope = commonFolder(folders)
		if 2*count > len(files) { // the input is what the tool deploys, and little else
			for _, from := range r.workspace.pathRoots {
				if (folderSet{from.dir.String(): true}).hasFolder(t.scope) {
					t.scope = from.dir.String()
					break
				}
			}
		}
		d.tools = append(d.tools, t)
	}
	for _, p := range r.options.Paths {
		real := input.RealPath(p)
		if p != "-" && !slices.ContainsFunc(slices.Collect(maps.Keys(d.rootFiles)),
			func(file string) bool { return (folderSet{real: true}).hasFolder(file) }) {
			d.named = append(d.named, real)
		}
	}
	// what is not deployed any more leads nowhere
	d.reached = fileSet{}
	for _, l := range r.foundSources {
		if l.toolOf() != "" && !d.isLeftOut(l.file) {
			maps.Copy(d.reached, l.files)
		}
	}
	r.deployments = d
}

// mayLeadAnywhere reports whether a tool has sources of which it is not known what they lead to.
func (r *renderer) mayLeadAnywhere(tool string) bool {
	return tool == "flux" && r.hasSourceTemplates || tool == "argo" &&
		slices.ContainsFunc(r.foundSources, func(l *gitopsSource) bool { return l.isPartlyKnown })
}

// findRoots returns the sources of a tool that no other one deploys, and that show how it was set
// up: they deploy themselves, lead to others, or stand beside one that does. One that only deploys a
// folder shows nothing about others.
func (r *renderer) findRoots(all []*gitopsSource) []*gitopsSource {
	first := slices.DeleteFunc(r.withoutDeployed(all),
		func(l *gitopsSource) bool { return len(r.localFolders(l)) == 0 })
	leads := func(l *gitopsSource) bool {
		return r.deploysFile(l, l.file) || len(l.applications) > 1 || len(r.sourcesBehind([]*gitopsSource{l}, all)) > 0
	}
	names, folders := map[string]bool{}, folderSet{}
	for _, l := range first {
		if leads(l) {
			names[l.String()], folders[filepath.Dir(l.file)] = true, true
		}
	}
	return slices.DeleteFunc(first, func(l *gitopsSource) bool {
		return !names[l.String()] && !folders[filepath.Dir(l.file)]
	})
}

// commonFolder returns the deepest folder that holds all of them.
func commonFolder(folders []string) string {
	out := folders[0]
	for _, dir := range folders[1:] {
		for !(folderSet{out: true}).hasFolder(dir) {
			out = filepath.Dir(out)
		}
	}
	return out
}

// isLeftOut reports whether a file stands where only what root sources lead to is deployed, and
// they do not lead to it.
func (d *deployments) isLeftOut(file string) bool {
	if file == "" || d.reached[file] || d.rootFiles[file] || d.rootFolders[filepath.Dir(file)] {
		return false
	}
	return d.isInScope(file) && !slices.ContainsFunc(d.named,
		func(named string) bool { return (folderSet{named: true}).hasFolder(file) })
}

func (d *deployments) isInScope(file string) bool {
	return slices.ContainsFunc(d.tools, func(t rootSources) bool { return (folderSet{t.scope: true}).hasFolder(file) })
}

// isFolderLeftOut reports whether nothing leads to a kustomization or a chart, which brings no root
// source either.
func (r *renderer) isFolderLeftOut(dir string) bool {
	if !r.deployments.isLeftOut(filepath.Join(dir, "kustomization.yaml")) {
		return false
	}
	brings := fileSet{}
	r.workspace.addFilesBehind(dir, brings, folderSet{})
	for file := range r.deployments.rootFiles {
		if brings[file] {
			return false
		}
	}
	return true
}

// addLeftOut tells of the manifests that are not read because nothing leads to them. Where sources
// that were not followed deploy more than those that were, what begins the deployment was not found,
// and all of it may be deployed.
func (r *renderer) addLeftOut(files []input.File) {
	read := fileSet{}
	for _, l := range r.followed {
		r.deploysFile(l, l.file)
		maps.Copy(read, l.files)
	}
	deployed := len(read)
	for _, file := range r.freeFiles {
		read[file] = true
	}
	maps.Copy(read, r.deployments.rootFiles)
	if len(r.clusters) > 0 { // the rest is for other clusters
		maps.Copy(read, r.deployments.reached)
		maps.Copy(read, r.otherFiles)
	}
	built := folderSet{}
	for _, dir := range r.builtFolders {
		r.workspace.addFilesBehind(dir, read, built)
	}
	idle := r.unfollowedSources()
	var names []string
	byIdle := 0
	for _, f := range files {
		real, dir := f.RealPath, filepath.Dir(f.RealPath)
		switch {
		case real == "" || read[real] || r.isOfOtherCluster(real) || r.otherTargets.hasFolder(dir):
		case !r.workspace.usedFiles[real] && r.workspace.usedFolders[dir]: // it is told apart
		case !r.objectFiles[real]:
		case r.targetFolders.hasFolder(dir), r.deployments.isInScope(real):
			names = append(names, f.Name)
			if slices.ContainsFunc(idle, func(l *gitopsSource) bool { return r.deploysFile(l, real) }) {
				byIdle++
			}
		}
	}
	for dir, f := range r.workspace.folders {
		if !f.isNamed && !f.isComponent() && !r.targetFolders.hasFolder(dir) && !r.isOfOtherCluster(dir) &&
			!r.otherTargets.hasFolder(dir) && r.isFolderLeftOut(dir) {
			names = append(names, path.Join(f.kustomization.Name, "kustomization.yaml"))
		}
	}
	if len(names) == 0 {
		return
	}
	what, folders := describeFiles(names)
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: what + " not read, as nothing deploys " + pronounFor(names) + ": " + listFolders(folders),
		Hint:    "to read it all the same, name it: -f " + folders[0]}
	switch maker := r.unknownMaker(); {
	case byIdle > deployed:
		p.Severity = model.Warning
		p.Message = what + " not read, as nothing that is read leads to what deploys " + pronounFor(names) + ": " +
			listFolders(folders)
		p.Hint = "read what Flux or Argo CD begins with too, or name the folder: -f " + folders[0]
		r.reader.AddOmission(what, "not read", "")
	case maker != "":
		p.Severity = model.Warning
		p.Message = what + " not read, as nothing that is read leads to " + pronounFor(names) + ", and what " + maker +
			" makes may: " + listFolders(folders)
		r.reader.AddOmission(what, "not read", "")
	}
	r.reader.Problems = append(r.reader.Problems, p)
}

// unknownMaker returns what makes sources of which it is not known what they lead to; "" if nothing
// does.
func (r *renderer) unknownMaker() string {
	switch {
	case r.mayLeadAnywhere("flux"):
		return "a ResourceSet"
	case r.mayLeadAnywhere("argo"):
		return "an ApplicationSet"
	}
	return ""
}

// noteObjects notes whether a file looks as if there were objects in it, and whether it has Argo CD
// read files from anywhere.
func (r *renderer) noteObjects(real string, text []byte) {
	if bytes.Contains(text, []byte("kustomize.buildOptions")) && bytes.Contains(text, []byte("LoadRestrictionsNone")) {
		r.readsAnywhere = true
	}
	if bytes.Contains(text, []byte("apiVersion")) && bytes.Contains(text, []byte("kind")) {
		r.objectFiles[real] = true
	}
}

// describeFiles counts files, and lists the topmost folders they stand in.
func describeFiles(files []string) (what string, folders []string) {
	what = "1 manifest is"
	if n := len(files); n > 1 {
		what = fmt.Sprintf("%d manifests are", n)
	}
	in := map[string]bool{}
	for _, f := range files {
		if path.Dir(f) == "." { // which holds all of them
			in[f] = true
		} else {
			in[path.Dir(f)] = true
		}
	}
	for _, dir := range slices.SortedFunc(maps.Keys(in), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	}) {
		if !slices.ContainsFunc(folders, func(up string) bool { return strings.HasPrefix(dir, up+"/") }) {
			folders = append(folders, dir)
		}
	}
	return what, folders
}

// pronounFor is how files are called that were named before.
func pronounFor(files []string) string {
	if len(files) == 1 {
		return "it"
	}
	return "them"
}

// listFolders lists folders, at most five of them.
func listFolders(folders []string) string { return shortenNames(slices.Clone(folders)) }

// addUnusedManifests tells of the manifests that kustomizations beside them do not name. Those with
// which everything begins are read all the same.
func (r *renderer) addUnusedManifests() {
	n := 0
	for _, file := range r.unusedFiles {
		if !slices.ContainsFunc(r.topSources, func(b topSource) bool { return b.file == file }) {
			n++
		}
	}
	message := "1 manifest is not read: the kustomization of the folder does not name it"
	switch {
	case n == 0:
		return
	case n > 1:
		message = fmt.Sprintf("%d manifests are not read: the kustomization of the folder does not name them", n)
	}
	r.reader.Problems = append(r.reader.Problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: message,
		Hint:    "kustomize does not deploy them; name them under resources if they are to be"})
}
