package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// differing is the best of several runs of `diff` of two folders, beside `effective -A` of one of them.
type differing struct {
	shape
	bytes           int64
	effective       program
	one, every, not program // what changes: one Gateway's policy, every policy, nothing
}

// diff measures differences at a number of routes. All take turns, so that what else the machine does hits them alike.
func (b *bench) diff(ctx context.Context, routes int) (*differing, error) {
	d := &differing{shape: shapeOf(routes)}
	manifests, size, err := b.manifests(routes)
	if err != nil {
		return nil, err
	}
	d.bytes = size
	text, err := os.ReadFile(manifests)
	if err != nil {
		return nil, err
	}
	folder := func(name string, text []byte) string {
		dir := filepath.Join(b.folder, name)
		err = errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "all.yaml"), text, 0o600))
		return dir
	}
	before := folder("before", text)
	same := folder("same", text)
	one := folder("one", bytes.Replace(text, []byte("strategy: merge"), []byte("strategy: atomic"), 1))
	every := folder("every", bytes.ReplaceAll(text, []byte("auth.identity.team =="), []byte("auth.identity.group ==")))
	if err != nil {
		return nil, err
	}
	b.say("comparing two folders of %d routes, best of %d", routes, b.runs)
	for range b.runs {
		err := errors.Join(
			b.time(ctx, &d.effective, 0, "effective", "-A", "-f", before, "-o", "json"),
			b.time(ctx, &d.not, 0, "diff", before, same, "-o", "json"),
			b.time(ctx, &d.one, 1, "diff", before, one, "-o", "json"),
			b.time(ctx, &d.every, 1, "diff", before, every, "-o", "json"))
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// time runs the command line once, and keeps the best time and the most memory. It fails unless the run exits as it should.
func (b *bench) time(ctx context.Context, best *program, code int, args ...string) error {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Stdout = io.Discard
	var failed bytes.Buffer
	cmd.Stderr = &failed
	start := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		return fmt.Errorf("%s: %w: %s", cmd, err, failed.String())
	}
	if s := time.Since(start).Seconds(); best.seconds == 0 || s < best.seconds {
		best.seconds = s
	}
	best.peak = max(best.peak, peak(cmd.ProcessState))
	return nil
}

// differing reports differences.
func (r report) differing(d *differing, runs int) {
	r.line("\nComparing two folders of %s routes, %s of YAML each, beside effective -A on one of them, the whole program; best of %d runs, alternately",
		grouped(d.routes), megabytes(d.bytes), runs)
	r.line("  effective -A %s (%s)", duration(d.effective.seconds), megabytes(d.effective.peak))
	for _, row := range []struct {
		what string
		program
	}{{"nothing changes", d.not}, {"the policy of one Gateway changes", d.one}, {"every policy changes", d.every}} {
		r.line("  diff, %s: %s (%s)", row.what, duration(row.seconds), megabytes(row.peak))
		r.limit("diff / effective -A, "+row.what, row.seconds/d.effective.seconds, "≤", diffAtMost)
	}
}
