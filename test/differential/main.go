package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// options are the flags.
type options struct {
	peers   []string
	seeds   seeds
	each    time.Duration // for each peer; 0: until the seeds are done
	program string
	built   string // the folder of peers that are built
	reduce  bool
	show    int64
	truth   string
	mutants bool
}

// errOpen is the error of a run that found what no class explains.
var errOpen = errors.New("there are differences that classes.yaml does not explain")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = o.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("differential", flag.ContinueOnError)
	names := fs.String("peer", "", "peers to compare with, separated by commas (default: all)")
	numbers := fs.String("seeds", "1..1000", "the seeds of the inputs, FIRST..LAST")
	fs.DurationVar(&o.each, "for", 0, "end with each peer after this time")
	fs.StringVar(&o.program, "program", "", "the kubectl-dopolicy to compare (default: built from this tree)")
	fs.StringVar(&o.built, "built", "", "keep the programs of the peers and their answers in this folder, and take what is there")
	fs.BoolVar(&o.reduce, "reduce", true, "reduce the input of every new class of differences")
	fs.Int64Var(&o.show, "show", 0, "print the input of this seed, and what both sides say of it")
	fs.StringVar(&o.truth, "truth", "", "write the figures into this file")
	fs.BoolVar(&o.mutants, "mutants", false, "build the program with each fault of mutants.yaml, and see that it is found")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.peers = strings.FieldsFunc(*names, func(r rune) bool { return r == ',' })
	first, last, ok := strings.Cut(*numbers, "..")
	var one, two error
	o.seeds.first, one = strconv.ParseInt(first, 10, 64)
	o.seeds.last, two = strconv.ParseInt(last, 10, 64)
	if !ok || one != nil || two != nil {
		return o, fmt.Errorf("-seeds %s: write FIRST..LAST", *numbers)
	}
	return o, nil
}

func (o options) run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "differential")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.Setenv("TMPDIR", folder); err != nil { // also of peers, so that one that is killed leaves nothing behind
		return err
	}
	known, err := readClasses()
	if err != nil {
		return err
	}
	if o.program == "" && !o.mutants {
		o.program = filepath.Join(folder, "kubectl-dopolicy")
		if _, err := program.Build(ctx, o.program, ""); err != nil {
			return err
		}
	}
	var rows []row
	var missed error // deliberate faults
	open := false
	for _, p := range peers() {
		if len(o.peers) > 0 && !slices.Contains(o.peers, p.Name) {
			continue
		}
		r := &run{peer: p, program: program.Program(o.program), known: known, workers: runtime.GOMAXPROCS(0)}
		if p.prepare != nil {
			if err := p.prepare(); err != nil {
				return err
			}
		}
		if r.path, r.version, err = p.Build(ctx, cmp.Or(o.built, folder)); err != nil {
			return err
		}
		if o.built != "" {
			if r.kept, err = program.KeptAnswers(r.path); err != nil {
				return err
			}
		}
		switch {
		case o.show > 0:
			err = r.show(ctx, o.show)
		case o.mutants:
			missed = errors.Join(missed, r.mutants(ctx, folder))
		default:
			var t *tally
			if t, err = o.compare(ctx, r); err == nil {
				rows = append(rows, row{r, t})
				open = open || t.open() > 0
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if o.truth != "" {
		if err := writeTruth(o.truth, rows); err != nil {
			return err
		}
	}
	if open {
		return errOpen
	}
	return missed
}

// compare runs the seeds and tells what it found. Of every class that nothing explains, it tells the smallest input that still has it.
func (o options) compare(ctx context.Context, r *run) (*tally, error) {
	var until time.Time
	if o.each > 0 {
		until = time.Now().Add(o.each)
	}
	t, err := r.all(ctx, o.seeds, until, progress(r.peer.Name))
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s (%s %s): %d inputs, %d facts, %d differences, %d of them explained\n", r.peer.Name, r.peer.Module, r.version, t.Inputs, t.Facts, t.Different, t.Explained)
	if t.Refused > 0 {
		fmt.Printf("  %d inputs had no answer:\n", t.Refused)
		for _, why := range slices.Sorted(maps.Keys(t.refusals)) {
			fmt.Printf("    seed %d: %s\n", t.refusals[why], strings.TrimSpace(why))
		}
	}
	for _, f := range slices.SortedFunc(maps.Values(t.Classes), func(a, b *found) int { return cmp.Compare(a.Signature, b.Signature) }) {
		if f.Known != nil {
			fmt.Printf("  explained: %s (%d times): %s\n", f.Signature, f.Count, f.Known.Reason)
			continue
		}
		if err := r.tell(ctx, f, o.reduce); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// progress tells how far a run is after every 500 inputs, and of every class that nothing explains when it is met first. It never ends the run.
func progress(peer string) func(*tally) bool {
	told := map[string]bool{}
	return func(t *tally) bool {
		for signature, f := range t.Classes {
			if f.Known == nil && !told[signature] {
				told[signature] = true
				fmt.Fprintf(os.Stderr, "%s: seed %d: %s\n", peer, f.Seed, signature)
			}
		}
		if t.Inputs%500 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d inputs, %d open differences\n", peer, t.Inputs, t.open())
		}
		return false
	}
}

// tell prints an open class with its input, reduced if that is wanted.
func (r *run) tell(ctx context.Context, f *found, reduce bool) error {
	small := f.Input
	if reduce {
		var err error
		if small, err = r.reduce(ctx, f); err != nil {
			return err
		}
	}
	text, err := small.manifests()
	if err != nil {
		return err
	}
	fmt.Printf("  open: %s (%d times, first in seed %d)\n    %s\n    ours:   %s\n    theirs: %s\n", f.Signature, f.Count, f.Seed, f.First.Key, f.First.Ours, f.First.Theirs)
	for line := range strings.Lines(string(text)) {
		fmt.Print("      ", line)
	}
	return nil
}

// show prints what both sides say of one input.
func (r *run) show(ctx context.Context, seed int64) error {
	p, err := r.peer.Start(ctx, r.path, r.kept)
	if err != nil {
		return err
	}
	defer p.Stop()
	in := r.peer.generate(draw.NewSource(seed))
	in.Seed = seed
	text, err := in.manifests()
	if err != nil {
		return err
	}
	fmt.Printf("%s", text)
	ours, theirs, err := r.both(ctx, p, &in)
	if err != nil {
		return err
	}
	for _, side := range []struct {
		name string
		of   facts
	}{{"ours", ours}, {"theirs", theirs}} {
		for _, key := range slices.Sorted(maps.Keys(side.of)) {
			fmt.Printf("# %s: %s: %s\n", side.name, key, side.of[key])
		}
	}
	return nil
}
