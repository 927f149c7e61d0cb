package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// ExtractedTree is what a revision of a git repository holds, in a folder of its own, so that it
// can be rendered as a working tree is.
type ExtractedTree struct {
	Submodules []string // names of the submodules, whose content is not there
	root       string   // the folder
	top        string   // of the working tree; "" if there is none
	prefix     string   // the working directory below the top, slash-separated
}

// ExtractRevision writes the files of a revision into an empty folder, from the repository's
// objects: nothing is checked out, no filter and no hook runs, and nothing is fetched. With paths,
// only what they name is written. Links that lead out of the folder or to nothing are left out. Of
// the repository's configuration only the addresses of its remotes are there, by which sources of
// GitOps objects are known. There is an *Error if no answer is possible.
func ExtractRevision(ctx context.Context, t GitTree, paths []string, into string) (*ExtractedTree, error) {
	g := &gitReader{tree: t, remaining: t.Limits.WithDefaults().Total}
	if err := g.findRevision(ctx); err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(into)
	if err != nil {
		return nil, g.newError(err.Error(), "")
	}
	out := &ExtractedTree{root: root, prefix: strings.TrimSuffix(g.prefix, "/")}
	if top, _, err := g.runGit(ctx, "rev-parse", "--show-toplevel"); err == nil {
		out.top = filepath.FromSlash(strings.TrimSuffix(top, "\n"))
	}
	var below []string
	for _, p := range paths {
		at, err := out.pathInTree(p)
		if err != nil {
			return nil, err
		}
		below = append(below, at)
	}
	entries, err := g.listEntries(ctx, below)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, g.newError(err.Error(), "")
	}
	defer dir.Close()
	files := slices.DeleteFunc(slices.Clone(entries), func(e gitEntry) bool {
		if e.isSubmodule {
			out.Submodules = append(out.Submodules, e.name)
		}
		return e.isSubmodule
	})
	if err := g.writeEntries(ctx, dir, files); err != nil {
		return nil, err
	}
	if err := g.writeRemotes(ctx, dir); err != nil {
		return nil, g.newError(err.Error(), "")
	}
	// the working directory need not be in the revision
	if out.prefix != "" {
		if err := dir.MkdirAll(out.prefix, 0o700); err != nil {
			return nil, g.newError(err.Error(), "")
		}
	}
	return out, nil
}

// isSafePath reports whether a path of a tree is one that git would write: a tree can be made by
// hand.
func isSafePath(name string) bool {
	if name == "" || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\n") {
		return false
	}
	return !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git")
	})
}

// isBelow reports whether a path is another one or below it.
func isBelow(name, p string) bool { return p == "." || name == p || strings.HasPrefix(name, p+"/") }

// writeEntries writes files, then links.
func (g *gitReader) writeEntries(ctx context.Context, dir *os.Root, entries []gitEntry) error {
	var links []extractedLink
	for _, e := range entries {
		if err := dir.MkdirAll(path.Dir(e.name), 0o700); err != nil {
			return g.newError(err.Error(), "")
		}
	}
	err := g.eachBlob(ctx, entries, func(e gitEntry, content io.Reader) error {
		if !e.isLink {
			return writeFile(dir, e.name, content)
		}
		if e.size > maxLinkTarget {
			return nil
		}
		target, err := io.ReadAll(content)
		links = append(links, extractedLink{e.name, string(target)})
		return err
	})
	if err != nil {
		return err
	}
	for _, l := range links { // behind the files, which nothing can then lead elsewhere
		_ = dir.Symlink(filepath.FromSlash(l.target), l.name) // a target may be too long
	}
	for _, l := range links {
		if _, err := dir.Stat(l.name); err == nil {
			continue
		}
		// it leads out of the folder, or to nothing
		if err := dir.Remove(l.name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return g.newError(err.Error(), "")
		}
	}
	return nil
}

// maxLinkTarget is how many bytes the target of a link may have.
const maxLinkTarget = 4096

// writeFile writes a file of a folder.
func writeFile(dir *os.Root, name string, content io.Reader) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// extractedLink is a link of the revision.
type extractedLink struct{ name, target string }

