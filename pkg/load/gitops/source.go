package gitops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The kinds of GitOps sources.
const (
	fluxKustomization  = "kustomize.toolkit.fluxcd.io/Kustomization"
	helmRelease        = "helm.toolkit.fluxcd.io/HelmRelease"
	argoApplication    = "argoproj.io/Application"
	argoApplicationSet = "argoproj.io/ApplicationSet"
	fluxSource         = "source.toolkit.fluxcd.io/"
	resourceSet        = "fluxcd.controlplane.io/ResourceSet"
)

// gitopsSource is an object that says what is deployed from where.
type gitopsSource struct {
	kind            string
	namespace, name string
	value           any
	origin          model.Origin
	cluster         string          // the cluster that it is in, if something else deploys it
	applications    []*gitopsSource // the Applications that an ApplicationSet makes, if it was asked for them
	isPartlyKnown   bool            // it is an ApplicationSet, and makes others too
	deferred        bool            // it was put behind others, which may bring the Secret that it takes variables from
	file            string          // the real path of the file it stands in; "" where it came out of a build
	topFolder       string          // the folder of what nothing deploys and leads to it
	key             string          // what identityKey has made
	files           fileSet         // those it deploys; nil: not found out yet
}

// String is how problems call a source.
func (l *gitopsSource) String() string {
	return strings.ToLower(path.Base(l.kind)) + "/" + l.namespace + "/" + l.name
}

func (l *gitopsSource) textAt(path ...string) string { return model.Text(l.value, path...) }

// listAt returns the entries of a list in a source.
func (l *gitopsSource) listAt(path ...string) []any {
	list, _ := model.Get(l.value, path...).([]any)
	return list
}

// identityKey tells sources apart. Two of one name, as those of two clusters, are two.
func (l *gitopsSource) identityKey() string {
	if l.key == "" {
		spec, _ := json.Marshal(model.Get(l.value, "spec"))
		l.key = l.kind + " " + l.namespace + "/" + l.name + " " + string(spec)
	}
	return l.key
}

// findSources returns the sources among the objects of a document. Objects that were read from a
// cluster lead nowhere: what they deployed is in the cluster too.
func (r *renderer) findSources(p document.Raw) []*gitopsSource {
	if p.Cluster != "" || !mayNameSource(p.Text) {
		return nil
	}
	objects, _ := document.ListObjects(p.Text, r.limits) // what cannot be read is reported when the document is
	var out []*gitopsSource
	for _, o := range objects {
		v := o.Value
		group, _, _ := strings.Cut(model.Text(v, "apiVersion"), "/")
		l := &gitopsSource{kind: group + "/" + model.Text(v, "kind"), name: model.Text(v, "metadata", "name"),
			value: v, file: p.RealPath,
			namespace: cmp.Or(model.Text(v, "metadata", "namespace"), p.Namespace, r.options.Namespace, "default"),
			origin:    model.Origin{File: p.File.Name, Line: p.Line + o.Line - 1}}
		switch {
		case l.name == "" || l.textAt("metadata", "uid") != "":
		case l.kind == resourceSet:
			r.hasSourceTemplates = r.hasSourceTemplates || bytes.Contains(p.Text, []byte("kustomize.toolkit.fluxcd.io/"))
			out = append(out, l)
		case strings.HasPrefix(l.kind, fluxSource):
			r.repositories.recordURL(l)
		case slices.Contains([]string{fluxKustomization, helmRelease, argoApplication, argoApplicationSet}, l.kind):
			out = append(out, l)
		}
	}
	return out
}

