package load

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// addBareRepository puts a bare repository of other files into a folder.
func addBareRepository(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	other := repository(t, files)
	git(t, filepath.Dir(folder), "clone", "-q", "--bare", other, folder+".bare")
	if err := os.CopyFS(folder, os.DirFS(folder+".bare")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(folder + ".bare"); err != nil {
		t.Fatal(err)
	}
}

// TestGitEmbeddedRepository: a bare repository among the files of a working tree is not believed,
// whether git finds it in the folder or above it.
func TestGitEmbeddedRepository(t *testing.T) {
	dir := repository(t, map[string]string{"d/a.yaml": "real", "d/sub/b.yaml": "real"})
	addBareRepository(t, filepath.Join(dir, "d"), map[string]string{"a.yaml": "made up"})
	for _, below := range []string{"d", "d/sub"} {
		_, _, err := GitRevision(context.Background(), GitTree{Dir: filepath.Join(dir, below), Rev: "HEAD"})
		var failed *document.Error
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), "a bare repository lies within a working tree") ||
			!strings.Contains(failed.Hint, "GIT_DIR") {
			t.Errorf("%s: %v", below, err)
		}
		_, err = ExtractRevision(context.Background(), GitTree{Dir: filepath.Join(dir, below), Rev: "HEAD"}, nil,
			t.TempDir())
		if err == nil || !strings.Contains(err.Error(), "a bare repository lies within a working tree") {
			t.Errorf("%s: written down: %v", below, err)
		}
	}
	if read, _ := namesRead(t, GitTree{Dir: dir, Rev: "HEAD", Path: "d"}); len(read) != 1 || read[0] != "HEAD:d/a.yaml=real" {
		t.Errorf("from the top: %q", read)
	}
	t.Setenv("GIT_DIR", filepath.Join(dir, "d"))
	if read, _ := namesRead(t, GitTree{Dir: filepath.Join(dir, "d"), Rev: "HEAD"}); len(read) != 1 ||
		!strings.HasSuffix(read[0], "=made up") {
		t.Errorf("named by GIT_DIR: %q", read)
	}
}

// TestGitEmbeddedInOldGit: releases of git that know no safe.bareRepository are not believed either.
func TestGitEmbeddedInOldGit(t *testing.T) {
	dir := repository(t, map[string]string{"d/a.yaml": "real"})
	for _, c := range []struct {
		dir, found string
		want       bool
	}{
		{"d", "d", true}, {"d/e", "d", true}, {"d", ".git", false}, {".git", ".git", false}, {"d", ".git/worktrees/x", false},
	} {
		g := &gitReader{tree: GitTree{Dir: filepath.Join(dir, c.dir)}}
		if got := g.isEmbedded(filepath.Join(dir, c.found)); got != c.want {
			t.Errorf("%s with %s: %v", c.dir, c.found, got)
		}
	}
}

// TestGitBareRepository: one that is within no working tree is used.
func TestGitBareRepository(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bare")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	addBareRepository(t, dir, map[string]string{"a.yaml": "a"})
	if read, _ := namesRead(t, GitTree{Dir: dir, Rev: "HEAD"}); len(read) != 1 || read[0] != "HEAD:a.yaml=a" {
		t.Errorf("read %q", read)
	}
}

// TestGitOfAnotherOwner: what git refuses is refused, and safe.directory of the user counts.
func TestGitOfAnotherOwner(t *testing.T) {
	dir := repository(t, map[string]string{"a.yaml": "a"})
	t.Setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
	_, _, err := GitRevision(context.Background(), GitTree{Dir: dir, Rev: "HEAD"})
	var failed *document.Error
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "dubious ownership") ||
		!strings.Contains(failed.Hint, "safe.directory") {
		t.Errorf("got %v", err)
	}
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("[safe]\n\tdirectory = *\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	if read, _ := namesRead(t, GitTree{Dir: dir, Rev: "HEAD"}); len(read) != 1 {
		t.Errorf("with safe.directory: %q", read)
	}
}
