package load

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// repository makes a repository of files, which may be links ("-> target"), with one commit.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(target, file)
		} else {
			err = os.WriteFile(file, []byte(text), 0o644)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	git(t, dir, "add", "-A")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "all")
	return dir
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// names are what was read, and the origins of what was not.
func namesRead(t *testing.T, tree GitTree) (read, not []string) {
	t.Helper()
	texts, problems, err := GitRevision(context.Background(), tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		read = append(read, text.Name+"="+string(text.Content))
	}
	for _, p := range problems {
		not = append(not, p.Origin.File)
	}
	slices.Sort(read)
	slices.Sort(not)
	return read, not
}

func TestGitLinks(t *testing.T) {
	dir := repository(t, map[string]string{"d/a.yaml": "a", "d/link.yaml": "-> ../other/b.yaml", "other/b.yaml": "b",
		"d/away.yaml": "-> /etc/passwd",
		"d/gone.yaml": "-> nothing.yaml", "d/folder.yaml": "-> ../other", "d/.hidden.yaml": "h", "d/text.txt": "t",
		"d/e/c.yaml": "c", "d/.git-like/x.yaml": "x"})
	read, not := namesRead(t, GitTree{Dir: dir, Rev: "HEAD", Path: "d"})
	if want := []string{"HEAD:d/.hidden.yaml=h", "HEAD:d/a.yaml=a", "HEAD:d/link.yaml=b"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
	if want := []string{"HEAD:d/away.yaml", "HEAD:d/gone.yaml"}; !slices.Equal(not, want) {
		t.Errorf("not read %q, want %q", not, want)
	}
	read, _ = namesRead(t, GitTree{Dir: filepath.Join(dir, "d"), Rev: "HEAD", Recursive: true})
	if want := []string{"HEAD:.git-like/x.yaml=x", "HEAD:.hidden.yaml=h", "HEAD:a.yaml=a", "HEAD:e/c.yaml=c",
		"HEAD:link.yaml=b"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
	}
	read, _ = namesRead(t, GitTree{Dir: dir, Rev: "HEAD", Path: "d/link.yaml"})
	if want := []string{"HEAD:d/link.yaml=b"}; !slices.Equal(read, want) {
		t.Errorf("a link by its name: %q", read)
	}
}

func TestGitSubmodule(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": "a"})
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+git(t, dir, "rev-parse", "HEAD")+",sub")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "sub")
	if _, not := namesRead(t, GitTree{Dir: dir, Rev: "HEAD", Recursive: true}); !slices.Equal(not,
		[]string{"HEAD:sub"}) {
		t.Errorf("not read: %q", not)
	}
	if _, not := namesRead(t, GitTree{Dir: dir, Rev: "HEAD"}); not != nil {
		t.Errorf("not read: %q, and folders are not read", not)
	}
}

// TestGitLimit: a file that is too large is not read, and Files says so.
func TestGitLimit(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": strings.Repeat("#", 100),
		"b.yaml": "kind: Namespace\napiVersion: v1\nmetadata: {name: b}\n"})
	texts, _, err := GitRevision(context.Background(), GitTree{Dir: dir, Rev: "HEAD",
		Limits: document.Limits{Total: 90}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := Files(context.Background(), Options{TextFiles: texts, Limits: document.Limits{Total: 90}})
	if err != nil || len(in.Objects) != 1 || len(in.Problems) != 1 || in.Problems[0].Origin.File != "HEAD:a.yaml" {
		t.Errorf("read %d objects, problems %v, %v", len(in.Objects), in.Problems, err)
	}
}

// TestGitMissingObject: what a partial clone lacks is an error, and is not fetched.
func TestGitMissingObject(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": "a", "b.yaml": "b"})
	id := git(t, dir, "rev-parse", "HEAD:b.yaml")
	if err := os.Remove(filepath.Join(dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	_, _, err := GitRevision(context.Background(), GitTree{Dir: dir, Rev: "HEAD"})
	var failed *document.Error
	if !errors.As(err, &failed) || failed.Hint == "" {
		t.Errorf("got %v", err)
	}
}

// TestGitPartialClone: a clone without the contents of files is an error that says so; nothing is
// fetched, whatever fetches with this git.
func TestGitPartialClone(t *testing.T) {
	from := repository(t, map[string]string{"a.yaml": "a"})
	git(t, from, "config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, from, "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+filepath.ToSlash(from), dir)
	_, _, err := GitRevision(context.Background(), GitTree{Dir: dir, Rev: "HEAD"})
	var failed *document.Error
	if !errors.As(err, &failed) || !strings.Contains(failed.Hint, "--no-filter") ||
		strings.Contains(failed.Error(), "warning") {
		t.Errorf("got %v", err)
	}
	if missing := git(t, dir, "rev-list", "--objects", "--missing=print", "HEAD"); !strings.Contains(missing, "?") {
		t.Error("the file was fetched")
	}
}

// TestGitUnknown: hints for revisions that no fetch brings.
func TestGitUnknown(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": "a"})
	for _, rev := range []string{"HEAD~7", "-x"} {
		_, _, err := GitRevision(context.Background(), GitTree{Dir: dir, Rev: rev})
		var failed *document.Error
		if !errors.As(err, &failed) || strings.Contains(failed.Hint, "fetch") {
			t.Errorf("%s: got %v", rev, err)
		}
	}
}

func TestGitWithoutProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, err := GitRevision(context.Background(), GitTree{Rev: "HEAD"}); err == nil ||
		!strings.Contains(err.Error(), "there is no git program") {
		t.Errorf("got %v", err)
	}
}

func TestGitCancelled(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": "a"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := GitRevision(ctx, GitTree{Dir: dir, Rev: "HEAD"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
