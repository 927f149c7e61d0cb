package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"
)

// How sides of a comparison are written that are no paths.
const (
	liveSide  = "live"
	gitPrefix = "git:"
)

// sideFlags say what is compared with what.
type sideFlags struct {
	Source         sourceFlags
	from, to       string
	toContext      string   // the second side is the cluster of this one
	at             []string // the sides are snapshots of these times
	snapshots      string   // the folder with them
	deleted        []string
	givenNamespace string // the namespace that was asked for
}

// addSideFlags adds the flags that name and change the sides.
func (f *sideFlags) addSideFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.from, "from", "", "the first side: a file, folder, snapshot, git:REV[:PATH] or live")
	fs.StringVar(&f.to, "to", "", "the second side, in the same form")
	fs.StringVar(&f.toContext, "to-context", "", "the second side: the cluster of this kubeconfig context")
	fs.StringArrayVar(&f.at, "at", nil, "a side: the last snapshot of --snapshots at this time, such as 2026-01-31T12:00 (in UTC); twice, or once to compare with the last one")
	fs.StringVar(&f.snapshots, "snapshots", "", "with --at: folder with snapshots of one cluster, or a pattern of their names")
	fs.StringSliceVarP(&f.Source.files, "filename", "f", nil, "file or folder to apply to the second side, or - for standard input (repeatable)")
	fs.StringVarP(&f.Source.kustomization, "kustomize", "k", "", "folder with a kustomization to apply to the second side (instead of -f)")
	fs.BoolVarP(&f.Source.recursive, "recursive", "R", false, "also read sub-folders, on both sides, and render what they hold")
	fs.BoolVar(&f.Source.helm, "enable-helm", false, "with -R and -k: render charts of the input with the helm program")
	fs.StringVar(&f.Source.destination, "destination", "", "with -R: only what is deployed to this cluster, on both sides")
	fs.StringArrayVar(&f.deleted, "delete", nil, "remove an object from the second side, as KIND/NAME or KIND/NAMESPACE/NAME (repeatable)")
	fs.StringSliceVar(&f.Source.onlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	fs.BoolVarP(&f.Source.allNamespaces, "all-namespaces", "A", false, "compare all namespaces (the default without -n)")
	fs.Lookup("namespace").Usage = "namespace to compare (default: all), and the namespace of --delete names and of objects in files without one"
}

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

// chooseSides decides what is compared: the help of diff has the rule. otherFile is one that the
// command reads besides: standard input can be read only once.
func (f *sideFlags) chooseSides(args []string, otherFile string) (from, to diffSide, err error) {
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
	case f.countStdin(from, to, otherFile) > 1:
		return from, to, newUsageError("save it to a file, and name that file", "standard input can be read only once")
	}
	return from, to, nil
}

// hasOverlay reports whether files are applied to the second side.
func (f *sideFlags) hasOverlay() bool { return len(f.Source.files) > 0 || f.Source.kustomization != "" }

// countStdin counts how often standard input is named.
func (f *sideFlags) countStdin(from, to diffSide, otherFile string) int {
	n := 0
	for _, name := range append([]string{from.text, to.text, otherFile}, f.Source.files...) {
		if name == "-" {
			n++
		}
	}
	if from == to && from.text == "-" {
		n--
	}
	return n
}
