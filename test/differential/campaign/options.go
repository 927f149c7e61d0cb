package campaign

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// ErrOpen is the error of a run that found what no class explains.
var ErrOpen = errors.New("there are differences that classes.yaml does not explain")

// Options are the flags that every comparison has.
type Options struct {
	Names   []string // of the peers; nil: all
	Seeds   Seeds
	Each    time.Duration // for each peer; 0: until the seeds are done
	Program string        // the kubectl-dopolicy to compare; "": built from this tree
	Built   string        // the folder of programs that are kept
	Reduce  bool
	Show    int64 // the seed that is shown; 0: none
	Truth   string
	Mutants bool

	names, seeds *string
}

// AddFlags adds the flags. names is the flag that chooses peers, input what the thing that a seed draws is called.
func (o *Options) AddFlags(fs *flag.FlagSet, names, input, seeds string) {
	o.names = fs.String(names, "", "what to compare with, separated by commas (default: all)")
	o.seeds = fs.String("seeds", seeds, "the seeds of the "+input+"s, FIRST..LAST")
	fs.DurationVar(&o.Each, "for", 0, "end with each of them after this time")
	fs.StringVar(&o.Program, "program", "", "the kubectl-dopolicy to compare (default: built from this tree)")
	fs.StringVar(&o.Built, "built", "", "keep the programs that answer and their answers in this folder, and take what is there")
	fs.BoolVar(&o.Reduce, "reduce", true, "reduce the "+input+" of every new class of differences")
	fs.Int64Var(&o.Show, "show", 0, "print the "+input+" of this seed, and what both sides say of it")
	fs.StringVar(&o.Truth, "truth", "", "write the figures into this file")
	fs.BoolVar(&o.Mutants, "mutants", false, "build the program with each fault of mutants.yaml, and see that it is found")
}

// Parse reads arguments into the flags.
func (o *Options) Parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	o.Names = strings.FieldsFunc(*o.names, func(r rune) bool { return r == ',' })
	first, last, ok := strings.Cut(*o.seeds, "..")
	var one, two error
	o.Seeds.First, one = strconv.ParseInt(first, 10, 64)
	o.Seeds.Last, two = strconv.ParseInt(last, 10, 64)
	if !ok || one != nil || two != nil {
		return fmt.Errorf("-seeds %s: write FIRST..LAST", *o.seeds)
	}
	return nil
}

// Wants reports whether a peer is one of those that were chosen.
func (o *Options) Wants(name string) bool { return len(o.Names) == 0 || slices.Contains(o.Names, name) }

// Deadline is when a comparison that begins now ends; the zero time: when its seeds are done.
func (o *Options) Deadline() time.Time {
	if o.Each == 0 {
		return time.Time{}
	}
	return time.Now().Add(o.Each)
}

// OpenFolder makes a folder for what the run leaves behind, which is the one for temporary files of all programs that are started, so that one that is
// killed leaves nothing behind either. It builds the program under test in it, unless one is given or each fault builds its own.
func (o *Options) OpenFolder(ctx context.Context, name string) (folder string, remove func(), err error) {
	if folder, err = os.MkdirTemp("", name); err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	if err = os.Setenv("TMPDIR", folder); err == nil && o.Program == "" && !o.Mutants {
		o.Program = filepath.Join(folder, "kubectl-dopolicy")
		_, err = program.Build(ctx, o.Program, "")
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return folder, remove, nil
}

// Build builds the program of a peer, and finds what it answered before, where that is kept.
func (o *Options) Build(ctx context.Context, p *program.Peer, folder string) (path, version string, kept program.Kept, err error) {
	if path, version, err = p.Build(ctx, cmp.Or(o.Built, folder)); err == nil && o.Built != "" {
		kept, err = program.KeptAnswers(path)
	}
	return path, version, kept, err
}

// Main runs a comparison until it ends or is interrupted, and ends the program with 1 if it fails.
func Main(run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
