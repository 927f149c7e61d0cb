package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// GitTree is a folder or a file of a revision in a git repository.
type GitTree struct {
	Dir       string // where git is run; "" is the working directory
	Rev       string // anything that names a commit or a tree
	Path      string // slash-separated, below Dir; "" is Dir itself
	Recursive bool   // sub-folders too
	Limits    document.Limits
}

// GitRevision reads the manifests of a revision from the repository's objects, with the git
// program: nothing is checked out, no filter and no hook runs, and nothing is fetched. As in
// folders, links to folders are not followed; links to files are,
// inside the revision. What cannot be read of it is in the problems. There is an *Error if no
// answer is possible.
func GitRevision(ctx context.Context, t GitTree) ([]input.TextFile, []model.Problem, error) {
	g := &gitReader{tree: t, remaining: t.Limits.WithDefaults().Total}
	if err := g.findRevision(ctx); err != nil {
		return nil, nil, err
	}
	root, err := g.resolvePath(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, err := g.listManifests(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	texts, err := g.readFiles(ctx, entries)
	if err == nil && len(texts) == 0 {
		err = g.newError("it leads to no file of the revision", "links are followed to files of the revision only")
	}
	return texts, g.problems, err
}

type gitReader struct {
	tree      GitTree
	isFile    bool   // the path is that of a file
	isBare    bool   // the repository is a bare one, and within no working tree
	prefix    string // the folder where git is run, from the top of the repository
	fullPath  string // the path from the top of the repository
	rootTree  string // the revision's tree
	remaining int64
	problems  []model.Problem
}

// displayName is how origins and errors name a file below the path: REV:path, as it was typed.
func (g *gitReader) displayName(below string) string {
	return g.tree.Rev + ":" + path.Join(g.tree.Path, below)
}

func (g *gitReader) newError(err, hint string) *document.Error {
	return &document.Error{What: "git:" + strings.TrimSuffix(g.displayName(""), ":"), Err: errors.New(err), Hint: hint}
}

// findRevision notes the tree of the revision, and where the path is in it.
func (g *gitReader) findRevision(ctx context.Context) error {
	if strings.ContainsAny(g.tree.Rev+g.tree.Path, "\n\x00") {
		return g.newError("a revision and a path are on one line", "")
	}
	if err := g.findRepository(ctx); err != nil {
		return err
	}
	g.fullPath = path.Join(g.prefix, g.tree.Path)
	if path.IsAbs(g.tree.Path) || g.fullPath == ".." || strings.HasPrefix(g.fullPath, "../") {
		return g.newError("the path leads out of the repository", "paths are relative to the working directory")
	}
	tree, _, err := g.runGit(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", g.tree.Rev+"^{tree}")
	if err != nil {
		return g.unknownRevision(ctx, err)
	}
	g.rootTree = strings.TrimSpace(tree)
	return nil
}

// findRepository notes where git is run, from the top of the repository. A bare repository within a
// working tree is not used: it is made of ordinary files, which anyone may have committed, and git
// would believe it instead of the real one.
func (g *gitReader) findRepository(ctx context.Context) error {
	out, words, err := g.runGit(ctx, "rev-parse", "--show-prefix", "--absolute-git-dir")
	if err != nil && strings.Contains(words, "safe.bareRepository") && !g.isInWorkingTree() {
		g.isBare = true
		out, words, err = g.runGit(ctx, "rev-parse", "--show-prefix", "--absolute-git-dir")
	}
	prefix, dir, _ := strings.Cut(strings.TrimSuffix(out, "\n"), "\n")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return g.newError("there is no git program to read it with", "install git, or name two folders")
	case err != nil && strings.Contains(words, "not a git repository"):
		return g.newError("this is no git repository", "run it inside of one, or name folders")
	case err != nil && strings.Contains(words, "safe.bareRepository"), err == nil && g.isEmbedded(dir):
		return g.newError("a bare repository lies within a working tree, and is not used",
			"run it outside of that folder; if the bare repository is the one you mean, name it: GIT_DIR=/path/to/it")
	case err != nil && strings.Contains(words, "dubious ownership"):
		return g.newError("git says: "+document.ProgramFailure(words, err),
			"if you trust its owner: git config --global --add safe.directory PATH")
	case err != nil:
		return g.newError("git says: "+document.ProgramFailure(words, err), "")
	}
	g.prefix = prefix
	return nil
}

// isEmbedded reports whether git has taken the folder where it is run, or one above it, for a bare
// repository though it is within a working tree, as releases before 2.38 do.
func (g *gitReader) isEmbedded(dir string) bool {
	if os.Getenv("GIT_DIR") != "" || filepath.Base(dir) == ".git" {
		return false
	}
	below, err := filepath.Rel(input.RealPath(filepath.FromSlash(dir)), g.workingFolder())
	return err == nil && filepath.IsLocal(below) && g.isInWorkingTree()
}

// isInWorkingTree reports whether git is run in a working tree.
func (g *gitReader) isInWorkingTree() bool { return input.FindWorkingTree(g.workingFolder()) != "" }

// workingFolder is where git is run, without links.
func (g *gitReader) workingFolder() string { return input.RealPath(cmp.Or(g.tree.Dir, ".")) }

// resolvePath returns the id of the tree, or of the file, that the path names in the revision.
func (g *gitReader) resolvePath(ctx context.Context) (string, error) {
	root := g.rootTree
	if g.fullPath == "." || g.fullPath == "" {
		return root, nil
	}
	id, _, err := g.runGit(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", root+":"+g.fullPath)
	if err != nil {
		return "", g.newError(fmt.Sprintf("revision %q has no %s", g.tree.Rev, g.fullPath),
			"paths are relative to the working directory; see what is there with: git ls-tree -r --name-only "+
				g.tree.Rev)
	}
	kind, words, err := g.runGit(ctx, "cat-file", "-t", strings.TrimSpace(id))
	if err != nil {
		return "", g.newError("git says: "+document.ProgramFailure(words, err), "")
	}
	g.isFile = strings.TrimSpace(kind) == "blob"
	return strings.TrimSpace(id), nil
}

// unknownRevision returns the error for a revision that is not there.
func (g *gitReader) unknownRevision(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if g.tree.Rev == "" {
		return g.newError("it names no revision", "write git:REV or git:REV:PATH, for example git:main")
	}
	shallow, _, failed := g.runGit(ctx, "rev-parse", "--is-shallow-repository")
	cut := failed == nil && strings.TrimSpace(shallow) == "true"
	rev := strings.TrimPrefix(strings.TrimPrefix(g.tree.Rev, "refs/remotes/"), "origin/")
	hint := "fetch it: git fetch origin " + rev
	switch {
	case strings.HasPrefix(rev, "-"): // an option to fetch
		hint = "write git:REV or git:REV:PATH, for example git:main"
	case !strings.HasPrefix(rev, "HEAD") && cut:
		hint += " (the clone is shallow: only what was fetched is there; in GitHub Actions, give actions/checkout fetch-depth: 0)"
	case strings.HasPrefix(rev, "HEAD") && cut:
		hint = "the clone is shallow; fetch the rest of it: git fetch --unshallow (in GitHub Actions, give actions/checkout fetch-depth: 0)"
	case strings.HasPrefix(rev, "HEAD"): // which is never fetched
		hint = "see what there is with: git log --oneline"
	}
	return g.newError(fmt.Sprintf("there is no revision %q", g.tree.Rev), hint)
}

// addNotRead notes a file that takes no part though it may hold manifests.
func (g *gitReader) addNotRead(name, why string) {
	g.problems = append(g.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Origin: &model.Origin{File: g.displayName(name), Line: 1}, Message: "not read: " + why})
}
