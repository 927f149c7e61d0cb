package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// bench is one run of the program: where it keeps its files, and what it starts.
type bench struct {
	options
	folder   string
	progress io.Writer

	engine, merge, nodes, loader, peer command
	program                            string // kubectl-dopolicy itself
}

// run measures everything and writes the report to out. What is being done goes to progress.
func run(ctx context.Context, o options, out, progress io.Writer) error {
	folder, err := os.MkdirTemp("", "dopolicy-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{options: o, folder: folder, progress: progress}
	if err := b.build(ctx); err != nil {
		return fmt.Errorf("building what is compared: %w", err)
	}
	r := report{out: out, limits: o.routes == pinned.routes && slices.Equal(o.sizes, pinned.sizes) && o.rules == pinned.rules}
	r.machine()
	switch o.only {
	case "clusters":
		return b.measureClusters(ctx, r)
	case "crowds":
		return b.measureCrowds(ctx, r)
	case "large":
		return b.measureLarge(ctx, r)
	}
	c, err := b.compare(ctx)
	if err != nil {
		return fmt.Errorf("comparing: %w", err)
	}
	r.comparison(c)
	if o.only == "comparison" {
		return nil
	}
	sizes, err := b.grow(ctx)
	if err != nil {
		return fmt.Errorf("measuring the parts: %w", err)
	}
	r.growth(sizes, o.runs)
	l, err := b.load(ctx, o.sizes[1])
	if err != nil {
		return fmt.Errorf("measuring loading: %w", err)
	}
	r.loading(l, o.runs)
	a, err := b.ask(ctx)
	if err != nil {
		return fmt.Errorf("asking requests: %w", err)
	}
	r.asking(a, o.runs)
	d, err := b.diff(ctx, o.sizes[1])
	if err != nil {
		return fmt.Errorf("comparing folders: %w", err)
	}
	r.differing(d, o.runs)
	p, err := b.page(ctx, o.sizes[1])
	if err != nil {
		return fmt.Errorf("writing reports: %w", err)
	}
	r.paging(p, o.runs)
	all, err := b.everyCommand(ctx)
	if err != nil {
		return fmt.Errorf("running every command: %w", err)
	}
	r.commands(all, o.runs)
	return errors.Join(b.measureCrowds(ctx, r), b.measureClusters(ctx, r))
}

// measureCrowds measures what takes long where much is at one place.
func (b *bench) measureCrowds(ctx context.Context, r report) error {
	runs, err := b.runCrowds(ctx, b.crowd)
	if err != nil {
		return fmt.Errorf("running commands where much is at one place: %w", err)
	}
	r.crowds(runs, b.crowd, b.runs)
	return nil
}

// measureClusters measures asking many clusters.
func (b *bench) measureClusters(ctx context.Context, r report) error {
	f, err := b.askFleet(ctx)
	if err != nil {
		return fmt.Errorf("asking clusters: %w", err)
	}
	r.fleet(f)
	return nil
}

// build builds the peer and the program from the folders beside this one, and finds this program itself.
func (b *bench) build(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b.engine, b.merge, b.nodes = command{"engine", self, 0}, command{"merge", self, 0}, command{"nodes", self, 0}
	b.loader = command{"load", self, 0}
	b.peer = command{path: filepath.Join(b.folder, "peer")}
	b.program = filepath.Join(b.folder, "kubectl-dopolicy")
	return errors.Join(
		b.goBuild(ctx, "peer", b.peer.path, "."),
		b.goBuild(ctx, "..", b.program, "./cmd/kubectl-dopolicy", "-tags", "kustomize_disable_go_plugin_support"), // as the Makefile does
	)
}

// goBuild builds a package of the module in a folder.
func (b *bench) goBuild(ctx context.Context, module, program, pkg string, flags ...string) error {
	b.say("building %s", filepath.Base(program))
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-C", module, "-o", program}, flags, []string{pkg})...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, text)
	}
	return nil
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }

// manifests generates a topology, and returns the file and its size.
func (b *bench) manifests(routes int) (string, int64, error) {
	name := filepath.Join(b.folder, fmt.Sprintf("%d.yaml", routes))
	if info, err := os.Stat(name); err == nil {
		return name, info.Size(), nil
	}
	f, err := os.Create(name)
	if err != nil {
		return "", 0, err
	}
	if err := errors.Join(writeTopology(f, routes), f.Close()); err != nil {
		return "", 0, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return "", 0, err
	}
	return name, info.Size(), nil
}
