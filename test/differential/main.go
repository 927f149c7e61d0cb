package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// options are the flags.
type options struct{ campaign.Options }

func main() {
	campaign.Main(func(ctx context.Context, args []string) error {
		var o options
		fs := flag.NewFlagSet("differential", flag.ContinueOnError)
		o.AddFlags(fs, "peer", "input", "1..1000")
		if err := o.Parse(fs, args); err != nil {
			return err
		}
		return o.run(ctx)
	})
}

func (o options) run(ctx context.Context) error {
	known, err := campaign.ReadClasses()
	if err != nil {
		return err
	}
	folder, remove, err := o.OpenFolder(ctx, "differential")
	if err != nil {
		return err
	}
	defer remove()
	var rows []row
	var missed error // deliberate faults
	open := false
	for _, p := range peers() {
		if !o.Wants(p.Name) {
			continue
		}
		r := &run{peer: p, program: program.Program(o.Program), known: known, workers: runtime.GOMAXPROCS(0)}
		if p.prepare != nil {
			if err := p.prepare(); err != nil {
				return err
			}
		}
		if r.path, r.version, r.kept, err = o.Build(ctx, &p.Peer, folder); err != nil {
			return err
		}
		switch {
		case o.Show > 0:
			err = r.show(ctx, o.Show)
		case o.Mutants:
			missed = errors.Join(missed, r.mutants(ctx, folder))
		default:
			var t *tally
			if t, err = o.compare(ctx, r); err == nil {
				rows = append(rows, row{r, t})
				open = open || t.CountOpen() > 0
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if o.Truth != "" {
		if err := writeTruth(o.Truth, rows); err != nil {
			return err
		}
	}
	if open {
		return campaign.ErrOpen
	}
	return missed
}

// compare runs the seeds and tells what it found. Of every class that nothing explains, it tells the smallest input that still has it.
func (o options) compare(ctx context.Context, r *run) (*tally, error) {
	t, err := r.compareSeeds(ctx, o.Seeds, o.Deadline(), printProgress(r.peer.Name))
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
	for _, f := range t.Sort() {
		if f.Known != nil {
			fmt.Printf("  explained: %s (%d times): %s\n", f.Signature, f.Count, f.Known.Reason)
			continue
		}
		if err := r.printOpen(ctx, f, o.Reduce); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// printProgress prints how far a run is after every 500 inputs, and every class that nothing explains when it is met first. It never ends the run.
func printProgress(peer string) func(*tally) bool {
	printed := map[string]bool{}
	return func(t *tally) bool {
		t.PrintNew(peer, printed)
		if t.Inputs%500 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d inputs, %d open differences\n", peer, t.Inputs, t.CountOpen())
		}
		return false
	}
}

// printOpen prints an open class with its input, reduced if that is wanted.
func (r *run) printOpen(ctx context.Context, f *finding, reduce bool) error {
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
