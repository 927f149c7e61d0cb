package gitops

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// pathRoot is a folder from which paths of a repository may count.
type pathRoot struct {
	dir  filesys.ConfirmedDir
	name string
}

// findPathRoots notes from where paths count: the top of the git working tree that a folder of the
// input lies in, and the folder itself.
func (r *workspace) findPathRoots(paths []string) {
	for _, p := range paths {
		dir, err := filesys.ConfirmDir(r.fileSystem, p)
		if p == "-" || err != nil {
			continue
		}
		name := filepath.ToSlash(filepath.Clean(p))
		if top := input.FindWorkingTree(dir.String()); top != "" {
			if up, err := filepath.Rel(dir.String(), top); err == nil {
				r.pathRoots = append(r.pathRoots, pathRoot{filesys.ConfirmedDir(top), path.Join(name, filepath.ToSlash(up))})
			}
		}
		r.pathRoots = append(r.pathRoots, pathRoot{dir, name})
	}
}

// locateFolder finds the folder at a path of the repository, which cannot lead out of it.
func (r *workspace) locateFolder(at string) (dir filesys.ConfirmedDir, from pathRoot, found bool) {
	if known, ok := r.located[at]; ok {
		return known.dir, known.from, known.dir != ""
	}
	for _, t := range r.pathRoots {
		dir, err := filesys.ConfirmDir(r.fileSystem, t.dir.Join(filepath.FromSlash(path.Clean("/"+at))))
		if err == nil && dir.HasPrefix(t.dir) {
			r.located[at] = locatedFolder{dir, t}
			return dir, t, true
		}
	}
	r.located[at] = locatedFolder{}
	return "", pathRoot{}, false
}

// rootOf returns the topmost folder of the repository that a folder lies in; "" if it is not known.
func (r *workspace) rootOf(dir filesys.ConfirmedDir) filesys.ConfirmedDir {
	for _, t := range r.pathRoots {
		if dir.HasPrefix(t.dir) {
			return t.dir
		}
	}
	return ""
}

// locatedFolder is a folder and what its path counts from.
type locatedFolder struct {
	dir  filesys.ConfirmedDir // "": there is none
	from pathRoot
}

// displayName returns a file or folder as the user would type it, if it is below a root of paths.
func (r *workspace) displayName(real string) string {
	for _, t := range slices.Backward(r.pathRoots) {
		if filesys.ConfirmedDir(real).HasPrefix(t.dir) {
			return t.displayName(real)
		}
	}
	return filepath.Base(real)
}

// displayName returns a folder below the root as the user would type it.
func (t pathRoot) displayName(dir string) string {
	below, err := filepath.Rel(t.dir.String(), dir)
	if err != nil {
		return dir
	}
	return path.Join(t.name, filepath.ToSlash(below))
}

// isRootPath reports whether a path is that of the root, which every repository has.
func isRootPath(at string) bool { return path.Clean("/"+at) == "/" }

// sourceRepository names the repository that a source reads from.
type sourceRepository struct {
	tool, name, url string
	isInherited     bool // the source names none: what deploys the source gives it one
}

// sourceRepositories returns the repositories of the paths of a source, in their order.
func (l *gitopsSource) sourceRepositories() []sourceRepository {
	switch l.kind {
	case fluxKustomization:
		o := l.fluxRepository("spec", "sourceRef")
		o.isInherited = l.textAt("spec", "sourceRef", "name") == ""
		return []sourceRepository{o}
	case helmRelease:
		if len(l.sourcePaths()) == 1 {
			return []sourceRepository{l.fluxRepository("spec", "chart", "spec", "sourceRef")}
		}
	case argoApplication:
		var out []sourceRepository
		for _, s := range l.pathSources() {
			url := normalizeURL(model.Text(s, "repoURL"))
			out = append(out, sourceRepository{tool: "argo", name: url, url: url})
		}
		return out
	}
	return nil
}

func (l *gitopsSource) fluxRepository(at ...string) sourceRepository {
	kind, namespace, name := l.textAt(append(at, "kind")...), l.textAt(append(at, "namespace")...), l.textAt(append(at,
		"name")...)
	if namespace == "" {
		namespace = l.namespace
	}
	return sourceRepository{tool: "flux", name: kind + " " + namespace + "/" + name}
}

// fluxBootstrapName ends the name of the source with which Flux is set up.
const fluxBootstrapName = "/flux-system"

// repositoryMatcher decides which of the repositories that sources name is the one at hand.
type repositoryMatcher struct {
	remotes    []string            // of the git repository
	folders    map[string]pathRoot // of the repositories that the user has named
	sourceURLs map[string]string   // of the sources in the input, by their names
	// for each tool, the repositories that sources name, and whether one of their paths is there
	named            map[string]map[string]bool
	hasFluxBootstrap bool // one of them is called flux-system
}

// recordURL notes the address of a source of Flux.
func (h *repositoryMatcher) recordURL(l *gitopsSource) {
	if h.sourceURLs == nil {
		h.sourceURLs = map[string]string{}
	}
	if url := l.textAt("spec", "url"); url != "" {
		h.sourceURLs[path.Base(l.kind)+" "+l.namespace+"/"+l.name] = normalizeURL(url)
	}
}

// recordRepository notes a repository that a source names.
func (h *repositoryMatcher) recordRepository(o sourceRepository, there bool) {
	if h.named == nil {
		h.named = map[string]map[string]bool{}
	}
	if h.named[o.tool] == nil {
		h.named[o.tool] = map[string]bool{}
	}
	if _, mapped := h.folderOf(o); mapped || o.isInherited {
		return
	}
	h.hasFluxBootstrap = h.hasFluxBootstrap || o.tool == "flux" && strings.HasSuffix(o.name, fluxBootstrapName)
	id := h.repositoryID(o)
	h.named[o.tool][id] = h.named[o.tool][id] || there
}

