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

// sideOf is one side as it was typed: live, git:REV[:PATH], or the path of files or of a snapshot.
type sideOf struct {
	text    string
	context string // of a live side, if it is not that of the other flags
}

func (s sideOf) live() bool { return s.text == liveSide }

// git is the revision and the path of a side in a git repository.
func (s sideOf) git() (rev, path string, is bool) {
	rest, is := strings.CutPrefix(s.text, gitPrefix)
	rev, path, _ = strings.Cut(rest, ":")
	return rev, path, is
}

// workingTree is the path of a side in a git repository as it is in the working tree.
func (s sideOf) workingTree() string {
	_, path, _ := s.git()
	return cmp.Or(path, ".")
}

// sides settles what is compared: the rule stands in the command's help.
func (f *diffFlags) sides(args []string) (from, to sideOf, err error) {
	if len(f.at) > 0 {
		return f.moments(args)
	}
	if f.timeline != "" {
		return from, to, usage("name one or two times with --at", "--snapshots names snapshots by time")
	}
	over := f.over() || len(f.deleted) > 0
	if given := len(args); given > 0 && f.from != "" && f.to != "" || given > 1 && (f.from != "" || f.to != "") {
		return from, to, usage("name each side once", "diff: unexpected argument %q: --from and --to already name the sides", args[given-1])
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
		if to.text != "" && !to.live() || f.over() || len(f.deleted) > 0 {
			return from, to, usage("drop one of the two", "--to-context names the second side, and nothing else can")
		}
		to = sideOf{liveSide, f.toContext}
	}
	if to.text == "" {
		_, _, git := from.git()
		switch {
		case over:
			to = from
		case git:
			to.text = from.workingTree()
		default:
			to.text = liveSide
		}
	}
	switch {
	case from == to && !over:
		return from, to, usage("name another side, apply files to it with -f, or remove objects with --delete", "both sides are %s: there is nothing to compare", from.text)
	case f.stdins(from, to) > 1:
		return from, to, usage("save it to a file, and name that file", "standard input can be read only once")
	}
	return from, to, nil
}

// over reports whether files are laid over the second side.
func (f *diffFlags) over() bool { return len(f.files) > 0 || f.kustomization != "" }

// stdins is how often standard input is named.
func (f *diffFlags) stdins(from, to sideOf) int {
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
	cluster *cluster // of a side that is live
	other   *cluster // of one that is live in the context of --to-context
	streams Streams
}

// read reads one side.
func (r *sideReader) read(ctx context.Context, s sideOf) (*model.Snapshot, error) {
	if s.live() {
		bare := r.flags.sourceFlags
		bare.files, bare.kustomization = nil, ""
		c := r.cluster
		if s.context != "" {
			c = r.other
		}
		return bare.live(ctx, c, r.engine, r.streams)
	}
	o := r.options()
	if rev, path, is := s.git(); is {
		texts, problems, err := load.Git(ctx, load.GitTree{Rev: rev, Path: path, Recursive: o.Recursive, Limits: o.Limits})
		if err != nil {
			return nil, err
		}
		o.Texts, o.Problems = texts, problems
	}
	o.Paths = []string{s.text}
	return r.engine.ReadFiles(ctx, o)
}

// lay lays the files of the flags over a side.
func (r *sideReader) lay(ctx context.Context, base *model.Snapshot) (*model.Snapshot, error) {
	if !r.flags.over() {
		return base, nil
	}
	o := r.options()
	o.Paths, o.Kustomization = r.flags.files, r.flags.kustomization
	return r.engine.ReadOver(ctx, base, o)
}

func (r *sideReader) options() load.Options {
	return load.Options{Recursive: r.flags.recursive, Render: r.flags.recursive, Helm: r.flags.helm, Destination: r.flags.destination, Stdin: r.streams.In, Namespace: r.flags.namespace, Limits: r.flags.limits()}
}
