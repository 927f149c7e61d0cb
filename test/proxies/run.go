package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// run holds the program under test against the proxies of one vendor.
type run struct {
	vendor  *vendor
	program program.Program
	path    string // of the translator
	version string
	kept    program.Kept
	known   []campaign.Class
	workers int
	each    int  // how many requests a world is asked
	list    bool // every difference is printed
	// policies: the worlds have policies, and what is said of protection is compared in place of where a request goes
	policies bool
}

// finding is one class of differences.
type finding = campaign.Finding[*world, *difference]

// tally is what a run found.
type tally struct {
	campaign.Findings[*world, *difference]
	Worlds, Untranslated, Refused int // Refused: of which a proxy refuses a part
	Requests, Conditional         int
	untranslated                  map[string]int64 // a seed of each reason
}

// certain is how many answers were compared.
func (t *tally) certain() int { return t.Requests - t.Conditional }

// judged is a world with what came of its requests.
type judged struct {
	world        *world
	untranslated error // nothing else is set then
	requests     []request
	ours         []answer
	theirs       []reply
	trials       []*trial // in place of theirs, where policies are asked
	proved       int      // from this one on, requests and answers are those of a proof
}

// compareSeeds compares the seeds on several workers, each with a process of the translator. stop ends the run once it is true of what was found.
func (r *run) compareSeeds(ctx context.Context, s campaign.Seeds, until time.Time, stop func(*tally) bool) (*tally, error) {
	out := &tally{untranslated: map[string]int64{}}
	return out, s.Run(ctx, until, r.workers, func(ctx context.Context, next campaign.Next, record campaign.Record) error {
		p, err := r.vendor.Start(ctx, r.path, r.kept)
		if err != nil {
			return err
		}
		defer p.Stop()
		for seed, more := next(); more; seed, more = next() {
			w, requests, err := r.draw(seed)
			if err != nil {
				return err
			}
			j, err := r.judge(ctx, p, w, requests)
			if err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			record(func() bool {
				out.note(r, j)
				return stop(out)
			})
		}
		return nil
	})
}

// draw draws a world and what it is asked.
func (r *run) draw(seed int64) (*world, []request, error) {
	w, err := drawWorld(draw.NewSource(seed), r.vendor, r.policies)
	if err != nil {
		return nil, nil, fmt.Errorf("drawing seed %d: %w", seed, err)
	}
	w.Seed = seed
	return w, drawRequests(draw.NewSource(-seed), w, r.each, r.policies), nil
}

// judge asks both sides.
func (r *run) judge(ctx context.Context, p *program.Process, w *world, requests []request) (*judged, error) {
	out := &judged{world: w, requests: requests}
	var err error
	var expect []string
	var proof []answer
	out.proved = len(requests)
	if r.policies {
		expect = expected
		out.trials, err = r.tryAll(ctx, p, w, requests)
	} else {
		var more []request
		if more, proof, err = askProof(ctx, r.program, r.vendor, w); err != nil {
			return nil, err
		}
		out.requests = slices.Concat(requests, more)
		out.theirs, err = r.vendor.answers(ctx, p, w, out.requests)
	}
	if errors.Is(err, program.ErrRefused) {
		out.untranslated = err
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.ours, err = askProgram(ctx, r.program, r.vendor, w, requests, expect)
	out.ours = append(out.ours, proof...)
	return out, err
}

// compare judges one answer.
func (j *judged) compare(i int) (verdict, *difference) {
	if j.trials == nil {
		v, d := compare(j.world, j.requests[i], &j.ours[i], j.theirs[i])
		if d != nil && i >= j.proved {
			d.Signature = "prove: " + d.Signature
		}
		return v, d
	}
	return compareProtection(j.requests[i], &j.ours[i], j.trials[i])
}

// differences are those of a world, how many requests were judged, and how many of the answers are conditional.
func (j *judged) differences() (out []*difference, asked, unsure int) {
	for i := range j.requests {
		v, d := j.compare(i)
		if v != unasked {
			asked++
		}
		switch v {
		case conditional:
			unsure++
		case differs:
			out = append(out, d)
		}
	}
	return out, asked, unsure
}

func (t *tally) note(r *run, j *judged) {
	t.Worlds++
	if j.untranslated != nil {
		t.Untranslated++
		if _, seen := t.untranslated[j.untranslated.Error()]; !seen {
			t.untranslated[j.untranslated.Error()] = j.world.Seed
		}
		return
	}
	for _, reply := range j.theirs {
		if reply.Refused != "" {
			t.Refused++
			break
		}
	}
	all, asked, unsure := j.differences()
	t.Requests += asked
	t.Conditional += unsure
	for _, d := range all {
		if r.list {
			fmt.Printf("seed %d: %s\n", j.world.Seed, d.Signature)
			d.write()
		}
		t.Add(r.known, r.vendor.Name, d.Signature, j.world.Seed, j.world, d)
	}
}
