package main

import (
	"context"
	"errors"
)

// paging is the best of several runs of `report`, beside `effective -A`.
type paging struct {
	shape
	bytes           int64
	effective, page program
}

// page measures reports at a number of routes, without the picture, which another program draws.
func (b *bench) page(ctx context.Context, routes int) (*paging, error) {
	p := &paging{shape: shapeOf(routes)}
	manifests, size, err := b.manifests(routes)
	if err != nil {
		return nil, err
	}
	p.bytes = size
	b.say("reporting on %d routes, best of %d", routes, b.runs)
	for range b.runs {
		err := errors.Join(
			b.time(ctx, &p.effective, 0, "effective", "-A", "-f", manifests, "-o", "json"),
			b.time(ctx, &p.page, 0, "report", "--no-picture", "-f", manifests))
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// paging reports reports.
func (r report) paging(p *paging, runs int) {
	r.line("\nThe report of %s routes, %s of YAML, beside effective -A, the whole program; best of %d runs, alternately", grouped(p.routes), megabytes(p.bytes), runs)
	r.line("  effective -A %s (%s)", duration(p.effective.seconds), megabytes(p.effective.peak))
	r.line("  report %s (%s)", duration(p.page.seconds), megabytes(p.page.peak))
	r.limit("report / effective -A", p.page.seconds/p.effective.seconds, "≤", pageAtMost)
}