// mayNameSource reports whether there may be a source in a text, which may be written with escapes.
func mayNameSource(text []byte) bool {
	for _, word := range []string{"toolkit.fluxcd.io", "argoproj.io", "fluxcd.controlplane.io", `\u00`, `\U00`, `\x`} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// sourcePaths returns where a source leads, from the root of its repository.
func (l *gitopsSource) sourcePaths() []string {
	switch l.kind {
	case fluxKustomization:
		return []string{l.textAt("spec", "path")}
	case argoApplication:
		var out []string
		for _, s := range l.pathSources() {
			out = append(out, model.Text(s, "path"))
		}
		return out
	case helmRelease:
		if l.textAt("spec", "chart", "spec", "sourceRef", "kind") != "HelmRepository" &&
			l.textAt("spec", "chart", "spec", "chart") != "" {
			return []string{l.textAt("spec", "chart", "spec", "chart")}
		}
	}
	return nil
}

// applicationSources returns the sources of an Application.
func (l *gitopsSource) applicationSources() []any {
	if list := l.listAt("spec", "sources"); len(list) > 0 {
		return list
	}
	if s := model.Get(l.value, "spec", "source"); s != nil {
		return []any{s}
	}
	return nil
}

// pathSources returns the sources of an Application that lead to a folder.
func (l *gitopsSource) pathSources() []any {
	return slices.DeleteFunc(slices.Clone(l.applicationSources()), func(s any) bool {
		return model.Text(s, "chart") != "" || model.Get(s, "path") == nil
	})
}

// locateSources finds out what the paths of the sources in files count from, and which folders they
// lead to.
func (r *renderer) locateSources(ctx context.Context) {
	r.repositories.remotes = findRemotes(r.workspace.pathRoots)
	all := slices.Clone(r.foundSources)
	record := func(l *gitopsSource) {
		for i, o := range l.sourceRepositories() {
			_, _, there := r.locateInRepository(o, l.sourcePaths()[i])
			r.repositories.recordRepository(o, there && !isRootPath(l.sourcePaths()[i]))
		}
	}
	for _, l := range all {
		record(l)
		if l.kind == argoApplicationSet {
			for url, there := range newAppSetGenerator(&r.workspace, &r.repositories, l).findRepositories(ctx,
				l.listAt("spec", "generators")) {
				r.repositories.recordRepository(sourceRepository{tool: "argo", name: url, url: url}, there)
			}
		}
	}
	for _, l := range r.foundSources {
		if l.kind == argoApplicationSet {
			var why error
			l.applications, why = newAppSetGenerator(&r.workspace, &r.repositories, l).makeApplications(ctx, l)
			l.isPartlyKnown = why != nil
			for _, app := range l.applications {
				record(app)
			}
			all = append(all, l.applications...)
		}
	}
	r.targetFolders = folderSet{}
	for _, l := range all {
		if l.kind == helmRelease { // it leads to a chart, which nothing else reads
			continue
		}
		for i, o := range l.sourceRepositories() {
			if dir, _, ok := r.locateInRepository(o, l.sourcePaths()[i]); ok && r.repositories.isLocal(o) {
				r.targetFolders.addFolder(dir.String(), r.readsBelow(l, i, dir))
			}
		}
	}
}

// findBootstrap returns a source with which everything begins: one that deploys the file it stands
// in, else one in a folder that is read through nothing but sources that were not followed, as it is
// where that folder leaves out its own. Those that no other one deploys come first, as whatever
// deploys a source may change it. It returns nil if there is none that was not followed, or that a
// waiting source will not lead to.
func (r *renderer) findBootstrap() *gitopsSource {
	idle := r.unfollowedSources()
	awaited := r.sourcesBehind(r.waiting, idle)
	idle = slices.DeleteFunc(idle, func(l *gitopsSource) bool { return awaited[l] || r.deployments.isLeftOut(l.file) })
	begins := []func(l *gitopsSource) bool{
		func(l *gitopsSource) bool { return r.deploysFile(l, l.file) },
		func(l *gitopsSource) bool {
			in := filepath.Dir(l.file)
			return l.file != "" && r.targetFolders.hasFolder(in) && !r.enteredFolders.hasFolder(in)
		},
	}
	for _, candidates := range [][]*gitopsSource{r.withoutDeployed(idle), idle} {
		for _, does := range begins {
			if l := r.findTopmost(candidates, does); l != nil {
				r.seen[l.identityKey()] = true
				r.noteTopSources([]*gitopsSource{l}, "")
				return l
			}
		}
	}
	return nil
}

// foldersBehind returns the folders that sources lead to, through others of the idle ones too.
func (r *renderer) foldersBehind(next, idle []*gitopsSource) folderSet {
	out := folderSet{}
	met := map[*gitopsSource]bool{}
	for len(next) > 0 {
		for _, l := range next {
			met[l] = true
			for _, dir := range r.localFolders(l) {
				out[dir] = true
			}
		}
		next = nil
		for _, l := range idle {
			if !met[l] && l.file != "" && out.hasFolder(filepath.Dir(l.file)) {
				next = append(next, l)
			}
		}
	}
	return out
}

// withoutDeployed returns the sources that no other one of them deploys.
func (r *renderer) withoutDeployed(sources []*gitopsSource) []*gitopsSource {
	return slices.DeleteFunc(slices.Clone(sources), func(l *gitopsSource) bool {
		return slices.ContainsFunc(sources, func(by *gitopsSource) bool { return by != l && r.deploysFile(by, l.file) })
	})
}

// localFolders returns the folders of the input that a source, or what an ApplicationSet makes,
// leads to.
func (r *renderer) localFolders(l *gitopsSource) []string {
	var out []string
	for _, to := range append([]*gitopsSource{l}, l.applications...) {
		repositories := to.sourceRepositories()
		for i, path := range to.sourcePaths() {
			if dir, _, ok := r.locateInRepository(repositories[i], path); ok && r.repositories.isLocal(repositories[i]) {
				out = append(out, dir.String())
			}
		}
	}
	return out
}

// findTopmost returns the source that begins something and leads to the topmost folder.
func (r *renderer) findTopmost(sources []*gitopsSource, begins func(*gitopsSource) bool) *gitopsSource {
	var best *gitopsSource
	var at string
	for _, l := range sources {
		for _, dir := range r.localFolders(l) {
			if begins(l) && (best == nil || cmp.Or(cmp.Compare(len(dir), len(at)), cmp.Compare(dir, at),
				l.origin.Compare(best.origin)) < 0) {
				best, at = l, dir
			}
		}
	}
	return best
}

// unfollowedSources returns the sources that stand in files and were not followed, nor any other
// that leads to the same place.
func (r *renderer) unfollowedSources() []*gitopsSource {
	return slices.DeleteFunc(slices.Clone(r.foundSources), func(l *gitopsSource) bool {
		paths := l.sourcePaths()
		if r.seen[l.identityKey()] || r.isOfOtherCluster(l.file) ||
			l.file != "" && r.otherTargets.hasFolder(filepath.Dir(l.file)) {
			return true
		}
		return len(paths) == 0 && len(l.applications) == 0 ||
			slices.ContainsFunc(paths, func(path string) bool { return r.reachedPaths[l.kind+" "+path] })
	})
}
