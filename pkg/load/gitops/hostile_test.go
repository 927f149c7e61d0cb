package gitops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// matrices is a matrix within a matrix, so deep, each over a list of elements of its own; the
// innermost makes nothing.
func matrices(deep, elements int) any {
	list := make([]any, elements)
	for i := range list {
		list[i] = map[string]any{"x": "y"}
	}
	of := func(list []any) any { return map[string]any{"list": map[string]any{"elements": list}} }
	inner := of(nil)
	for range deep {
		inner = map[string]any{"matrix": map[string]any{"generators": []any{of(list), inner}}}
	}
	return inner
}

func setWith(generators ...any) *gitopsSource {
	return &gitopsSource{kind: "argoproj.io/ApplicationSet", name: "s", namespace: "argocd",
		value: map[string]any{"spec": map[string]any{"generators": generators,
			"template": map[string]any{"metadata": map[string]any{"name": "{{x}}"}}}}}
}

// Matrices multiply what they go through, even if they make nothing.
func TestMatricesOfMatrices(t *testing.T) {
	at := &workspace{}
	made, err := newAppSetGenerator(at, &repositoryMatcher{}, setWith(matrices(6, 1000))).makeApplications(t.Context(),
		setWith(matrices(6, 1000)))
	if !errors.Is(err, errTooManyValues) || len(made) > 0 {
		t.Errorf("%d, %v", len(made), err)
	}
	if made, err := newAppSetGenerator(&workspace{}, &repositoryMatcher{},
		setWith(matrices(0, 0))).makeApplications(t.Context(), setWith(matrices(1, 3))); err != nil || len(made) > 0 {
		t.Errorf("%d, %v", len(made), err)
	}
}

// What stands where git has its configuration is read only if it is a small file.
func TestGitConfigIsSmallAndRegular(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"a device": func(dir string) error { return os.Symlink("/dev/zero", filepath.Join(dir, ".git")) },
		"a device behind": func(dir string) error {
			return redirected(dir, func(common string) error { return os.Symlink("/dev/zero", common) })
		},
		"a device as config": func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, ".git"), 0o700),
				os.Symlink("/dev/zero", filepath.Join(dir, ".git/config")))
		},
		"more than a megabyte": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+strings.Repeat("x", 2<<20)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := make(dir); err != nil {
				t.Skip(err)
			}
			ended := time.AfterFunc(10*time.Second, func() { panic("it is read without end") })
			defer ended.Stop()
			if text, err := readGitConfig(filepath.Join(dir, ".git")); err == nil {
				t.Errorf("%.80q", text)
			}
		})
	}
}

// redirected makes a working tree that leads to another folder, in which something is called
// commondir.
func redirected(dir string, put func(common string) error) error {
	return errors.Join(os.Mkdir(filepath.Join(dir, "git"), 0o700), put(filepath.Join(dir, "git/commondir")),
		os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: "+filepath.Join(dir, "git")+"\n"), 0o600))
}

// FuzzApplicationSet: whatever an ApplicationSet says, what it makes ends and is bounded.
func FuzzApplicationSet(f *testing.F) {
	for _, seed := range []string{
		"generators: [{list: {elements: [{name: a}, {name: b}]}}]\ntemplate: {metadata: {name: '{{name}}'}}\n",
		"goTemplate: true\ngoTemplateOptions: ['missingkey=error']\ngenerators: [{matrix: {generators: [{list: {elements: [{a: {b: c}}]}}, {git: {repoURL: x, directories: [{path: '*'}, {path: a, exclude: true}], values: {d: '{{.a.b}}'}}}]}}]\ntemplate: {metadata: {name: '{{.path.basename | upper | default \"x\"}}'}}\ntemplatePatch: 'spec: {project: {{.a.b}}}'\n",
		"generators: [{git: {repoURL: x, pathParamPrefix: p, files: [{path: '**/*.json'}]}}]\ntemplate: {metadata: {name: '{{p.path[0]}}-{{q.r}}'}}\n",
		"goTemplate: true\ngenerators: [{list: {elements: [{name: a}]}}]\ntemplate: {metadata: {name: '{{ regexReplaceAll \"(a*)*b\" .name \"$1\" }}{{ if (index .name 0) }}x{{else}}y{{end}}'}}\n",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	for _, name := range []string{"a/config.json", "b/c/config.json"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700),
			os.WriteFile(filepath.Join(dir, name), []byte(`{"q": {"r": "s"}}`), 0o600)); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits := document.Limits{Document: 1 << 16, Nodes: 10_000, Repeated: 1000}
		r := newWorkspace(kustomize.NewWalk(&input.Reader{}, limits.WithDefaults(), nil), limits.WithDefaults())
		r.findPathRoots([]string{dir})
		docs, failed := document.ParseManifests([]byte("spec:\n  "+strings.ReplaceAll(text, "\n", "\n  ")), r.limits)
		if failed != nil {
			return
		}
		for _, doc := range docs {
			l := &gitopsSource{kind: "argoproj.io/ApplicationSet", name: "s", namespace: "argocd", value: doc.Value}
			g := newAppSetGenerator(&r, &repositoryMatcher{}, l)
			g.isLocal = func(sourceRepository) bool { return true }
			made, err := g.makeApplications(t.Context(), l)
			if len(made) > maxApplications || err != nil && (err.Error() == "" || len(err.Error()) > 1<<16) {
				t.Errorf("%d, %v", len(made), err)
			}
			for _, app := range made {
				if _, ok := app.value.(map[string]any); !ok || app.namespace == "" &&
					model.Text(app.value, "metadata", "namespace") != "" {
					t.Errorf("%+v", app)
				}
			}
		}
	})
}

// FuzzGitConfig: whatever stands in the files of a repository, what is read of them is addresses in
// one form.
func FuzzGitConfig(f *testing.F) {
	f.Add("[remote \"origin\"]\n\turl = git@example.com:org/repo.git\n", "gitdir: git\n", "..\n")
	f.Add("url=https://user:secret@example.com:8443/x/\n", "gitdir: \n", "")
	f.Fuzz(func(t *testing.T, config, redirect, common string) {
		dir := t.TempDir()
		put := func(name, text string) {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700),
				os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		put("a/.git/config", config)
		put("b/.git", redirect)
		put("git/config", config)
		put("git/commondir", common)
		put("c/.git", "gitdir: "+dir+"/git\n")
		put("git/worktree/x", "")
		r := newWorkspace(kustomize.NewWalk(&input.Reader{}, document.Limits{}.WithDefaults(), nil),
			document.Limits{}.WithDefaults())
		r.findPathRoots([]string{dir + "/a", dir + "/b", dir + "/c"})
		for _, url := range findRemotes(r.pathRoots) {
			if normalizeURL(url) != normalizeURL(strings.TrimSuffix(url, "/")) || strings.HasSuffix(url, ".git") &&
				strings.HasSuffix(url, "/") {
				t.Errorf("%q", url)
			}
			if strings.ContainsAny(url, "\n") {
				t.Errorf("%q is of several lines", url)
			}
		}
	})
}
