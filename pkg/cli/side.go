package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// How sides of a comparison are written that are no paths.
const (
	liveSide  = "live"
	gitPrefix = "git:"
)

// diffSide is one side as it was typed: live, git:REV[:PATH], or the path of files or of a
// snapshot.
type diffSide struct {
	text    string
	context string // of a live side, if it is not that of the other flags
}

func (s diffSide) isLive() bool { return s.text == liveSide }

// splitGit returns the revision and the path of a side in a git repository.
func (s diffSide) splitGit() (rev, path string, is bool) {
	rest, is := strings.CutPrefix(s.text, gitPrefix)
	rev, path, _ = strings.Cut(rest, ":")
	return rev, path, is
}

// workingTreePath is the path of a side in a git repository as it is in the working tree.
func (s diffSide) workingTreePath() string {
	_, path, _ := s.splitGit()
	return cmp.Or(path, ".")
}

// chooseSides decides what is compared: the help of the command has the rule.
func (f *diffFlags) chooseSides(args []string) (from, to diffSide, err error) {
	if len(f.at) > 0 {
		return f.chooseSidesAt(args)
	}
	if f.snapshots != "" {
		return from, to, newUsageError("name one or two times with --at", "--snapshots names snapshots by time")
	}
	over := f.hasOverlay() || len(f.deleted) > 0
	if given := len(args); given > 0 && f.from != "" && f.to != "" || given > 1 && (f.from != "" || f.to != "") {
		return from, to, newUsageError("name each side once", "diff: unexpected argument %q: --from and --to already name the sides", args[given-1])
	}
	from.text, to.text = f.from, f.to
	for _, arg := range args {
		if from.text == "" {
			from.text = arg
		} else {
			to.text = arg
		}
	}
	from.text = cmp.Or(from.text, liveSide)
	if f.toContext != "" {
		if to.text != "" && !to.isLive() || f.hasOverlay() || len(f.deleted) > 0 {
			return from, to, newUsageError("drop one of the two", "--to-context names the second side, and nothing else can")
		}
		to = diffSide{liveSide, f.toContext}
	}
	if to.text == "" {
		_, _, git := from.splitGit()
		switch {
		case over:
			to = from
		case git:
			to.text = from.workingTreePath()
		default:
			to.text = liveSide
		}
	}
	switch {
	case from == to && !over:
		return from, to, newUsageError("name another side, apply files to it with -f, or remove objects with --delete", "both sides are %s: there is nothing to compare", from.text)
	case f.countStdin(from, to) > 1:
		return from, to, newUsageError("save it to a file, and name that file", "standard input can be read only once")
	}
	return from, to, nil
}

// hasOverlay reports whether files are applied to the second side.
func (f *diffFlags) hasOverlay() bool { return len(f.files) > 0 || f.kustomization != "" }

// countStdin counts how often standard input is named.
func (f *diffFlags) countStdin(from, to diffSide) int {
	n := 0
	for _, name := range append([]string{from.text, to.text, f.behavior.weights}, f.files...) {
		if name == "-" {
			n++
		}
	}
	if from == to && from.text == "-" {
		n--
	}
	return n
}

// sideReader reads sides.
type sideReader struct {
	flags   *diffFlags
	engine  *dopolicy.Engine
	cluster *clusterAccess // of a side that is live
	other   *clusterAccess // of one that is live in the context of --to-context
	streams Streams
}

// readSide reads one side.
func (r *sideReader) readSide(ctx context.Context, s diffSide) (*model.Snapshot, error) {
	if s.isLive() {
		bare := r.flags.sourceFlags
		bare.files, bare.kustomization = nil, ""
		c := r.cluster
		if s.context != "" {
			c = r.other
		}
		return bare.readCluster(ctx, c, r.engine, r.streams)
	}
	o := r.loadOptions()
	if rev, path, is := s.splitGit(); is {
		texts, problems, err := load.GitRevision(ctx, load.GitTree{Rev: rev, Path: path, Recursive: o.Recursive, Limits: o.Limits})
		if err != nil {
			return nil, err
		}
		o.TextFiles, o.Problems = texts, problems
	}
	o.Paths = []string{s.text}
	return r.engine.ReadFiles(ctx, o)
}

// applyFiles applies the files of the flags to a side.
func (r *sideReader) applyFiles(ctx context.Context, base *model.Snapshot) (*model.Snapshot, error) {
	if !r.flags.hasOverlay() {
		return base, nil
	}
	o := r.loadOptions()
	o.Paths, o.Kustomization = r.flags.files, r.flags.kustomization
	return r.engine.ReadOver(ctx, base, o)
}

func (r *sideReader) loadOptions() load.Options {
	return load.Options{Recursive: r.flags.recursive, Render: r.flags.recursive, Helm: r.flags.helm, Destination: r.flags.destination, Stdin: r.streams.In, Namespace: r.flags.namespace, Limits: r.flags.loadLimits()}
}
