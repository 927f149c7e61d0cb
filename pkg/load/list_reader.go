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

// readLists reads lists in parallel. A list that is forbidden is handed to refused, one that has
// gone is empty, and any other failure ends all.
func (r *clusterReader) readLists(ctx context.Context, jobs []listJob, refused func(listJob)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes, errs := make([]documentResult, len(jobs)), make([]error, len(jobs))
	r.options.Progress.Lists.Add(int64(len(jobs)))
	var done sync.WaitGroup
	order := make([]int, len(jobs))
	for i := range jobs {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(jobs[a].readingOrder(), jobs[b].readingOrder()) })
	for _, i := range order {
		jobs[i].targetsOnly = r.targetsOnly[jobs[i].kind.GroupKind]
		jobs[i].fromCache = jobs[i].fromCache || r.options.Cache.isFirstReading(jobs[i])
		j := jobs[i]
		if known, ok := r.options.Cache.findList(j); ok {
			outcomes[i] = known
			r.options.Progress.Done.Add(1)
			continue
		}
		r.slots <- struct{}{}
		done.Go(func() {
			defer func() { <-r.slots }()
			l := newListReader(r, j)
			if errs[i] = l.readList(ctx); apierrors.IsNotFound(errs[i]) && j.name == "" {
				errs[i] = r.explainNotFound(ctx, j, errs[i])
			}
			outcomes[i] = l.result
			if isFatal(errs[i]) {
				cancel()
			}
			r.options.Progress.Done.Add(1)
		})
	}
	done.Wait()
	var failed error
	for i, j := range jobs {
		switch err := errs[i]; {
		case err == nil:
			r.results = append(r.results, outcomes[i])
			r.options.Cache.storeList(j, outcomes[i], r)
		case apierrors.IsForbidden(err):
			refused(j)
		case isFatal(err) && (failed == nil || errors.Is(failed, context.Canceled)): // not those that were cancelled for another
			failed = err
			if !errors.Is(err, context.Canceled) && !apierrors.IsUnauthorized(err) {
				failed = &listError{j.String(), err}
			}
		}
	}
	return failed
}

// explainNotFound returns the error of a list that is not found: as it is if its kind is not served
// any more, else one that leaves no answer.
func (r *clusterReader) explainNotFound(ctx context.Context, j listJob, notFound error) error {
	served, err := r.server.discoverKinds(ctx)
	if err != nil && served == nil {
		return err
	}
	same := func(k model.ServedKind) bool { return k.GroupKind == j.kind.GroupKind && k.Version == j.kind.Version }
	if err == nil && !slices.ContainsFunc(served, same) {
		return notFound
	}
	return errors.New("the server says that it serves them, and does not: " + notFound.Error())
}

// isFatal reports whether an error leaves no answer: all but a list that one may not read, or that is not there any more.
func isFatal(err error) bool {
	return err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err)
}

// listReader is the reading of one list.
type listReader struct {
	cluster *clusterReader
	job     listJob
	texts   *textCache
	encoder *encoder
	result  documentResult
}

func newListReader(r *clusterReader, j listJob) *listReader {
	l := &listReader{cluster: r, job: j, texts: newTextCache()}
	l.resetResult()
	return l
}

// resetResult forgets what was read.
func (l *listReader) resetResult() {
	l.encoder, l.result = &encoder{packer: &model.Packer{}}, documentResult{}
}

// smallPageSize is how many objects are asked for at a time where more of them are too large for one answer.
const smallPageSize = 500

