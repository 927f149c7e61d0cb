//go:build linux

package hostiletest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// gitAttacks are repositories that stand for more than there is, or that lie within another one.
var gitAttacks = []folderAttack{
	{attack{name: "a git bomb", args: "diff git:bomb:m m -R", exit: 3, want: "more than 500000 files and folders"},
		gitBomb("100644 blob %s\tx.txt\x00", 10)},
	{attack{name: "a git bomb of manifests", args: "diff git:bomb:m m -R", exit: 3, want: "more than 100000 files"},
		gitBomb("100644 blob %s\tx.yaml\x00", 10)},
	{attack{name: "a git bomb of folders", args: "diff git:bomb:m m -R", exit: 3,
		want: "more than 500000 files and folders"}, gitBomb("", 10)},
	{attack{name: "a git bomb that nobody asks for", args: "diff git:bomb:m m", exit: 3,
		want: "the folder holds no manifests"}, gitBomb("", 10)},
	{attack{name: "a git bomb that is written down", args: "check -R -f m --new-from git:bomb", exit: 3,
		want: "more than 100000 files"}, gitBomb("100644 blob %s\tx.yaml\x00", 10)},
	{attack{name: "a git bomb beside what is written down", args: "check -f new --new-from git:bomb", exit: 0, want: "notes in 1 object"},
		func(t *testing.T) {
			gitBomb("100644 blob %s\tx.yaml\x00", 10)(t)
			files(map[string]string{"new/a.yaml": route})(t)
		}},
	{attack{name: "many names of one large file in git", args: "diff git:bomb:m m -R", exit: 0, want: "--max-input"},
		manyNames(60, 30<<20)},
	{attack{name: "a repository within the working tree", args: "diff git:main m", exit: 3,
		want: "a bare repository lies within a working tree"}, func(t *testing.T) {
		git(t, "", "init", "-q", "-b", "main")
		files(map[string]string{"sub/m/a.yaml": route})(t)
		git(t, "", "init", "-q", "--bare", "planted")
		if err := os.CopyFS("sub", os.DirFS("planted")); err != nil {
			t.Fatal(err)
		}
		t.Chdir("sub")
	}},
}

// gitBomb makes a repository with a branch called bomb: so many folders that each hold the next one
// ten times, with leaf in the last. Here %s in leaf is a manifest.
func gitBomb(leaf string, deep int) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		files(map[string]string{"m/a.yaml": route})(t)
		git(t, "", "init", "-q")
		blob := git(t, route, "hash-object", "-w", "--stdin")
		if leaf != "" {
			leaf = fmt.Sprintf(leaf, blob)
		}
		tree := git(t, leaf, "mktree", "-z")
		for range deep {
			entries := ""
			for i := range 10 {
				entries += fmt.Sprintf("040000 tree %s\td%d\x00", tree, i)
			}
			tree = git(t, entries, "mktree", "-z")
		}
		commitTree(t, tree)
	}
}

// manyNames makes a repository whose branch called bomb has one large file of comments under so many
// names.
func manyNames(n, size int) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		files(map[string]string{"m/a.yaml": route})(t)
		git(t, "", "init", "-q")
		entries := "100644 blob " + git(t, route, "hash-object", "-w", "--stdin") + "\ta.yaml\x00"
		blob := git(t, strings.Repeat("# comment\n", size/10), "hash-object", "-w", "--stdin")
		for i := range n {
			entries += fmt.Sprintf("100644 blob %s\tm%02d.yaml\x00", blob, i)
		}
		commitTree(t, git(t, entries, "mktree", "-z"))
	}
}

// commitTree makes the branch called bomb, with a tree as its folder m.
func commitTree(t *testing.T, tree string) {
	t.Helper()
	top := git(t, "040000 tree "+tree+"\tm\x00", "mktree", "-z")
	git(t, "", "branch", "bomb", git(t, "", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit-tree", "-m", "x", top))
}

// git runs git with a text as its input, and returns what it prints.
func git(t *testing.T, in string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}
