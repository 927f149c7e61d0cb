package load

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/child"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
)

// What is kept of an answer of git about the repository, and of what it writes to its standard error.
const (
	maxAnswer = 1 << 20
	maxWords  = 64 << 10
)

// newCommand returns a run of git that changes nothing, asks nothing and fetches nothing. The
// configuration of the user and of the system counts, safe.directory above all.
func (g *gitReader) newCommand(ctx context.Context, args ...string) *exec.Cmd {
	bare := "explicit"
	if g.isBare {
		bare = "all"
	}
	cmd := child.NewCommand(ctx, "git", append([]string{"-c", "safe.bareRepository=" + bare,
		"-c", "core.bigFileThreshold=1m"}, args...)...) // above which git does not read all of a file at once
	cmd.Dir = g.tree.Dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_ALLOW_PROTOCOL=none") // what fetches in spite of all that, as git before 2.45 does, has no way to
	return cmd
}

// runGit returns what git prints, and what it says on its standard error.
func (g *gitReader) runGit(ctx context.Context, args ...string) (out string, words string, err error) {
	stdout, stderr := document.NewBoundedBuffer(maxAnswer), document.NewBoundedBuffer(maxWords)
	cmd := g.newCommand(ctx, args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return stdout.String(), strings.TrimSpace(stderr.String()), err
}

// readFiles reads the files, all with one run of git.
func (g *gitReader) readFiles(ctx context.Context, entries []gitEntry) ([]input.TextFile, error) {
	cmd := g.newCommand(ctx, "cat-file", "--batch", "--follow-symlinks")
	words := document.NewBoundedBuffer(maxWords)
	cmd.Stderr = words
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, g.newError(err.Error(), "")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, g.newError(err.Error(), "")
	}
	if err := cmd.Start(); err != nil {
		return nil, g.newError(err.Error(), "")
	}
	var texts []input.TextFile
	answers := bufio.NewReaderSize(out, 1<<16)
	for _, e := range entries {
		var text *input.TextFile
		if text, err = g.readFile(in, answers, e); err != nil {
			break
		}
		if text != nil {
			texts = append(texts, *text)
		}
	}
	_ = in.Close()
	if err != nil {
		_ = cmd.Process.Kill()
	}
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, g.newError(document.ProgramFailure(words.String(), err), missingObjectsHint)
	case ended != nil:
		return nil, g.newError("git says: "+document.ProgramFailure(words.String(), ended), "")
	}
	return texts, nil
}

// readFile asks for one file and reads the answer. It returns nil for what is no file of the
// revision.
func (g *gitReader) readFile(in io.Writer, answers *bufio.Reader, e gitEntry) (*input.TextFile, error) {
	t := &input.TextFile{Name: g.displayName(e.name), Size: e.size, Named: g.isFile}
	ask := e.id
	if e.isLink {
		ask = g.rootTree + ":" + path.Join(g.fullPath, e.name)
		if strings.Contains(e.name, "\n") {
			g.addNotRead(e.name, "it is a link whose name has a line break")
			return nil, nil
		}
	} else if e.size > g.remaining {
		return t, nil // the reader says so
	}
	if _, err := io.WriteString(in, ask+"\n"); err != nil {
		return nil, err
	}
	header, err := answers.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(header)
	if len(fields) < 2 || fields[len(fields)-1] == "missing" {
		return nil, fmt.Errorf("%s is not among the repository's objects", e.name)
	}
	size, err := strconv.ParseInt(fields[len(fields)-1], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("unexpected answer %q", strings.TrimSpace(header))
	}
	t.Size = size
	if len(fields) == 2 { // symlink, dangling, loop or notdir, and the size of what follows
		g.addNotRead(e.name, "it is a link that leads to no file of the revision ("+fields[0]+")")
		_, err = io.CopyN(io.Discard, answers, size+1)
		return nil, err
	}
	if fields[1] != "blob" || size > g.remaining {
		_, err = io.CopyN(io.Discard, answers, size+1)
		if fields[1] != "blob" { // a link to a folder
			return nil, err
		}
		return t, err
	}
	t.Content = make([]byte, size)
	if _, err := io.ReadFull(answers, t.Content); err != nil {
		return nil, err
	}
	_, err = answers.Discard(1)
	g.remaining -= size
	if document.FindContentStart(t.Content) == len(t.Content) {
		t.Content = nil // there is no document in it
	}
	return t, err
}

// missingObjectsHint is for objects that are not there.
const missingObjectsHint = "the clone may lack objects; fetch them, for example with: git fetch --refetch --no-filter"
