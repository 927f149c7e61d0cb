package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// size is the best run of this engine on a topology of one size.
type size struct {
	shape
	bytes   int64
	engine  measurement
	program program
}

// program is what the command line takes from its start to its end.
type program struct {
	seconds float64
	peak    int64
}

// grow measures the parts of this engine at all sizes.
func (b *bench) grow(ctx context.Context) ([]size, error) {
	var out []size
	for _, routes := range b.sizes {
		manifests, bytes, err := b.manifests(routes)
		if err != nil {
			return nil, err
		}
		s := size{shape: shapeOf(routes), bytes: bytes}
		b.say("taking %d routes apart, best of %d", routes, b.runs)
		if s.engine, err = b.best(ctx, b.engine, manifests); err != nil {
			return nil, err
		}
		if s.program, err = b.runProgram(ctx, manifests); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// best runs a side several times and returns the fastest run, with the most memory that any of them used.
func (b *bench) best(ctx context.Context, c command, manifests string) (best measurement, err error) {
	peak := int64(0)
	for i := range b.runs {
		m, err := c.run(ctx, manifests, "")
		if err != nil {
			return best, err
		}
		peak = max(peak, m.peak)
		if i == 0 || m.seconds(parts) < best.seconds(parts) {
			best = m
		}
	}
	best.peak = peak
	return best, nil
}

// runProgram runs the command line on the same manifests: everything from the start of the process to the last byte of JSON.
func (b *bench) runProgram(ctx context.Context, manifests string) (program, error) {
	var best program
	for i := range b.runs {
		cmd := exec.CommandContext(ctx, b.program, "effective", "-A", "-f", manifests, "-o", "json")
		cmd.Stdout = io.Discard
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return best, fmt.Errorf("%s: %w", cmd, err)
		}
		if s := time.Since(start).Seconds(); i == 0 || s < best.seconds {
			best.seconds = s
		}
		best.peak = max(best.peak, peak(cmd.ProcessState))
	}
	return best, nil
}

// loading is the best of several runs that load manifests, and of as many that decode the same bytes into YAML nodes.
type loading struct {
	shape
	engine, nodes       measurement // on all processors
	engineOne, nodesOne measurement // on one
}

// load measures loading beside the least that it could cost, alternately.
func (b *bench) load(ctx context.Context, routes int) (*loading, error) {
	manifests, _, err := b.manifests(routes)
	if err != nil {
		return nil, err
	}
	l := &loading{shape: shapeOf(routes)}
	b.say("loading %d routes, best of %d", routes, b.runs)
	for i := range b.runs {
		for _, side := range []struct {
			command
			processors int
			best       *measurement
		}{{b.engine, 0, &l.engine}, {b.nodes, 0, &l.nodes}, {b.engine, 1, &l.engineOne}, {b.nodes, 1, &l.nodesOne}} {
			side.command.processors = side.processors
			m, err := side.run(ctx, manifests, "")
			if err != nil {
				return nil, err
			}
			if i == 0 || m.seconds(parts) < side.best.seconds(parts) {
				*side.best = m
			}
		}
	}
	return l, nil
}
