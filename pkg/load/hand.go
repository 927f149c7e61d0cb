package load

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// top is a folder from which paths of a repository may count.
type top struct {
	dir  filesys.ConfirmedDir
	name string
}

// findTops notes from where paths count: the top of the git working tree that a folder of the input lies in, and the folder itself.
func (r *land) findTops(paths []string) {
	for _, p := range paths {
		dir, err := filesys.ConfirmDir(r.walk.disk, p)
		if p == "-" || err != nil {
			continue
		}
		name := filepath.ToSlash(filepath.Clean(p))
		for up, steps := dir.String(), name; ; up, steps = filepath.Dir(up), path.Join(steps, "..") {
			if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
				r.tops = append(r.tops, top{filesys.ConfirmedDir(up), steps})
				break
			}
			if up == filepath.Dir(up) {
				break
			}
		}
		r.tops = append(r.tops, top{dir, name})
	}
}

// locate finds the folder at a path of the repository, which cannot lead out of it.
func (r *land) locate(at string) (dir filesys.ConfirmedDir, from top, found bool) {
	for _, t := range r.tops {
		dir, err := filesys.ConfirmDir(r.walk.disk, t.dir.Join(filepath.FromSlash(path.Clean("/"+at))))
		if err == nil && dir.HasPrefix(t.dir) {
			return dir, t, true
		}
	}
	return "", top{}, false
}

// nameOf is a file or folder as the user would type it, if it is below a top.
func (r *land) nameOf(real string) string {
	for _, t := range slices.Backward(r.tops) {
		if filesys.ConfirmedDir(real).HasPrefix(t.dir) {
			return t.nameOf(real)
		}
	}
	return filepath.Base(real)
}

// nameOf is a folder below a top as the user would type it.
func (t top) nameOf(dir string) string {
	below, err := filepath.Rel(t.dir.String(), dir)
	if err != nil {
		return dir
	}
	return path.Join(t.name, filepath.ToSlash(below))
}

// rootPath reports whether a path is that of the root, which every repository has.
func rootPath(at string) bool { return path.Clean("/"+at) == "/" }

// origin names the repository that a lead reads from.
type origin struct{ tool, name, url string }

// origins are those of the paths of a lead, in their order.
func (l *lead) origins() []origin {
	switch l.kind {
	case fluxKustomization:
		return []origin{l.fluxOrigin("spec", "sourceRef")}
	case helmRelease:
		if len(l.paths()) == 1 {
			return []origin{l.fluxOrigin("spec", "chart", "spec", "sourceRef")}
		}
	case argoApplication:
		var out []origin
		for _, s := range l.sources() {
			if model.Text(s, "chart") == "" && model.Get(s, "path") != nil {
				url := plainURL(model.Text(s, "repoURL"))
				out = append(out, origin{"argo", url, url})
			}
		}
		return out
	}
	return nil
}

func (l *lead) fluxOrigin(at ...string) origin {
	kind, namespace, name := l.text(append(at, "kind")...), l.text(append(at, "namespace")...), l.text(append(at, "name")...)
	if namespace == "" {
		namespace = l.namespace
	}
	return origin{tool: "flux", name: kind + " " + namespace + "/" + name}
}

// firstSource ends the name of the source with which Flux is set up.
const firstSource = "/flux-system"

// hands decides which of the repositories that leads name is the one at hand.
type hands struct {
	remotes []string                   // of the git repository
	urls    map[string]string          // of the sources in the input, by their names
	met     map[string]map[string]bool // for each tool, the repositories that leads name, and whether one of their paths is there
	first   bool                       // one of them is called flux-system
}

// know notes the address of a source.
func (h *hands) know(l *lead) {
	if h.urls == nil {
		h.urls = map[string]string{}
	}
	if url := l.text("spec", "url"); url != "" {
		h.urls[path.Base(l.kind)+" "+l.namespace+"/"+l.name] = plainURL(url)
	}
}

// meet notes a repository that a lead names.
func (h *hands) meet(o origin, there bool) {
	if h.met == nil {
		h.met = map[string]map[string]bool{}
	}
	if h.met[o.tool] == nil {
		h.met[o.tool] = map[string]bool{}
	}
	h.first = h.first || o.tool == "flux" && strings.HasSuffix(o.name, firstSource)
	id := h.id(o)
	h.met[o.tool][id] = h.met[o.tool][id] || there
}

// id is the address of a repository, if it is known, else its name.
func (h *hands) id(o origin) string {
	if url := h.urls[o.name]; url != "" {
		return url
	}
	return o.name
}

// holds reports whether o is the repository at hand: the one that git has as a remote. Where none is, it is the source called flux-system, with
// which Flux is set up, else the only one that is named, else the only one whose paths are there.
func (h *hands) holds(o origin) bool {
	id := h.id(o)
	all := h.met[o.tool]
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
		return isRemote(id)
	case o.tool == "flux" && h.first:
		return strings.HasSuffix(o.name, firstSource)
	case len(all) <= 1:
		return len(all) == 0 || has(all, id)
	}
	return all[id] && named(func(other string) bool { return all[other] }) == 1
}

// lends reports whether a source of an Application that is called so is the repository at hand.
func (h *hands) lends(l *lead, ref string) bool {
	return slices.ContainsFunc(l.sources(), func(s any) bool {
		url := plainURL(model.Text(s, "repoURL"))
		return model.Text(s, "ref") == ref && h.holds(origin{"argo", url, url})
	})
}

func has(m map[string]bool, key string) bool { _, ok := m[key]; return ok }

// plainURL is an address of a git repository without what may be written in several ways.
func plainURL(url string) string {
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

// remotes are the addresses of the repositories that the tops are clones of.
func remotes(tops []top) []string {
	var out []string
	for _, t := range tops {
		text, err := gitConfig(t.dir.Join(".git"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			if key, value, found := strings.Cut(line, "="); found && strings.TrimSpace(key) == "url" {
				out = append(out, plainURL(value))
			}
		}
	}
	return out
}

// gitConfig is the configuration of a repository, whose working tree may be one of several.
func gitConfig(at string) (string, error) {
	info, err := os.Stat(at)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		text, err := gitText(at)
		if err != nil {
			return "", err
		}
		dir, found := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
		if !found {
			return "", errors.New("not a working tree")
		}
		at = dir
		if common, err := gitText(filepath.Join(dir, "commondir")); err == nil {
			at = filepath.Join(dir, strings.TrimSpace(common))
		}
	}
	return gitText(filepath.Join(at, "config"))
}

// gitText is a small text of a repository: what is unpacked may call a device or a pipe so.
func gitText(file string) (string, error) {
	const most = 1 << 20
	if info, err := os.Stat(file); err != nil || info.Size() > most || !info.Mode().IsRegular() {
		return "", errors.New("no configuration")
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
