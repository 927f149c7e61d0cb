package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// What is run at every size. The first one is loading and little else, the second what the others are held against.
var commands = []struct {
	args  string
	limit float64 // times the second one; 0: none
}{
	{"kinds", 0},
	{"effective -A -o json", 0},
	{"effective -A -o ndjson", 1.5},
	{"effective -A", 1.5},
	{"status -A", 1.5},
	{"check", 1.5},
	{"reach authpolicy/gw0 -n infra", 1.5},
	{"overridden -A", 1.5},
	{"matrix -A", 1.5},
	{"report --no-picture", pageAtMost},
}

// effectiveTo is how much processor time `effective -A -o json` may take, times that of loading.
const effectiveTo = 3

// commandRun is what one command took at most of memory, and at least of processor time.
type commandRun struct {
	cpu  float64
	peak int64
}

// commandsAt are the runs of all commands on a topology of one size.
type commandsAt struct {
	shape
	bytes int64
	runs  []commandRun
}

// everyCommand runs every command at all sizes, in turns.
func (b *bench) everyCommand(ctx context.Context) ([]commandsAt, error) {
	var out []commandsAt
	for _, routes := range b.sizes {
		manifests, bytes, err := b.manifests(routes)
		if err != nil {
			return nil, err
		}
		at := commandsAt{shape: shapeOf(routes), bytes: bytes, runs: make([]commandRun, len(commands))}
		b.say("running every command on %d routes, best of %d", routes, b.runs)
		for range b.runs {
			for i, c := range commands {
				if err := b.spend(ctx, &at.runs[i], append(strings.Fields(c.args), "-f", manifests)); err != nil {
					return nil, err
				}
			}
		}
		out = append(out, at)
	}
	return out, nil
}

// spend runs the program once. Findings are no failure.
func (b *bench) spend(ctx context.Context, best *commandRun, args []string) error {
	cmd := exec.CommandContext(ctx, b.program, args...)
	cmd.Stdout = io.Discard
	err := cmd.Run()
	if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1) {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	took := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if best.cpu == 0 || took < best.cpu {
		best.cpu = took
	}
	best.peak = max(best.peak, peak(cmd.ProcessState))
	return nil
}

// commands reports the commands at every size.
func (r report) commands(sizes []commandsAt, runs int) {
	r.line("\nEvery command, the whole program: processor time, and the most memory in times the bytes read; best of %d runs, alternately", runs)
	head := fmt.Sprintf("  %-32s", "routes")
	for _, s := range sizes {
		head += fmt.Sprintf(" %20s", grouped(s.routes))
	}
	r.line("%s", head)
	for i, c := range commands {
		row := fmt.Sprintf("  %-32s", c.args)
		for _, s := range sizes {
			row += fmt.Sprintf(" %12s %5.1f ×", duration(s.runs[i].cpu), float64(s.runs[i].peak)/float64(s.bytes))
		}
		r.line("%s", row)
	}
	for _, s := range sizes[1:] {
		loading, effective := s.runs[0].cpu, s.runs[1].cpu
		r.limit(commands[1].args+" / "+commands[0].args+", "+grouped(s.routes)+" routes", effective/loading, "≤", effectiveTo)
		for i, c := range commands {
			if c.limit > 0 {
				r.limit(c.args+" / "+commands[1].args+", "+grouped(s.routes)+" routes", s.runs[i].cpu/effective, "≤", c.limit)
			}
		}
	}
}
