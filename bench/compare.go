package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// comparison is the best run of each side, on one topology.
type comparison struct {
	shape
	bytes               int64
	runs                int
	engine, merge, peer measurement
}

// compare runs the sides alternately. It fails unless they give one answer, with every path in it.
func (b *bench) compare(ctx context.Context) (*comparison, error) {
	c := &comparison{shape: shapeOf(b.routes), runs: b.peerRuns}
	manifests, bytes, err := b.manifests(b.routes)
	if err != nil {
		return nil, err
	}
	c.bytes = bytes
	for i := range b.peerRuns {
		b.say("comparing, run %d of %d", i+1, b.peerRuns)
		for _, side := range []struct {
			name string
			command
			best *measurement
		}{{"this engine", b.engine, &c.engine}, {"its merge", b.merge, &c.merge}, {"policy-machinery", b.peer, &c.peer}} {
			m, err := side.run(ctx, manifests, b.answer(side.command))
			if err != nil {
				return nil, err
			}
			b.say("  %-16s %10s", side.name, duration(m.seconds(counted)))
			if i == 0 || m.seconds(counted) < side.best.seconds(counted) {
				*side.best = m
			}
		}
		for _, engine := range []command{b.engine, b.merge} {
			if err := agree(b.answer(engine), b.answer(b.peer), c.paths); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// answer is the file for the answer of a side.
func (b *bench) answer(c command) string {
	return filepath.Join(b.folder, filepath.Base(c.name())+".answer")
}

// agree compares two answers, which must have a line for every path.
func agree(engine, peer string, paths int) error {
	ours, err := os.ReadFile(engine)
	if err != nil {
		return err
	}
	theirs, err := os.ReadFile(peer)
	if err != nil {
		return err
	}
	a, p := lines(ours), lines(theirs)
	if len(a) != paths || len(p) != paths {
		return fmt.Errorf("this engine finds a policy on %d paths, policy-machinery on %d, and there are %d", len(a), len(p), paths)
	}
	for i := range a {
		if a[i] != p[i] {
			return fmt.Errorf("the sides do not agree\n  this engine:      %s\n  policy-machinery: %s", a[i], p[i])
		}
	}
	return nil
}

func lines(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}
