package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
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
	known   []campaign.Class
	workers int
}

// finding is one class of differences.
type finding = campaign.Finding[*input, difference]

// tally is what a run found.
type tally struct {
	campaign.Findings[*input, difference]
	Inputs, Refused int
	Facts           int
	refusals        map[string]int64 // a seed of each
}

// compareSeeds compares the seeds on several workers, each with a process of the peer. stop ends the run once it is true of what was found.
func (r *run) compareSeeds(ctx context.Context, s campaign.Seeds, until time.Time, stop func(*tally) bool) (*tally, error) {
	out := &tally{refusals: map[string]int64{}}
	return out, s.Run(ctx, until, r.workers, func(ctx context.Context, next campaign.Next, record campaign.Record) error {
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
			record(func() bool {
				out.note(r, &in, differences, compared, err)
				return stop(out)
			})
		}
		return nil
	})
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
	for _, d := range differences {
		t.Add(r.known, r.peer.Name, d.signature(), in.Seed, in, d)
	}
}
