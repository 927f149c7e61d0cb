package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// run is one comparison of the program under test with one peer.
type run struct {
	peer    peer
	program program.Program
	path    string // of the peer's program
	version string
	kept    program.Kept
	known   []class
	workers int
}

// seeds are the numbers from first to last. A run ends early when its time is over.
type seeds struct{ first, last int64 }

// found is one class of differences: the first input that has it.
type found struct {
	Signature string
	Seed      int64
	Count     int
	First     difference
	Input     *input
	Known     *class
}

// tally is what a run found.
type tally struct {
	Inputs, Refused  int
	Facts, Different int
	Explained        int // of those that differ
	Classes          map[string]*found
	refusals         map[string]int64 // a seed of each
}

// all compares the seeds on several workers, each with a process of the peer. stop ends the run once it is true of what was found.
func (r *run) all(outer context.Context, s seeds, until time.Time, stop func(*tally) bool) (*tally, error) {
	out := &tally{Classes: map[string]*found{}, refusals: map[string]int64{}}
	next := atomic.Int64{}
	next.Store(s.first)
	ctx, cancel := context.WithCancel(outer)
	defer cancel()
	var lock sync.Mutex
	var failed error
	var workers sync.WaitGroup
	for range r.workers {
		workers.Go(func() {
			err := r.work(ctx, func() (int64, bool) {
				n := next.Add(1) - 1
				return n, n <= s.last && (until.IsZero() || time.Now().Before(until)) && ctx.Err() == nil
			}, func(in *input, differences []difference, compared int, refused error) {
				lock.Lock()
				defer lock.Unlock()
				out.note(r, in, differences, compared, refused)
				if stop(out) {
					cancel()
				}
			})
			lock.Lock()
			defer lock.Unlock()
			if err != nil && ctx.Err() == nil {
				failed = errors.Join(failed, err)
				cancel()
			}
		})
	}
	workers.Wait()
	return out, errors.Join(failed, outer.Err())
}

// work compares seeds until there is none left.
func (r *run) work(ctx context.Context, next func() (int64, bool), note func(*input, []difference, int, error)) error {
	p, err := r.peer.Start(ctx, r.path, r.kept)
	if err != nil {
		return err
	}
	defer p.Stop()
	for seed, more := next(); more; seed, more = next() {
		in := r.peer.generate(draw.NewSource(seed))
		in.Seed = seed
		differences, compared, err := r.compare(ctx, p, &in)
		if err != nil && !errors.Is(err, program.ErrRefused) {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		note(&in, differences, compared, err)
	}
	return nil
}

// compare asks both sides about one input.
func (r *run) compare(ctx context.Context, p *program.Process, in *input) ([]difference, int, error) {
	ours, theirs, err := r.both(ctx, p, in)
	if err != nil {
		return nil, 0, err
	}
	differences, compared := compare(ours, theirs)
	return differences, compared, nil
}

// both is what the two sides say of one input.
func (r *run) both(ctx context.Context, p *program.Process, in *input) (ours, theirs facts, err error) {
	if theirs, err = ask(p, in); err != nil {
		return nil, nil, err
	}
	if ours, err = r.peer.ask(ctx, r.program, asking(p), in); err != nil {
		return nil, nil, fmt.Errorf("kubectl-dopolicy: %w", err)
	}
	if r.peer.theirs != nil {
		theirs, err = r.peer.theirs(ctx, r.program, in, theirs)
	}
	return ours, theirs, err
}

func (t *tally) note(r *run, in *input, differences []difference, compared int, refused error) {
	t.Inputs++
	if refused != nil {
		t.Refused++
		if _, seen := t.refusals[refused.Error()]; !seen {
			t.refusals[refused.Error()] = in.Seed
		}
		return
	}
	t.Facts += compared
	t.Different += len(differences)
	for _, d := range differences {
		signature := d.signature()
		known := explained(r.known, r.peer.Name, signature)
		if known != nil {
			t.Explained++
			signature = known.Signature
		}
		f := t.Classes[signature]
		if f == nil {
			f = &found{Signature: signature, Seed: in.Seed, First: d, Input: in, Known: known}
			t.Classes[signature] = f
		}
		if in.Seed < f.Seed {
			f.Seed, f.First, f.Input = in.Seed, d, in
		}
		f.Count++
	}
}

// open counts the differences that no class explains.
func (t *tally) open() int { return t.Different - t.Explained }
