package load

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// GitTree is a folder or a file of a revision in a git repository.
type GitTree struct {
	Dir       string // where git is run; "" is the working directory
	Rev       string // anything that names a commit or a tree
	Path      string // slash-separated, below Dir; "" is Dir itself
	Recursive bool   // sub-folders too
	Limits    Limits
}

// Text is one file of an input that was read elsewhere.
type Text struct {
	Name    string // as origins name it
	Content []byte
	Size    int64 // where Content was not read because it is too large
	Named   bool  // given by its own name rather than found in a folder
}

// Git reads the manifests of a revision from the repository's objects, with the git program: nothing is checked out, no filter and no hook runs,
// and nothing is fetched. As in folders, hidden files are left out and links to folders are not followed; links to files are, inside the
// revision. What cannot be read of it is in the problems. There is an *Error if no answer is possible.
func Git(ctx context.Context, t GitTree) ([]Text, []model.Problem, error) {
	g := &gitReader{tree: t, left: t.Limits.orDefault().Total}
	root, err := g.resolve(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, err := g.list(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	texts, err := g.contents(ctx, entries)
	if err == nil && len(texts) == 0 {
		err = g.fail("it leads to no file of the revision", "links are followed to files of the revision only")
	}
	return texts, g.problems, err
}

type gitReader struct {
	tree     GitTree
	file     bool   // the path is that of a file
	full     string // the path from the top of the repository
	top      string // the revision's tree
	left     int64
	problems []model.Problem
}

// gitEntry is a file of the revision.
type gitEntry struct {
	id   string
	name string // below the path
	size int64
	link bool
}

// name is how origins and errors name a file below the path: REV:path, as it was typed.
func (g *gitReader) name(below string) string {
	return g.tree.Rev + ":" + path.Join(g.tree.Path, below)
}

func (g *gitReader) fail(err, hint string) *Error {
	return &Error{What: "git:" + strings.TrimSuffix(g.name(""), ":"), Err: errors.New(err), Hint: hint}
}

// resolve is the id of the tree, or of the file, that is meant.
func (g *gitReader) resolve(ctx context.Context) (string, error) {
	if strings.ContainsAny(g.tree.Rev+g.tree.Path, "\n\x00") {
		return "", g.fail("a revision and a path are on one line", "")
	}
	prefix, words, err := g.run(ctx, "rev-parse", "--show-prefix")
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", g.fail("there is no git program to read it with", "install git, or name two folders")
	case err != nil && strings.Contains(words, "not a git repository"):
		return "", g.fail("this is no git repository", "run it inside of one, or name folders")
	case err != nil:
		return "", g.fail("git says: "+oneLine(words, err), "")
	}
	g.full = path.Join(strings.TrimSuffix(prefix, "\n"), g.tree.Path)
	if path.IsAbs(g.tree.Path) || g.full == ".." || strings.HasPrefix(g.full, "../") {
		return "", g.fail("the path leads out of the repository", "paths are relative to the working directory")
	}
	tree, _, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", g.tree.Rev+"^{tree}")
	if err != nil {
		return "", g.unknown(ctx, err)
	}
	root := strings.TrimSpace(tree)
	g.top = root
	if g.full == "." || g.full == "" {
		return root, nil
	}
	id, _, err := g.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", root+":"+g.full)
	if err != nil {
		return "", g.fail(fmt.Sprintf("revision %q has no %s", g.tree.Rev, g.full), "paths are relative to the working directory; see what is there with: git ls-tree -r --name-only "+g.tree.Rev)
	}
	kind, words, err := g.run(ctx, "cat-file", "-t", strings.TrimSpace(id))
	if err != nil {
		return "", g.fail("git says: "+oneLine(words, err), "")
	}
	g.file = strings.TrimSpace(kind) == "blob"
	return strings.TrimSpace(id), nil
}

// unknown is the error for a revision that is not there.
func (g *gitReader) unknown(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if g.tree.Rev == "" {
		return g.fail("it names no revision", "write git:REV or git:REV:PATH, for example git:main")
	}
	shallow, _, failed := g.run(ctx, "rev-parse", "--is-shallow-repository")
	cut := failed == nil && strings.TrimSpace(shallow) == "true"
	rev := strings.TrimPrefix(strings.TrimPrefix(g.tree.Rev, "refs/remotes/"), "origin/")
	hint := "fetch it: git fetch origin " + rev
	switch {
	case strings.HasPrefix(rev, "-"): // an option to fetch
		hint = "write git:REV or git:REV:PATH, for example git:main"
	case !strings.HasPrefix(rev, "HEAD") && cut:
		hint += " (the clone is shallow: only what was fetched is there)"
	case strings.HasPrefix(rev, "HEAD") && cut:
		hint = "the clone is shallow; fetch the rest of it: git fetch --unshallow"
	case strings.HasPrefix(rev, "HEAD"): // which is never fetched
		hint = "see what there is with: git log --oneline"
	}
	return g.fail(fmt.Sprintf("there is no revision %q", g.tree.Rev), hint)
}

// list is the manifests below the tree, or the file itself.
func (g *gitReader) list(ctx context.Context, root string) ([]gitEntry, error) {
	if g.file {
		return []gitEntry{{link: true}}, nil // perhaps it is one
	}
	out, words, err := g.run(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", root)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, g.fail("git says: "+oneLine(words, err), lacksHint)
	}
	var entries []gitEntry
	below := false
	for _, line := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if len(fields) != 4 || hiddenBelow(name) {
			continue
		}
		inside := strings.Contains(name, "/")
		switch {
		case inside && !g.tree.Recursive:
			below = below || fields[1] == "blob" && isManifest(name)
		case fields[1] == "commit":
			if g.tree.Recursive {
				g.notRead(name, "it is a submodule, another repository: what it holds is not read")
			}
		case fields[1] == "blob" && isManifest(name):
			size, _ := strconv.ParseInt(fields[3], 10, 64)
			entries = append(entries, gitEntry{id: fields[2], name: name, size: size, link: fields[0] == "120000"})
		}
	}
	if len(entries) == 0 {
		hint := "manifests are files that end in .yaml, .yml or .json"
		if below {
			hint = "its sub-folders hold some: add -R"
		}
		return nil, g.fail("the folder holds no manifests", hint)
	}
	return entries, nil
}

// hiddenBelow reports whether a part of the path is hidden.
func hiddenBelow(name string) bool {
	for _, part := range strings.Split(name, "/") {
		if hidden(part) {
			return true
		}
	}
	return false
}

// notRead notes a file that takes no part though it may hold manifests.
func (g *gitReader) notRead(name, why string) {
	g.problems = append(g.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Origin: &model.Origin{File: g.name(name), Line: 1}, Message: "not read: " + why})
}