// repositoryID returns the address of a repository, if it is known, else its name.
func (h *repositoryMatcher) repositoryID(o sourceRepository) string {
	if url := h.sourceURLs[o.name]; url != "" {
		return url
	}
	return o.name
}

// isLocal reports whether o is the repository at hand: the one that git has as a remote, and what is
// called flux-system and is not in the input, as where the operator of Flux makes it. Where none
// is, it is the source called flux-system, with which Flux is set up, else, of addresses, what has
// the name of a remote, as a fork has, else the only source of Flux that the input does not define,
// as where the operator of Flux makes it under another name. Where git has no remote, it is the
// only one that is named, else the only one whose paths are there.
func (h *repositoryMatcher) isLocal(o sourceRepository) bool {
	if _, mapped := h.folderOf(o); mapped || o.isInherited {
		return true
	}
	id := h.repositoryID(o)
	all := h.named[o.tool]
	isRemote := func(id string) bool { return slices.Contains(h.remotes, id) }
	named := func(is func(string) bool) (n int) {
		for other := range all {
			if is(other) {
				n++
			}
		}
		return n
	}
	switch {
	case isRemote(id) || named(isRemote) > 0:
		return isRemote(id) || h.sourceURLs[o.name] == "" && o.tool == "flux" &&
			strings.HasSuffix(o.name, fluxBootstrapName)
	case o.tool == "flux" && h.hasFluxBootstrap:
		return strings.HasSuffix(o.name, fluxBootstrapName)
	case o.tool == "flux" && named(h.isFork) == 0 && h.onlyUndefined() != "":
		return definitionKey(o.name) == h.onlyUndefined()
	case len(h.remotes) > 0 && !strings.Contains(id, " "): // an address
		return h.isFork(id)
	case len(all) <= 1:
		return len(all) == 0 || hasKey(all, id)
	}
	return all[id] && named(func(other string) bool { return all[other] }) == 1
}

// isFork reports whether a repository has the name of a remote.
func (h *repositoryMatcher) isFork(id string) bool {
	return !strings.Contains(id, " ") &&
		slices.ContainsFunc(h.remotes, func(url string) bool { return path.Base(url) == path.Base(id) })
}

// onlyUndefined returns the source of Flux that is named, has paths that are there, and is the only
// one that the input does not define; "" if there is none.
func (h *repositoryMatcher) onlyUndefined() string {
	defined := map[string]bool{}
	for name := range h.sourceURLs {
		defined[definitionKey(name)] = true
	}
	undefined, isThere := "", false
	for id, there := range h.named["flux"] {
		key := definitionKey(id)
		switch {
		case !strings.Contains(id, " ") || defined[key]: // an address
			continue
		case undefined != "" && undefined != key:
			return ""
		}
		undefined, isThere = key, isThere || there
	}
	if !isThere {
		return ""
	}
	return undefined
}

// definitionKey returns the kind and name of a source of Flux. Its namespace may be given later than
// in the file that names it.
func definitionKey(name string) string {
	kind, rest, _ := strings.Cut(name, " ")
	return kind + " " + path.Base(rest)
}

// isLocalRef reports whether a source of an Application that is called so is the repository at
// hand.
func (h *repositoryMatcher) isLocalRef(l *gitopsSource, ref string) bool {
	return slices.ContainsFunc(l.applicationSources(), func(s any) bool {
		url := normalizeURL(model.Text(s, "repoURL"))
		return model.Text(s, "ref") == ref && h.isLocal(sourceRepository{tool: "argo", name: url, url: url})
	})
}

func hasKey(m map[string]bool, key string) bool { _, ok := m[key]; return ok }

// normalizeURL returns an address of a git repository without what may be written in several ways.
func normalizeURL(url string) string {
	url = strings.ToLower(strings.TrimSpace(url))
	if _, rest, found := strings.Cut(url, "://"); found {
		url = rest
	} else {
		url = strings.Replace(url, ":", "/", 1)
	}
	if _, rest, found := strings.Cut(url, "@"); found {
		url = rest
	}
	if host, rest, found := strings.Cut(url, "/"); found {
		host, _, _ = strings.Cut(host, ":")
		url = host + "/" + rest
	}
	return strings.TrimSuffix(strings.TrimSuffix(url, "/"), ".git")
}

// findRemotes returns the addresses of the repositories that the folders are clones of.
func findRemotes(tops []pathRoot) []string {
	var out []string
	for _, t := range tops {
		text, err := readGitConfig(t.dir.Join(".git"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			if key, value, found := strings.Cut(line, "="); found && strings.TrimSpace(key) == "url" {
				out = append(out, normalizeURL(value))
			}
		}
	}
	return out
}

// readGitConfig returns the configuration of a repository, whose working tree may be one of
// several.
func readGitConfig(at string) (string, error) {
	info, err := os.Stat(at)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		text, err := readGitText(at)
		if err != nil {
			return "", err
		}
		dir, found := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
		if !found {
			return "", errors.New("not a working tree")
		}
		at = dir
		if common, err := readGitText(filepath.Join(dir, "commondir")); err == nil {
			at = filepath.Join(dir, strings.TrimSpace(common))
		}
	}
	return readGitText(filepath.Join(at, "config"))
}

// readGitText returns a small text of a repository: what is unpacked may call a device or a pipe
// so.
func readGitText(file string) (string, error) {
	const most = 1 << 20
	if info, err := os.Stat(file); err != nil || info.Size() > most || !info.Mode().IsRegular() {
		return "", errors.New("no configuration")
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
