package load

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// extractedFiles returns the files and links of a folder, with what they hold, but for those of
// git.
func extractedFiles(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(folder, p)
		text, err := os.ReadFile(p)
		if name = filepath.ToSlash(name); !strings.HasPrefix(name, ".git/") {
			out = append(out, name+"="+string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestExtractRevision(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := repository(t, map[string]string{"a.yaml": "a", "sub/b.txt": "b", ".hidden": "h", "inside": "-> sub/b.txt",
		"folder": "-> sub", "absolute": "-> " + outside, "up": "-> ../x", "nothing": "-> none",
		"sub/twice": "-> ../folder/../../x"})
	git(t, dir, "remote", "add", "origin", "https://git.example.com/team/shop.git")
	git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+git(t, dir, "rev-parse", "HEAD")+",vendored")
	git(t, dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "submodule")
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		below string // where git is run
		paths []string
		want  []string
	}{
		"all":     {"", nil, []string{".hidden=h", "a.yaml=a", "inside=b", "sub/b.txt=b"}},
		"a part":  {"", []string{"sub"}, []string{"sub/b.txt=b"}},
		"a file":  {"sub", []string{"../a.yaml"}, []string{"a.yaml=a"}},
		"nothing": {"sub", []string{"none"}, nil},
	} {
		into := t.TempDir()
		tree, err := ExtractRevision(context.Background(), GitTree{Dir: filepath.Join(dir, c.below), Rev: "HEAD"}, c.paths,
			into)
		if err != nil {
			t.Errorf("%s: %s", name, err)
			continue
		}
		if c.paths == nil {
			if !slices.Equal(tree.Submodules, []string{"vendored"}) {
				t.Errorf("submodules: %v", tree.Submodules)
			}
			if target, err := os.Readlink(filepath.Join(into, "folder")); target != "sub" {
				t.Errorf("folder leads to %q, %v", target, err)
			}
			_ = os.Remove(filepath.Join(into, "folder"))
		}
		if got := extractedFiles(t, into); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if config, err := os.ReadFile(filepath.Join(into, ".git", "config")); err != nil ||
			!strings.Contains(string(config), "url = https://git.example.com/team/shop.git") {
			t.Errorf("%s: config %q, %v", name, config, err)
		}
	}
}

// TestExtractHostile: trees that git itself would not check out.
func TestExtractHostile(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": "a"})
	blob := git(t, dir, "rev-parse", "HEAD:a.yaml")
	link := strings.TrimSpace(pipe(t, dir, "..", "hash-object", "-w", "--stdin"))
	inner := pipe(t, dir, "100644 blob "+blob+"\tout.yaml\x00", "mktree", "-z")
	for name, entries := range map[string]string{
		"a folder called ..":   "040000 tree " + inner + "\t..\x00",
		"a folder called .git": "040000 tree " + inner + "\t.GIT\x00",
		"a link and a folder":  "120000 blob " + link + "\tx\x00040000 tree " + inner + "\tx\x00",
	} {
		id := pipe(t, dir, "100644 blob "+blob+"\tz.yaml\x00"+entries, "mktree", "-z")
		into := filepath.Join(t.TempDir(), "into")
		if err := os.Mkdir(into, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := ExtractRevision(context.Background(), GitTree{Dir: dir, Rev: id}, nil, into); err != nil {
			t.Errorf("%s: %s", name, err)
		}
		for _, wrong := range []string{"../out.yaml", ".GIT/out.yaml", ".git/out.yaml"} {
			if _, err := os.Lstat(filepath.Join(into, wrong)); err == nil {
				t.Errorf("%s: %s is written", name, wrong)
			}
		}
		if _, err := os.Stat(filepath.Join(into, "z.yaml")); err != nil {
			t.Errorf("%s: %s", name, err)
		}
	}
}

// pipe runs git with standard input.
func pipe(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func TestExtractErrors(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": "a: b"})
	for name, c := range map[string]struct {
		tree GitTree
		path string
		want string
	}{
		"revision": {GitTree{Dir: dir, Rev: "none"}, "a.yaml", `there is no revision "none"`},
		"outside":  {GitTree{Dir: dir, Rev: "HEAD"}, "../x", "not in the repository"},
		"absolute": {GitTree{Dir: dir, Rev: "HEAD"}, filepath.Dir(dir), "not in the repository"},
		"no git":   {GitTree{Dir: t.TempDir(), Rev: "HEAD"}, "a.yaml", "no git repository"},
		"size":     {GitTree{Dir: dir, Rev: "HEAD", Limits: document.Limits{Total: 3}}, "a.yaml", "larger than 3 bytes"},
	} {
		_, err := ExtractRevision(context.Background(), c.tree, []string{c.path}, t.TempDir())
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestRestore(t *testing.T) {
	root := filepath.FromSlash("/tmp/x")
	for _, c := range []struct{ prefix, text, want string }{
		{"", "/tmp/x/a.yaml:1 in /tmp/x: none", "a.yaml:1 in .: none"},
		{"", "/tmp/xy/a.yaml", "/tmp/xy/a.yaml"},
		{"apps/shop", "/tmp/x/apps/shop/a.yaml and /tmp/x/base/b.yaml", "a.yaml and ../../base/b.yaml"},
		{"apps", "in /tmp/x/apps", "in ."},
		{"apps", "in /tmp/x", "in .."},
	} {
		tree := ExtractedTree{root: root, prefix: c.prefix}
		if got := tree.Restore(filepath.FromSlash(c.text)); got != filepath.FromSlash(c.want) {
			t.Errorf("%s: %q is %q, want %q", c.prefix, c.text, got, c.want)
		}
	}
}
