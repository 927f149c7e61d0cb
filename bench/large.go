package main

import (
	"context"
	"errors"
	"fmt"
)

// What a million rules may take, beside a tenth of them.
const (
	tenth        = 10
	largeAtMost  = 11 // times as long
	memoryAtMost = 16 // times the bytes read
)

// large is the best of several runs on the largest input, and on a tenth of it.
type large struct {
	routes, part int
	bytes        int64
	all, tenth   program
}

// measureLarge measures the largest input.
func (b *bench) measureLarge(ctx context.Context, r report) error {
	l, err := b.runLarge(ctx)
	if err != nil {
		return fmt.Errorf("asking about %d routes: %w", b.large, err)
	}
	r.large(l, b.runs)
	return nil
}

func (b *bench) runLarge(ctx context.Context) (*large, error) {
	l := &large{routes: b.large, part: b.large / tenth}
	part, _, err := b.manifests(l.part)
	if err != nil {
		return nil, err
	}
	all, size, err := b.manifests(l.routes)
	if err != nil {
		return nil, err
	}
	l.bytes = size
	for i := range b.runs {
		b.say("asking about %d routes, and about a tenth of them, run %d of %d", l.routes, i+1, b.runs)
		err := errors.Join(
			b.time(ctx, &l.tenth, 0, "effective", "-A", "-o", "ndjson", "-f", part),
			b.time(ctx, &l.all, 0, "effective", "-A", "-o", "ndjson", "-f", all))
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

// large reports the largest input.
func (r report) large(l *large, runs int) {
	r.line("\neffective -A -o ndjson for %s rules in %s of YAML, the whole program; best of %d runs, in turns with a tenth of them",
		grouped(l.routes*rulesEach), megabytes(l.bytes), runs)
	r.line("  %s routes %s (%s), %s routes %s (%s)", grouped(l.routes), duration(l.all.seconds), megabytes(l.all.peak),
		grouped(l.part), duration(l.tenth.seconds), megabytes(l.tenth.peak))
	r.limit("all of them / a tenth of them", l.all.seconds/l.tenth.seconds, "≤", largeAtMost)
	r.limit("memory / bytes read", float64(l.all.peak)/float64(l.bytes), "≤", memoryAtMost)
}
