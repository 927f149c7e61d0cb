package sides

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// How sides of a comparison are written that are no paths.
const (
	liveSide  = "live"
	gitPrefix = "git:"
)

// Flags say what is compared with what.
type Flags struct {
	Source         source.Flags
	From, To       string
	ToContext      string   // the second side is the cluster of this one
	At             []string // the sides are snapshots of these times
	Snapshots      string   // the folder with them
	Deleted        []string
	givenNamespace string // the namespace that was asked for
}

// AddFlags adds the flags that name and change the sides.
func (f *Flags) AddFlags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.From, "from", "", "the first side: a file, folder, snapshot, git:REV[:PATH] or live")
	fs.StringVar(&f.To, "to", "", "the second side, in the same form")
	fs.StringVar(&f.ToContext, "to-context", "", "the second side: the cluster of this kubeconfig context")
	fs.StringArrayVar(&f.At, "at", nil,
		"a side: the last snapshot of --snapshots at this time, such as 2026-01-31T12:00 (in UTC); twice, or once to compare with the last one")
	fs.StringVar(&f.Snapshots, "snapshots", "",
		"with --at: folder with snapshots of one cluster, or a pattern of their names")
	fs.StringSliceVarP(&f.Source.Files, "filename", "f", nil,
		"file or folder to apply to the second side, or - for standard input (repeatable)")
	fs.StringVarP(&f.Source.Kustomization, "kustomize", "k", "",
		"folder with a kustomization to apply to the second side (instead of -f)")
	fs.BoolVarP(&f.Source.Recursive, "recursive", "R", false,
		"also read sub-folders, on both sides, and render what they hold")
	fs.BoolVar(&f.Source.Helm, "enable-helm", false, "with -R and -k: render charts of the input with the helm program")
	fs.StringVar(&f.Source.Destination, "destination", "",
		"with -R: only what is deployed to this cluster, on both sides")
	f.Source.Rendering.AddFlags(fs)
	fs.StringArrayVar(&f.Deleted, "delete", nil,
		"remove an object from the second side, as KIND/NAME or KIND/NAMESPACE/NAME (repeatable)")
	fs.StringSliceVar(&f.Source.OnlyKinds, "policy-kind", nil, "only these policy kinds (repeatable)")
	f.Source.AddRedactFlag(fs)
	fs.BoolVarP(&f.Source.AllNamespaces, "all-namespaces", "A", false,
		"compare all namespaces (the default without -n)")
	fs.Lookup(
		"namespace").Usage = "namespace to compare (default: all), and the namespace of --delete names and of objects in files without one"
}

// Side is one side as it was typed: live, git:REV[:PATH], or the path of files or of a
// snapshot.
type Side struct {
	Text    string
	context string // of a live side, if it is not that of the other flags
}

func (s Side) isLive() bool { return s.Text == liveSide }

// splitGit returns the revision and the path of a side in a git repository.
func (s Side) splitGit() (rev, path string, is bool) {
	rest, is := strings.CutPrefix(s.Text, gitPrefix)
	rev, path, _ = strings.Cut(rest, ":")
	return rev, path, is
}

// workingTreePath is the path of a side in a git repository as it is in the working tree.
func (s Side) workingTreePath() string {
	_, path, _ := s.splitGit()
	return cmp.Or(path, ".")
}

// Choose decides what is compared: the help of diff has the rule. otherFile is one that the
// command reads besides: standard input can be read only once.
func (f *Flags) Choose(args []string, otherFile string) (from, to Side, err error) {
	if len(f.At) > 0 {
		return f.chooseAt(args)
	}
	if f.Snapshots != "" {
		return from, to, failure.Usage("name one or two times with --at", "--snapshots names snapshots by time")
	}
	over := f.hasOverlay() || len(f.Deleted) > 0
	if given := len(args); given > 0 && f.From != "" && f.To != "" || given > 1 && (f.From != "" || f.To != "") {
		return from, to, failure.Usage("name each side once",
			"diff: unexpected argument %q: --from and --to already name the sides", args[given-1])
	}
	from.Text, to.Text = f.From, f.To
	for _, arg := range args {
		if from.Text == "" {
			from.Text = arg
		} else {
			to.Text = arg
		}
	}
	from.Text = cmp.Or(from.Text, liveSide)
	if f.ToContext != "" {
		if to.Text != "" && !to.isLive() || f.hasOverlay() || len(f.Deleted) > 0 {
			return from, to, failure.Usage("drop one of the two",
				"--to-context names the second side, and nothing else can")
		}
		to = Side{liveSide, f.ToContext}
	}
	if to.Text == "" {
		_, _, git := from.splitGit()
		switch {
		case over:
			to = from
		case git:
			to.Text = from.workingTreePath()
		default:
			to.Text = liveSide
		}
	}
	switch {
	case from == to && !over:
		return from, to, failure.Usage("name another side, apply files to it with -f, or remove objects with --delete",
			"both sides are %s: there is nothing to compare", from.Text)
	case f.countStdin(from, to, otherFile) > 1:
		return from, to, failure.Usage("save it to a file, and name that file", "standard input can be read only once")
	}
	return from, to, nil
}

// hasOverlay reports whether files are applied to the second side.
func (f *Flags) hasOverlay() bool { return len(f.Source.Files) > 0 || f.Source.Kustomization != "" }

// countStdin counts how often standard input is named.
func (f *Flags) countStdin(from, to Side, otherFile string) int {
	n := 0
	for _, name := range append([]string{from.Text, to.Text, otherFile}, f.Source.Files...) {
		if name == "-" {
			n++
		}
	}
	if from == to && from.Text == "-" {
		n--
	}
	return n
}
