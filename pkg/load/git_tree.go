package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
)

// What is gone through of a revision. A few trees that name each other several times stand for more
// files than there is time for.
const (
	maxTreeFiles   = 100_000 // files that are read or written
	maxTreeEntries = 500_000 // files and folders
	maxTreePath    = 1 << 16 // bytes of the path of one
	maxTreeProbe   = 10_000  // files and folders that are gone through to find a hint
)

// narrowTreeHint is for revisions that are more than is gone through.
const narrowTreeHint = "name a part of the repository"

// gitEntry is a file of the revision.
type gitEntry struct {
	id     string
	name   string // below the path
	size   int64
	isLink bool

	isSubmodule bool
	isFolder    bool
}

// errStopWalk ends a walk that has found what it is for.
var errStopWalk = errors.New("stop")

// eachEntry calls each for the entries of a tree as git lists them: with recursive also those of the
// folders in it, or of those of them that lead to paths, if there are any. It ends with the first
// error, and keeps nothing.
func (g *gitReader) eachEntry(ctx context.Context, tree string, recursive bool, paths []string,
	each func(gitEntry) error) error {
	args := []string{"ls-tree", "-z", "-l", "--full-tree"}
	if recursive {
		args = append(args, "-r", "-t") // folders are listed too, as there need not be a file in them
	}
	args = append(append(args, tree, "--"), paths...)
	running, stop := context.WithCancel(ctx)
	defer stop()
	cmd := g.newCommand(running, args...)
	words := document.NewBoundedBuffer(maxWords)
	cmd.Stderr = words
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return g.newError(err.Error(), "")
	}
	failed := g.readEntries(out, each)
	if failed != nil {
		stop()
	}
	ended := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(failed, errStopWalk):
		return nil
	case failed != nil:
		return failed
	case ended != nil:
		return g.newError("git says: "+document.ProgramFailure(words.String(), ended), missingObjectsHint)
	}
	return nil
}

// readEntries calls each for the entries that git lists.
func (g *gitReader) readEntries(out io.Reader, each func(gitEntry) error) error {
	lines := bufio.NewReaderSize(out, maxTreePath)
	for n := 0; ; n++ {
		line, err := lines.ReadSlice(0)
		switch {
		case errors.Is(err, io.EOF):
			return nil // an end within an entry is reported by git
		case errors.Is(err, bufio.ErrBufferFull):
			return g.newError(fmt.Sprintf("a path in it is longer than %d bytes", maxTreePath), narrowTreeHint)
		case err != nil:
			return err
		case n == maxTreeEntries:
			return g.newError(fmt.Sprintf("it has more than %d files and folders", maxTreeEntries), narrowTreeHint)
		}
		about, name, _ := strings.Cut(string(line[:len(line)-1]), "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if len(fields) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64)
		if err := each(gitEntry{id: fields[2], name: name, size: size, isLink: fields[0] == "120000",
			isSubmodule: fields[1] == "commit", isFolder: fields[1] == "tree"}); err != nil {
			return err
		}
	}
}

// tooManyFiles is the error for a revision of more files than are read or written.
func (g *gitReader) tooManyFiles() error {
	return g.newError(fmt.Sprintf("it has more than %d files", maxTreeFiles), narrowTreeHint)
}

// listManifests returns the manifests of the tree, or the file itself.
func (g *gitReader) listManifests(ctx context.Context, root string) ([]gitEntry, error) {
	if g.isFile {
		return []gitEntry{{isLink: true}}, nil // perhaps it is one
	}
	var entries []gitEntry
	err := g.eachEntry(ctx, root, g.tree.Recursive, nil, func(e gitEntry) error {
		switch {
		case e.isFolder:
		case e.isSubmodule && g.tree.Recursive:
			g.addNotRead(e.name, "it is a submodule, another repository: what it holds is not read")
		case !e.isSubmodule && input.IsManifest(e.name):
			entries = append(entries, e)
		}
		if len(entries)+len(g.problems) > maxTreeFiles {
			return g.tooManyFiles()
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(entries) == 0:
		return nil, g.newError("the folder holds no manifests", g.emptyTreeHint(ctx, root))
	}
	return entries, nil
}

// emptyTreeHint says what to do about a folder without manifests.
func (g *gitReader) emptyTreeHint(ctx context.Context, root string) string {
	below, seen := false, 0
	if !g.tree.Recursive {
		_ = g.eachEntry(ctx, root, true, nil, func(e gitEntry) error {
			below = below || !e.isFolder && !e.isSubmodule && input.IsManifest(e.name)
			if seen++; below || seen == maxTreeProbe {
				return errStopWalk
			}
			return nil
		})
	}
	if below {
		return "its sub-folders hold some: add -R"
	}
	return "manifests are files that end in .yaml, .yml or .json"
}

// listEntries returns the files, the links and the submodules of the revision that are below one of
// the paths; nil: all.
func (g *gitReader) listEntries(ctx context.Context, below []string) ([]gitEntry, error) {
	if slices.Contains(below, ".") {
		below = nil
	}
	var entries []gitEntry
	var total int64
	err := g.eachEntry(ctx, g.rootTree, true, below, func(e gitEntry) error {
		if e.isFolder || !isSafePath(e.name) || below != nil &&
			!slices.ContainsFunc(below, func(p string) bool { return isBelow(e.name, p) }) {
			return nil
		}
		total += e.size
		if total > g.remaining {
			return g.newError(fmt.Sprintf("its files are larger than %d bytes together", g.remaining),
				"raise the limit with --max-input, or "+narrowTreeHint)
		}
		if entries = append(entries, e); len(entries) > maxTreeFiles {
			return g.tooManyFiles()
		}
		return nil
	})
	return entries, err
}
