package load

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// repo is a folder that is read as the tools do that deploy what it holds: kustomizations are built, and what objects lead to (Flux
// Kustomizations, Argo CD Applications, Helm releases) is read through these objects and not otherwise.
type repo struct {
	o      Options
	limits Limits
	in     *reader
	land
	known
	omissions
	destinations
	left int // manifests beside what kustomizations name that none of them does

	hand    hands
	found   []*lead // the leads as they stand in files
	claims  claims  // where they lead
	entered claims  // where those lead that were followed
	queue   []*lead // still to be followed
	waiting []*lead // until what they are to be filled in with is found
	seen    map[string]bool
	reached map[string]bool

	spent   time.Duration // on builds
	stopped bool          // a build did not end, and the library cannot run twice
}

// render reads the sources that were found, and what kustomizations and other objects among them make of them.
func (o Options) render(ctx context.Context, in *reader, limits Limits, f *finder) ([]piece, error) {
	w := newWalk(in, limits)
	r := &repo{o: o, limits: limits, in: in, seen: map[string]bool{}, reached: map[string]bool{}, entered: claims{}, known: known{reads: w, namespace: o.Namespace},
		land: land{walk: w, folders: map[string]*folder{}, chartAt: map[string]*chart{}, used: map[string]bool{}, taken: map[string]bool{}}}
	r.walk.charts = newCharts(o.Helm)
	r.chosen = plainDestination(o.Destination)
	r.findTops(o.Paths)
	if err := r.survey(ctx, f); err != nil {
		return nil, err
	}
	plain, err := r.plain(ctx, f.sources)
	if err != nil {
		return nil, err
	}
	if err := r.scanUsed(ctx); err != nil {
		return nil, err
	}
	if len(r.folders)+len(r.chartAt)+len(r.found) == 0 {
		return plain, r.misnamed()
	}
	r.settle(ctx)
	if err := r.run(ctx, plain); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.pieces, func(p piece) bool { return p.aside }), r.misnamed()
}

// plain is the documents of the files that no kustomization names. Those beside files that one names are not deployed, and only
// looked at for what they would lead to.
func (r *repo) plain(ctx context.Context, sources []source) ([]piece, error) {
	var out []piece
	for _, s := range sources {
		if r.used[s.real] {
			continue
		}
		before := r.in.left
		more, err := r.in.read(ctx, []source{s})
		if err != nil {
			return nil, err
		}
		for i := range more {
			more[i].real = s.real
			r.found = append(r.found, r.leads(more[i])...)
		}
		if s.real != "" && r.taken[filepath.Dir(s.real)] {
			r.left++
			r.in.left = before
			continue
		}
		out = append(out, more...)
	}
	return out, nil
}

// run reads what is not read through anything else, and follows what that leads to.
func (r *repo) run(ctx context.Context, plain []piece) error {
	var free []piece
	for _, p := range plain {
		if p.real == "" || !r.claims.hold(filepath.Dir(p.real)) {
			free = append(free, p)
		}
	}
	r.emit(free, nil)
	for _, f := range r.roots() {
		if err := r.built(ctx, order{dir: f.k.dir, name: f.k.name}); err != nil {
			return err
		}
	}
	if err := r.followAll(ctx); err != nil {
		return err
	}
	if err := r.circles(ctx); err != nil {
		return err
	}
	if err := r.freeCharts(ctx); err != nil {
		return err
	}
	r.tell()
	return nil
}

// order is a build of the kustomization in a folder.
type order struct {
	dir, within filesys.ConfirmedDir
	name        string // of the folder, as the user would type it
	made        *types.Kustomization
	change      func(*types.Kustomization)
	finish      *finish
	namespace   string // of objects without one; "" for that of all
	by          *lead  // nil: nothing led to it
}

// built adds what comes out of a build. One that fails costs what it would have made, and is told.
func (r *repo) built(ctx context.Context, o order) error {
	if r.stopped {
		r.failed(o, errors.New("an earlier build did not end, and no other can be run"), "")
		return nil
	}
	start := time.Now()
	pieces, err := r.build(ctx, o)
	r.spent += time.Since(start)
	var failed *Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &failed):
		r.stopped = errors.As(err, new(endless))
		r.failed(o, failed, failed.Hint)
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		r.stopped = true
		r.failed(o, fmt.Errorf("all builds together take longer than %s", r.limits.Build), buildHint)
		return nil
	case err != nil:
		return err
	}
	for i := range pieces {
		pieces[i].namespace = o.namespace
	}
	r.emit(pieces, o.by)
	return nil
}

