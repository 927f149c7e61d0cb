package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// all reads lists side by side. A list that is forbidden is told to refused, one that has gone is empty, and any other failure ends all.
func (r *liveReader) all(ctx context.Context, jobs []job, refused func(job)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes, errs := make([]outcome, len(jobs)), make([]error, len(jobs))
	r.o.Progress.Lists.Add(int64(len(jobs)))
	var done sync.WaitGroup
	order := make([]int, len(jobs))
	for i := range jobs {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].rank(), jobs[b].rank()) })
	for _, i := range order {
		jobs[i].targets = r.bones[jobs[i].kind.GroupKind]
		jobs[i].cached = jobs[i].cached || r.o.Cache.first(jobs[i])
		j := jobs[i]
		if known, ok := r.o.Cache.take(j); ok {
			outcomes[i] = known
			r.o.Progress.Done.Add(1)
			continue
		}
		r.seats <- struct{}{}
		done.Go(func() {
			defer func() { <-r.seats }()
			l := newListing(r, j)
			if errs[i] = l.read(ctx); apierrors.IsNotFound(errs[i]) && j.name == "" {
				errs[i] = r.gone(ctx, j, errs[i])
			}
			outcomes[i] = l.out
			if fatal(errs[i]) {
				cancel()
			}
			r.o.Progress.Done.Add(1)
		})
	}
	done.Wait()
	var failed error
	for i, j := range jobs {
		switch err := errs[i]; {
		case err == nil:
			r.outcomes = append(r.outcomes, outcomes[i])
			r.o.Cache.put(j, outcomes[i], r)
		case apierrors.IsForbidden(err):
			refused(j)
		case fatal(err) && (failed == nil || errors.Is(failed, context.Canceled)): // not those that were cancelled for another
			failed = err
			if !errors.Is(err, context.Canceled) && !apierrors.IsUnauthorized(err) {
				failed = &listError{j.String(), err}
			}
		}
	}
	return failed
}

// gone is the error of a list that is not found: as it is if its kind is not served any more, else one that leaves no answer.
func (r *liveReader) gone(ctx context.Context, j job, notFound error) error {
	served, err := r.server.kinds(ctx)
	if err != nil && served == nil {
		return err
	}
	same := func(k model.ServedKind) bool { return k.GroupKind == j.kind.GroupKind && k.Version == j.kind.Version }
	if err == nil && !slices.ContainsFunc(served, same) {
		return notFound
	}
	return errors.New("the server says that it serves them, and does not: " + notFound.Error())
}

// fatal reports whether an error leaves no answer: all but a list that one may not read, or that is not there any more.
func fatal(err error) bool {
	return err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err)
}

// listing is the reading of one list.
type listing struct {
	r     *liveReader
	job   job
	words *words
	press *press
	out   outcome
}

func newListing(r *liveReader, j job) *listing {
	l := &listing{r: r, job: j, words: newWords()}
	l.reset()
	return l
}

// reset forgets what was read.
func (l *listing) reset() {
	l.press, l.out = &press{to: &model.Packer{}}, outcome{}
}

// smallChunk is how many objects are asked for at a time where more of them are too large for one answer.
const smallChunk = 500

// read reads the list to its end. If it expires between two pages, it is read anew, all at once; if that is too large, in small pages.
func (l *listing) read(ctx context.Context) error {
	if l.job.name != "" {
		_, _, err := l.page(ctx, collection(l.job.kind, "")+"/"+l.job.name, nil)
		l.press.deliver()
		return err
	}
	chunk, anew, empty, filled := l.r.o.Chunk, false, 0, false
	for next := ""; ; {
		query := url.Values{}
		if chunk > 0 {
			query.Set("limit", strconv.Itoa(chunk))
		}
		switch {
		case next != "":
			query.Set("continue", next)
		case l.job.cached:
			query.Set("resourceVersion", "0")
		}
		for name, selector := range map[string]string{"labelSelector": l.job.labels, "fieldSelector": l.job.field} {
			if selector != "" {
				query.Set(name, selector)
			}
		}
		more, found, err := l.page(ctx, collection(l.job.kind, l.job.namespace), query)
		if empty++; found {
			empty, filled = 0, true
		}
		switch {
		case errors.Is(err, tooLarge(l.r.limits.mostOfAnswer())) && (l.job.cached || chunk == 0 || chunk > smallChunk):
			l.reset()
			l.job.cached, chunk, next = false, smallChunk, ""
			continue
		case err != nil && next != "" && expired(err) && !anew:
			l.reset()
			chunk, next, anew = 0, "", true
			continue
		case err != nil:
			return err
		case more == "" && !filled && l.job.cached && l.job.field != "": // it is served: the cache may not have it yet
			l.job.cached = false
			continue
		case more == "":
			l.press.deliver()
			return nil
		}
		if empty > mostEmpty {
			return fmt.Errorf("the list goes on without an object for more than %d pages", mostEmpty)
		}
		if more == next {
			return errors.New("the server says that the list goes on where it went on before")
		}
		next = more
	}
}

// expired reports whether the server has forgotten the place from which a list was to go on.
func expired(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.As(err, &status) && status.Status().Code == http.StatusGone
}

// page reads one page, and returns where the list goes on, or "", and whether there was anything on the page.
func (l *listing) page(ctx context.Context, path string, query url.Values) (more string, found bool, err error) {
	form := ""
	if l.job.namesOnly() {
		form = onlyMetadata
	}
	body, err := l.r.server.getAs(ctx, form, path, query)
	if err != nil {
		return "", false, err
	}
	d := &document{from: l.r.o.Context, press: l.press.begin(noLines), out: &l.out}
	v, items, err := readAnswer(body, l.words, l.r.limits, func(item any) { l.take(d, item) })
	m := asMap(v)
	switch {
	case err != nil:
		return "", false, errors.New("the server's answer cannot be read: " + err.Error())
	case m == nil || !isList(m) && l.job.name == "":
		return "", false, errors.New("the server's answer is not a list")
	}
	if l.job.name != "" && (m.text("kind") != l.job.kind.Kind || asMap(m.at("metadata")).text("name") != l.job.name) {
		return "", false, errors.New("the server's answer is not the object that was asked for")
	}
	d.take(subject{value: m}) // the object that was asked for, or the list without its items
	meta := asMap(m.at("metadata"))
	l.out.version = cmp.Or(l.out.version, meta.text("resourceVersion"))
	return meta.text("continue"), items > 0, nil
}

// take takes in an item of the list.
func (l *listing) take(d *document, item any) {
	m := withType(kid{value: item}, apiVersion(l.job.kind), l.job.kind.Kind)
	if l.job.namesOnly() && asMap(m) != nil { // the server's answer calls it PartialObjectMetadata
		m = asMap(m).with("apiVersion", 0, apiVersion(l.job.kind)).with("kind", 0, l.job.kind.Kind)
	}
	if l.job.keep != nil && !l.keeps(m) {
		return
	}
	if l.job.targets {
		m = bones(asMap(m))
	}
	before := len(l.out.objects)
	d.take(subject{value: m, inner: true})
	d.press = d.press.begin(noLines) // the tape is not to become too long
	l.r.o.Progress.Objects.Add(int64(len(l.out.objects) - before))
}

// keeps reports whether an item of the list is one that the job keeps.
func (l *listing) keeps(item any) bool {
	one := newListing(l.r, l.job)
	(&document{from: l.r.o.Context, press: one.press, out: &one.out}).take(subject{value: item})
	one.press.deliver()
	return len(one.out.objects) == 1 && l.job.keep(one.out.objects[0])
}