// readList reads the list to its end. If it expires between two pages, it is read anew, all at
// once; if that is too large, in small pages.
func (l *listReader) readList(ctx context.Context) error {
	if l.job.name != "" {
		_, _, err := l.readPage(ctx, collectionPath(l.job.kind, "")+"/"+l.job.name, nil)
		l.encoder.assignBodies()
		return err
	}
	chunk, anew, empty, filled := l.cluster.options.PageSize, false, 0, false
	for next := ""; ; {
		query := url.Values{}
		if chunk > 0 {
			query.Set("limit", strconv.Itoa(chunk))
		}
		switch {
		case next != "":
			query.Set("continue", next)
		case l.job.fromCache:
			query.Set("resourceVersion", "0")
		}
		for name, selector := range map[string]string{"labelSelector": l.job.labelSelector, "fieldSelector": l.job.fieldSelector} {
			if selector != "" {
				query.Set(name, selector)
			}
		}
		more, found, err := l.readPage(ctx, collectionPath(l.job.kind, l.job.namespace), query)
		if empty++; found {
			empty, filled = 0, true
		}
		switch {
		case errors.Is(err, newTooLargeError(maxAnswerBytes(l.cluster.limits))) && (l.job.fromCache || chunk == 0 || chunk > smallPageSize):
			l.resetResult()
			l.job.fromCache, chunk, next = false, smallPageSize, ""
			continue
		case err != nil && next != "" && isExpired(err) && !anew:
			l.resetResult()
			chunk, next, anew = 0, "", true
			continue
		case err != nil:
			return err
		case more == "" && !filled && l.job.fromCache && l.job.fieldSelector != "": // it is served: the cache may not have it yet
			l.job.fromCache = false
			continue
		case more == "":
			l.encoder.assignBodies()
			return nil
		}
		if empty > maxEmptyPages {
			return fmt.Errorf("the list goes on without an object for more than %d pages", maxEmptyPages)
		}
		if more == next {
			return errors.New("the server says that the list goes on where it went on before")
		}
		next = more
	}
}

// isExpired reports whether the server has forgotten the place from which a list was to go on.
func isExpired(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.As(err, &status) && status.Status().Code == http.StatusGone
}

// readPage reads one page, and returns where the list goes on, or "", and whether there was
// anything on the page.
func (l *listReader) readPage(ctx context.Context, path string, query url.Values) (more string, found bool, err error) {
	form := ""
	if l.job.isMetadataOnly() {
		form = metadataOnlyType
	}
	body, err := l.cluster.server.getBodyAs(ctx, form, path, query)
	if err != nil {
		return "", false, err
	}
	d := &documentReader{cluster: l.cluster.options.Context, encoder: l.encoder.beginText(noLines), result: &l.result}
	v, items, err := readServerAnswer(body, l.texts, l.cluster.limits, func(item any) { l.addItem(d, item) })
	m := asMap(v)
	switch {
	case err != nil:
		return "", false, errors.New("the server's answer cannot be read: " + err.Error())
	case m == nil || !isList(m) && l.job.name == "":
		return "", false, errors.New("the server's answer is not a list")
	}
	if l.job.name != "" && (m.textAt("kind") != l.job.kind.Kind || asMap(m.valueAt("metadata")).textAt("name") != l.job.name) {
		return "", false, errors.New("the server's answer is not the object that was asked for")
	}
	d.readCandidate(candidate{value: m}) // the object that was asked for, or the list without its items
	meta := asMap(m.valueAt("metadata"))
	l.result.resourceVersion = cmp.Or(l.result.resourceVersion, meta.textAt("resourceVersion"))
	return meta.textAt("continue"), items > 0, nil
}

// addItem takes in an item of the list.
func (l *listReader) addItem(d *documentReader, item any) {
	m := withDefaultType(treeEntry{value: item}, apiVersionOf(l.job.kind), l.job.kind.Kind)
	if l.job.isMetadataOnly() && asMap(m) != nil { // the server's answer calls it PartialObjectMetadata
		m = asMap(m).withValue("apiVersion", 0, apiVersionOf(l.job.kind)).withValue("kind", 0, l.job.kind.Kind)
	}
	if l.job.isKept != nil && !l.isKept(m) {
		return
	}
	if l.job.targetsOnly {
		m = reduceToTarget(asMap(m))
	}
	before := len(l.result.objects)
	d.readCandidate(candidate{value: m, isItem: true})
	d.encoder = d.encoder.beginText(noLines) // so that no packed text becomes too long
	l.cluster.options.Progress.Objects.Add(int64(len(l.result.objects) - before))
}

// isKept reports whether an item of the list is one that the job keeps.
func (l *listReader) isKept(item any) bool {
	one := newListReader(l.cluster, l.job)
	(&documentReader{cluster: l.cluster.options.Context, encoder: one.encoder, result: &one.result}).readCandidate(candidate{value: item})
	one.encoder.assignBodies()
	return len(one.result.objects) == 1 && l.job.isKept(one.result.objects[0])
}