func (r *repo) build(ctx context.Context, o order) ([]piece, error) {
	limits := r.limits
	limits.Build -= r.spent
	ctx, stop := context.WithTimeout(ctx, limits.Build)
	defer stop()
	w := r.walk.another()
	w.within, w.without = o.within, true
	k := &kustomization{dir: o.dir, name: o.name, made: o.made, change: o.change}
	if err := w.begin(ctx, k); err != nil {
		return nil, err
	}
	b := build{root: k, limits: limits}
	if o.finish != nil {
		b.finish = o.finish.text
	}
	pieces, err := w.build(ctx, b)
	switch {
	case err == nil:
		r.went(w.lacks)
	case len(w.lacks) > 0 && ctx.Err() == nil && !errors.As(err, new(endless)): // what fails may need what is missing
		err = w.lacks[0].refusal
	}
	if o.by != nil && o.finish != nil && o.finish.vars != nil && o.finish.vars.asked {
		r.omitPart(o.by, hiddenVariables, hiddenHint)
	}
	if o.by != nil && o.finish != nil && o.finish.vars != nil && o.finish.vars.missed {
		r.omitPart(o.by, maybeVariables, maybeHint)
	}
	if what := o.finish.told(); err == nil && what != "" && o.by != nil {
		r.remark(o.by, what)
	}
	return pieces, err
}

// failed tells that something could not be built.
func (r *repo) failed(o order, err error, hint string) {
	if at, ok := err.(*Error); ok && at.What == o.name {
		err = at.Err
	}
	p := model.Problem{Severity: model.Error, Code: model.NotEvaluated, Origin: &model.Origin{File: o.name},
		Message: "the kustomization in " + o.name + " is not built: " + err.Error(), Hint: hint}
	if o.by != nil {
		p.Origin = &o.by.at
		p.Message = o.by.String() + ": " + p.Message
	}
	r.in.problems = append(r.in.problems, p)
}

// emit adds documents to what is read, and has followed what they lead to. They come from a lead, or from nil.
func (r *repo) emit(pieces []piece, by *lead) {
	aside := r.aside(by)
	for i, p := range pieces {
		pieces[i].aside = aside
		for _, l := range r.leads(p) {
			if by != nil && by.kind != helmRelease {
				l.into = by.destination()
			}
			if key := l.key(); !r.seen[key] {
				r.seen[key] = true
				r.queue = append(r.queue, l)
			}
		}
	}
	if by != nil && !aside {
		r.sent = append(r.sent, sending{by, len(r.pieces), len(r.pieces) + len(pieces)})
	}
	r.pieces = append(r.pieces, pieces...)
}

// followAll follows leads until there are none that can be reached.
func (r *repo) followAll(ctx context.Context) error {
	for {
		for len(r.queue) > 0 {
			l := r.queue[0]
			r.queue = r.queue[1:]
			if !r.filled(l) {
				r.waiting = append(r.waiting, l)
				continue
			}
			if !l.late && r.lacksSecret(l) {
				l.late = true
				r.queue = append(r.queue, l)
				continue
			}
			if err := r.follow(ctx, l); err != nil {
				return err
			}
		}
		r.queue = slices.DeleteFunc(slices.Clone(r.waiting), func(l *lead) bool { return !r.filled(l) })
		if len(r.queue) > 0 {
			r.waiting = slices.DeleteFunc(r.waiting, r.filled)
			continue
		}
		switch next := r.bootstrap(); {
		case next != nil:
			r.queue = append(r.queue, next)
		case len(r.waiting) > 0: // in vain
			l := r.waiting[0]
			r.waiting = r.waiting[1:]
			if err := r.follow(ctx, l); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// follow reads where a lead leads.
func (r *repo) follow(ctx context.Context, l *lead) error {
	for _, path := range l.paths() {
		r.reached[l.kind+" "+path] = true
		if dir, _, ok := r.locate(path); ok && l.kind != helmRelease {
			r.entered[dir.String()] = true
		}
	}
	if r.skips(l) {
		return nil
	}
	switch l.kind {
	case fluxKustomization:
		return r.flux(ctx, l)
	case argoApplication:
		return r.application(ctx, l)
	case helmRelease:
		return r.release(ctx, l)
	}
	made, why := newGenerator(&r.land, &r.hand, l).applications(ctx, l)
	for _, app := range made {
		if key := app.key(); !r.seen[key] {
			r.seen[key] = true
			r.queue = append(r.queue, app)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case why != nil && len(made) > 0:
		r.omitPart(l, why.Error(), setHint)
	case why != nil:
		r.omit(l, why.Error(), setHint)
	}
	return nil
}
