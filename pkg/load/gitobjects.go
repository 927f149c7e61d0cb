package load

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"time"
)

// gitWait is how long git may take to end once it is told to.
const gitWait = 2 * time.Second

// command is a run of git that changes nothing, asks nothing and fetches nothing.
func (g *gitReader) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = g.tree.Dir, gitWait
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none") // what fetches in spite of all that, as git before 2.45 does, has no way to
	return cmd
}

// run is what git prints, and its own words if it fails.
func (g *gitReader) run(ctx context.Context, args ...string) (out string, words string, err error) {
	var stdout, stderr bytes.Buffer
	cmd := g.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return stdout.String(), strings.TrimSpace(stderr.String()), err
}

// contents reads the files, all with one run of git.
func (g *gitReader) contents(ctx context.Context, entries []gitEntry) ([]Text, error) {
	cmd := g.command(ctx, "cat-file", "--batch", "--follow-symlinks")
	var words bytes.Buffer
	cmd.Stderr = &words
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, g.fail(err.Error(), "")
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, g.fail(err.Error(), "")
	}
	if err := cmd.Start(); err != nil {
		return nil, g.fail(err.Error(), "")
	}
	var texts []Text
	answers := bufio.NewReaderSize(out, 1<<16)
	for _, e := range entries {
		var text *Text
		if text, err = g.content(in, answers, e); err != nil {
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
		return nil, g.fail(oneLine(words.String(), err), lacksHint)
	case ended != nil:
		return nil, g.fail("git says: "+oneLine(words.String(), ended), "")
	}
	return texts, nil
}

// content asks for one file and reads the answer; nil for what is no file of the revision.
func (g *gitReader) content(in io.Writer, answers *bufio.Reader, e gitEntry) (*Text, error) {
	t := &Text{Name: g.name(e.name), Size: e.size, Named: g.file}
	ask := e.id
	if e.link {
		ask = g.top + ":" + path.Join(g.full, e.name)
		if strings.Contains(e.name, "\n") {
			g.notRead(e.name, "it is a link whose name has a line break")
			return nil, nil
		}
	} else if e.size > g.left {
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
		g.notRead(e.name, "it is a link that leads to no file of the revision ("+fields[0]+")")
		_, err = io.CopyN(io.Discard, answers, size+1)
		return nil, err
	}
	if fields[1] != "blob" || size > g.left {
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
	g.left -= size
	return t, err
}

// lacksHint is for objects that are not there.
const lacksHint = "the clone may lack objects; fetch them, for example with: git fetch --refetch --no-filter"

// oneLine is why git failed, in its own words: the line that it ends with, else its first; without any, how it ended.
func oneLine(words string, err error) string {
	lines := strings.Split(strings.TrimSpace(words), "\n")
	for _, line := range lines {
		if reason, fatal := strings.CutPrefix(line, "fatal: "); fatal {
			return reason
		}
	}
	return cmp.Or(lines[0], err.Error())
}
