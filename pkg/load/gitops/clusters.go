package gitops

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// clusterGroup is folders of the input that are for a cluster each: they begin sources of the same
// names that differ, and in one cluster there is one of a name.
type clusterGroup struct {
	folders  []string        // real paths, in the order of their names
	used     string          // the one that is read
	isChosen bool            // the user says so
	by       []*gitopsSource // sources of one name
}

// topSource is a source that nothing else deploys, and the folder that it stands in.
type topSource struct {
	*gitopsSource
	folder string
}

// noteTopSources notes sources that nothing else deploys.
func (r *renderer) noteTopSources(sources []*gitopsSource, folder string) {
	for _, l := range sources {
		in := folder
		if in == "" && l.file != "" {
			in = filepath.Dir(l.file)
		}
		l.topFolder = in
		if in != "" && l.kind != helmRelease && l.kind != resourceSet {
			r.topSources = append(r.topSources, topSource{l, in})
		}
	}
}

// findClusters returns the folders of several clusters that were read as one; nil if there are
// none.
func (r *renderer) findClusters() *clusterGroup {
	byName := map[string][]topSource{}
	for _, b := range r.topSources {
		name := b.kind + " " + b.namespace + "/" + b.name
		byName[name] = append(byName[name], b)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		group := &clusterGroup{}
		keys := map[string]bool{}
		var folders []string
		for _, b := range byName[name] {
			keys[b.identityKey()] = true
			folders = append(folders, b.folder)
			group.by = append(group.by, b.gitopsSource)
		}
		if group.folders = separateFolders(folders); len(keys) > 1 && len(group.folders) > 1 {
			group.sortFolders(&r.workspace)
			group.pickFolder(r.options.Destination)
			return group
		}
	}
	return r.findOnlyCluster()
}

// findOnlyCluster returns the folder that the user has chosen where it is that of the only cluster;
// nil if it is not.
func (r *renderer) findOnlyCluster() *clusterGroup {
	chosen := r.destinations.chosen
	if chosen == "" || len(r.clusters) > 0 || r.destinations.clusters[chosen] {
		return nil
	}
	folders := []string{input.RealPath(chosen)}
	if dir, _, ok := r.workspace.locateFolder(chosen); ok {
		folders = append(folders, dir.String())
	}
	for _, folder := range folders {
		chosenFolder := folderSet{folder: true}
		if slices.ContainsFunc(r.topSources, func(b topSource) bool { return chosenFolder.hasFolder(b.folder) }) {
			return &clusterGroup{folders: []string{folder}, used: folder, isChosen: true}
		}
	}
	return nil
}

func (g *clusterGroup) sortFolders(in *workspace) {
	slices.SortFunc(g.folders, func(a, b string) int { return strings.Compare(in.displayName(a), in.displayName(b)) })
}

// pickFolder picks the folder that the user names, by its path or the end of it, else the first.
func (g *clusterGroup) pickFolder(named string) {
	g.used = g.folders[0]
	if named == "" {
		return
	}
	end := "/" + strings.Trim(filepath.ToSlash(filepath.Clean(named)), "/")
	for _, folder := range g.folders {
		if strings.HasSuffix(filepath.ToSlash(folder), end) || input.RealPath(named) == folder {
			g.used, g.isChosen = folder, true
		}
	}
}

// separateFolders returns, of the folders and those above them, the topmost that hold one of them
// each; nil if one lies in another.
func separateFolders(folders []string) []string {
	var parts [][]string
	for _, folder := range folders {
		parts = append(parts, strings.Split(filepath.ToSlash(folder), "/"))
	}
	for i := 0; ; i++ {
		at := map[string]bool{}
		for _, p := range parts {
			if i >= len(p) {
				return nil
			}
			at[filepath.FromSlash(strings.Join(p[:i+1], "/"))] = true
		}
		if len(at) > 1 {
			return slices.Sorted(maps.Keys(at))
		}
	}
}

// isOfOtherCluster reports whether a file or folder is of a cluster that is not read.
func (r *renderer) isOfOtherCluster(real string) bool {
	return real != "" && r.otherClusters.hasFolder(real)
}

// mergeClusters puts together groups that have a folder in common.
func (r *renderer) mergeClusters(g *clusterGroup) {
	r.clusters = slices.DeleteFunc(r.clusters, func(other *clusterGroup) bool {
		if !slices.ContainsFunc(g.folders, func(dir string) bool { return slices.Contains(other.folders, dir) }) {
			return false
		}
		for _, dir := range other.folders {
			if !slices.Contains(g.folders, dir) {
				g.folders = append(g.folders, dir)
			}
		}
		g.by = append(other.by, g.by...)
		return true
	})
	g.sortFolders(&r.workspace)
	g.pickFolder(r.options.Destination)
	r.clusters = append(r.clusters, g)
}

// leaveOutClusters has the folders of a group but one, and what they lead to, not read.
func (r *renderer) leaveOutClusters(g *clusterGroup) {
	r.mergeClusters(g)
	delete(r.otherClusters, g.used)
	for _, folder := range g.folders {
		if folder != g.used {
			r.otherClusters[folder] = true
		}
	}
	var others []*gitopsSource
	for _, l := range r.foundSources {
		if r.isOfOtherCluster(l.file) {
			others = append(others, l)
		}
	}
	for _, l := range r.followed { // they may be patched to lead elsewhere than the files say
		r.deploysFile(l, l.file)
		maps.Copy(r.otherFiles, l.files)
		if r.isOfOtherCluster(l.topFolder) {
			others = append(others, l)
		}
	}
	r.otherTargets = r.foldersBehind(others, r.foundSources)
}

// toProblem says that one of several clusters is read; nil if the user has chosen it.
func (g *clusterGroup) toProblem(in *workspace) *model.Problem {
	if g.isChosen {
		return nil
	}
	var names []string
	for _, folder := range g.folders {
		names = append(names, in.displayName(folder))
	}
	first := slices.MinFunc(g.by, func(a, b *gitopsSource) int { return a.origin.Compare(b.origin) })
	return &model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Origin: &first.origin,
		Message: fmt.Sprintf("the input is for %d clusters (%s): %s is another one in each. Only %s is read", len(names),
			strings.Join(names, ", "), first, in.displayName(g.used)),
		Hint: "choose one of them: --destination " + names[len(names)-1]}
}
