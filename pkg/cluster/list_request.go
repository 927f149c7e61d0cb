package cluster

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// readLists reads lists in parallel. A list that is forbidden is handed to refused, one that has
// gone is empty, and any other failure ends all.
func (r *reader) readLists(ctx context.Context, jobs []listJob, refused func(listJob)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes, errs := make([]document.Result, len(jobs)), make([]error, len(jobs))
	r.options.Progress.Lists.Add(int64(len(jobs)))
	var done sync.WaitGroup
	order := make([]int, len(jobs))
	for i := range jobs {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(jobs[a].readingOrder(),
			jobs[b].readingOrder())
	})
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
			l := newListRequest(r, j)
			if errs[i] = l.readList(ctx); apierrors.IsNotFound(errs[i]) && j.name == "" {
				errs[i] = r.explainNotFound(ctx, j, errs[i])
			}
			outcomes[i] = l.reader.Finish()
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
		// not those that were cancelled for another
		case isFatal(err) && (failed == nil || errors.Is(failed, context.Canceled)):
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
func (r *reader) explainNotFound(ctx context.Context, j listJob, notFound error) error {
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

// isFatal reports whether an error leaves no answer: all but a list that one may not read, or that
// is not there any more.
func isFatal(err error) bool {
	return err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err)
}

// listRequest is one list that is asked for, and what was read of it so far.
type listRequest struct {
	cluster *reader
	job     listJob
	reader  *document.ListReader
}

func newListRequest(r *reader, j listJob) *listRequest {
	l := &listRequest{cluster: r, job: j}
	l.resetReader()
	return l
}

// resetReader forgets what was read.
func (l *listRequest) resetReader() {
	l.reader = document.NewListReader(l.job.readerOptions(l.cluster.options.Context, l.cluster.limits,
		&l.cluster.options.Progress.Objects))
}

// smallPageSize is how many objects are asked for at a time where more of them are too large for
// one answer.
const smallPageSize = 500

// readList reads the list to its end. If it expires between two pages, it is read anew, all at
// once; if that is too large, in small pages.
func (l *listRequest) readList(ctx context.Context) error {
	if l.job.name != "" {
		_, err := l.readPage(ctx, collectionPath(l.job.kind, "")+"/"+l.job.name, nil)
		return err
	}
	chunk, anew, filled := l.cluster.options.PageSize, false, false
	var count pageCount
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
		for name, selector := range map[string]string{"labelSelector": l.job.labelSelector,
			"fieldSelector": l.job.fieldSelector} {
			if selector != "" {
				query.Set(name, selector)
			}
		}
		page, err := l.readPage(ctx, collectionPath(l.job.kind, l.job.namespace), query)
		filled = filled || page.Objects > 0
		switch {
		case errors.Is(err, newTooLargeError(maxAnswerBytes(l.cluster.limits))) && (l.job.fromCache || chunk == 0 ||
			chunk > smallPageSize):
			l.resetReader()
			l.job.fromCache, chunk, next = false, smallPageSize, ""
			continue
		case err != nil && next != "" && isExpired(err) && !anew:
			l.resetReader()
			chunk, next, anew = 0, "", true
			continue
		case err != nil:
			return err
		// it is served: the cache may not have it yet
		case page.Next == "" && !filled && l.job.fromCache && l.job.fieldSelector != "":
			l.job.fromCache = false
			continue
		case page.Next == "":
			return nil
		}
		if err := count.addPage(page.Objects, chunk); err != nil {
			return err
		}
		if page.Next == next {
			return errors.New("the server says that the list goes on where it went on before")
		}
		next = page.Next
	}
}

// isExpired reports whether the server has forgotten the place from which a list was to go on.
func isExpired(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || errors.As(err, &status) &&
		status.Status().Code == http.StatusGone
}

// readPage reads one page. With a name, it is the object of that name.
func (l *listRequest) readPage(ctx context.Context, path string, query url.Values) (document.ListPage, error) {
	form := ""
	if l.job.isMetadataOnly() {
		form = metadataOnlyType
	}
	body, err := l.cluster.server.getBodyAs(ctx, form, path, query)
	if err != nil {
		return document.ListPage{}, err
	}
	if l.job.name != "" {
		return document.ListPage{}, l.reader.ReadNamed(body, l.job.name)
	}
	return l.reader.ReadPage(body)
}
