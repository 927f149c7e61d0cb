package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Each of the clusters of a fleet has so many routes.
const routesOfCluster = 50

// fleetAtMost is how much processor time asking many clusters may take, times that of asking each by itself without starting the program.
const fleetAtMost = 1.3

// peakAtMost is how much memory all clusters may take, times what a tenth of them does.
const peakAtMost = 1.3

// fleet is what asking many clusters took in one run, beside single runs.
type fleet struct {
	shape
	clusters        int
	bytes           int64
	singles         int     // single runs that were made
	single, startUp float64 // of one run, processor time on average
	all, tenth      commandRun
}

// snapshotHead makes manifests a snapshot.
const snapshotHead = `apiVersion: dopolicy.dev/v1alpha1
kind: Snapshot
cluster: %s
readAt: "2026-01-01T00:00:00Z"
kinds:
- {group: gateway.networking.k8s.io, version: v1, kind: GatewayClass, plural: gatewayclasses, namespaced: false}
- {group: gateway.networking.k8s.io, version: v1, kind: Gateway, plural: gateways, namespaced: true}
- {group: gateway.networking.k8s.io, version: v1, kind: HTTPRoute, plural: httproutes, namespaced: true}
- {group: kuadrant.io, version: v1, kind: AuthPolicy, plural: authpolicies, namespaced: true}
gaps: []
problems: []
---
`

// askFleet measures one question about many snapshots.
func (b *bench) askFleet(ctx context.Context) (*fleet, error) {
	f := &fleet{shape: shapeOf(routesOfCluster), clusters: b.clusters, singles: min(b.clusters, 100)}
	all, tenth, err := b.snapshots(f)
	if err != nil {
		return nil, err
	}
	b.say("asking %d clusters of %d routes", b.clusters, routesOfCluster)
	question := []string{"effective", "-A", "-q", "-o", "ndjson"}
	for i := range f.singles {
		var single, start commandRun
		err := errors.Join(
			b.spend(ctx, &single, append(question, "-f", filepath.Join(all, fmt.Sprintf("c%04d.yaml", i)))),
			b.spend(ctx, &start, []string{"version"}))
		if err != nil {
			return nil, err
		}
		f.single += single.cpu / float64(f.singles)
		f.startUp += start.cpu / float64(f.singles)
	}
	return f, errors.Join(
		b.spend(ctx, &f.tenth, append(question, "--each", "-f", tenth)),
		b.spend(ctx, &f.all, append(question, "--each", "-f", all)))
}

// snapshots writes a folder with all snapshots, and one with a tenth of them.
func (b *bench) snapshots(f *fleet) (all, tenth string, err error) {
	all, tenth = filepath.Join(b.folder, "fleet"), filepath.Join(b.folder, "tenth")
	if err := errors.Join(os.Mkdir(all, 0o700), os.Mkdir(tenth, 0o700)); err != nil {
		return "", "", err
	}
	var text bytes.Buffer
	if err := writeTopology(&text, routesOfCluster); err != nil {
		return "", "", err
	}
	f.bytes = int64(text.Len())
	for i := range b.clusters {
		name := fmt.Sprintf("c%04d", i)
		snapshot := append(fmt.Appendf(nil, snapshotHead, name), text.Bytes()...)
		err = errors.Join(err, os.WriteFile(filepath.Join(all, name+".yaml"), snapshot, 0o600))
		if i%10 == 0 {
			err = errors.Join(err, os.WriteFile(filepath.Join(tenth, name+".yaml"), snapshot, 0o600))
		}
	}
	return all, tenth, err
}

// fleet reports it.
func (r report) fleet(f *fleet) {
	r.line("\nAsking %s snapshots of %d routes and %d policies, %d KB of YAML each: effective -A -o ndjson; processor time of the whole program, single runs on average of %d",
		grouped(f.clusters), f.routes, f.policies, f.bytes/1000, f.singles)
	r.line("  one snapshot %s, of which starting the program %s", duration(f.single), duration(f.startUp))
	r.line("  all in one run %s (%s), a tenth of them %s (%s)", duration(f.all.cpu), megabytes(f.all.peak), duration(f.tenth.cpu), megabytes(f.tenth.peak))
	r.limit("all in one run / single runs without starting", f.all.cpu/(float64(f.clusters)*(f.single-f.startUp)), "≤", fleetAtMost)
	r.limit("memory of all / memory of a tenth", float64(f.all.peak)/float64(f.tenth.peak), "≤", peakAtMost)
}