// eachBlob hands over the content of entries, all with one run of git.
func (g *gitReader) eachBlob(ctx context.Context, entries []gitEntry, use func(gitEntry, io.Reader) error) error {
	var ids strings.Builder
	for _, e := range entries {
		ids.WriteString(e.id + "\n")
	}
	cmd := g.newCommand(ctx, "cat-file", "--batch")
	words := document.NewBoundedBuffer(maxWords)
	cmd.Stdin, cmd.Stderr = strings.NewReader(ids.String()), words
	out, err := cmd.StdoutPipe()
	if err != nil {
		return g.newError(err.Error(), "")
	}
	if err := cmd.Start(); err != nil {
		return g.newError(err.Error(), "")
	}
	answers := bufio.NewReaderSize(out, 1<<16)
	for _, e := range entries {
		if err = useBlob(answers, e, use); err != nil {
			break
		}
	}
	if err != nil {
		_ = cmd.Process.Kill()
	}
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return g.newError(document.ProgramFailure(words.String(), err), missingObjectsHint)
	case ended != nil:
		return g.newError("git says: "+document.ProgramFailure(words.String(), ended), "")
	}
	return nil
}

// useBlob reads the answer about an entry, and hands over its content.
func useBlob(answers *bufio.Reader, e gitEntry, use func(gitEntry, io.Reader) error) error {
	header, err := answers.ReadString('\n')
	if err != nil {
		return err
	}
	fields := strings.Fields(header)
	if len(fields) != 3 || fields[1] != "blob" || fields[2] != strconv.FormatInt(e.size, 10) {
		return fmt.Errorf("%s is not among the repository's objects", e.name)
	}
	content := io.LimitReader(answers, e.size)
	if err := use(e, content); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return err
	}
	_, err = answers.Discard(1)
	return err
}

// writeRemotes makes the folder the top of a repository with the same remotes.
func (g *gitReader) writeRemotes(ctx context.Context, dir *os.Root) error {
	out, _, _ := g.runGit(ctx, "config", "--local", "--get-regexp", `^remote\..*\.url$`) // none: an error
	text := "[remote]\n"
	for line := range strings.Lines(out) {
		if _, url, found := strings.Cut(strings.TrimSpace(line), " "); found {
			text += "\turl = " + url + "\n"
		}
	}
	if err := dir.Mkdir(".git", 0o700); err != nil {
		return err
	}
	return dir.WriteFile(".git/config", []byte(text), 0o600)
}

// pathInTree is the path of the revision that a path on the command line is, from its top.
func (t *ExtractedTree) pathInTree(p string) (string, error) {
	at := path.Join(t.prefix, filepath.ToSlash(p))
	if filepath.IsAbs(p) {
		real, err := filepath.EvalSymlinks(p)
		if err != nil {
			real = filepath.Clean(p)
		}
		below, err := filepath.Rel(t.top, real)
		if t.top == "" || err != nil {
			return "", &document.Error{What: p, Err: errors.New("it is not in the repository"),
				Hint: "paths are compared within the git repository of the working directory"}
		}
		at = filepath.ToSlash(below)
	}
	if at == ".." || strings.HasPrefix(at, "../") {
		return "", &document.Error{What: p, Err: errors.New("it is not in the repository"),
			Hint: "paths are compared within the git repository of the working directory"}
	}
	return path.Clean(at), nil
}

// Path is where a file or folder of the command line is in the extracted tree, and whether the
// revision has it.
func (t *ExtractedTree) Path(p string) (at string, found bool, err error) {
	below, err := t.pathInTree(p)
	if err != nil {
		return "", false, err
	}
	at = filepath.Join(t.root, filepath.FromSlash(below))
	_, failed := os.Stat(at)
	return at, failed == nil, nil
}

// Restore returns a text in which files of the extracted tree are called as those of the working
// tree are.
func (t *ExtractedTree) Restore(text string) string {
	if !strings.Contains(text, t.root) {
		return text
	}
	here := filepath.Join(t.root, filepath.FromSlash(t.prefix))
	slash := string(filepath.Separator)
	text = strings.ReplaceAll(text, here+slash, "")
	text = replacePath(text, here, ".")
	up := "."
	if t.prefix != "" {
		up = strings.TrimSuffix(strings.Repeat("../", strings.Count(t.prefix, "/")+1), "/")
	}
	text = strings.ReplaceAll(text, t.root+slash, up+slash)
	return replacePath(text, t.root, up)
}

// replacePath replaces a path where it ends.
func replacePath(text, name, by string) string {
	parts := strings.Split(text, name)
	for i, rest := range parts[1:] {
		by := by
		first, _ := utf8.DecodeRuneInString(rest)
		if rest != "" && (first == filepath.Separator || first == '-' || first == '_' || unicode.IsLetter(first) ||
			unicode.IsDigit(first)) {
			by = name
		}
		parts[i] += by
	}
	return strings.Join(parts, "")
}
