package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Watcher watches the lists that a Cache keeps, from the versions at which they were read, and has
// the cache take in what changes.
type Watcher struct {
	server     *Server
	limits     document.Limits
	cache      *Cache
	reports    WatchReports
	connection *connection
	pause      time.Duration // before a watch that fails is begun again; it doubles with every failure

	mu           sync.Mutex
	following    map[listKey]bool
	refused      map[listKey]bool
	lastReported time.Time // when it was last reported that watching fails
	changed      bool
	wake         chan struct{}
}

// WatchReports are told what happens to a watch. They may be called side by side.
type WatchReports struct {
	Problem func(what, hint string)          // what cannot be watched
	Lost    func(since time.Time, err error) // the server does not answer since then
	Back    func(since time.Time)            // it does again, and did not since then
}

// NewWatcher returns a watcher of the server that a kubeconfig's entry describes.
func NewWatcher(config *rest.Config, limits document.Limits, c *Cache, reports WatchReports) (*Watcher, error) {
	limits = limits.WithDefaults()
	server, err := newServer(config, refuseRedirects, nil)
	if err != nil {
		return nil, err
	}
	return &Watcher{server: server, limits: limits, cache: c, reports: reports, connection: newConnection(),
		pause:     time.Second,
		following: map[listKey]bool{}, refused: map[listKey]bool{}, wake: make(chan struct{}, 1)}, nil
}

// FollowLists begins to watch the lists in the cache that are not watched yet, until ctx ends.
func (w *Watcher) FollowLists(ctx context.Context) {
	for _, l := range w.cache.listKeys() {
		w.mu.Lock()
		known := w.following[l]
		w.following[l] = true
		w.mu.Unlock()
		if !known {
			go w.watchList(ctx, l)
		}
	}
}

// Why a watch ends that does not go on from where it was.
var (
	errRelist    = errors.New("the list has to be read anew")
	errNotCached = errors.New("the list is not kept")
)

// watchList watches a list until ctx ends, the list is to be read anew, or it may not be watched.
func (w *Watcher) watchList(ctx context.Context, l listKey) {
	pause, failures := w.pause, 0
	for {
		streams, ok := w.connection.awaitServer(ctx)
		if !ok {
			return
		}
		begun := time.Now()
		err := w.readEvents(streams, l)
		switch {
		case ctx.Err() != nil:
			return
		// read anew with every change of another list
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
			w.addRefusal(l, err)
			return
		case errors.Is(err, errRelist), apierrors.IsNotFound(err), err != nil && isExpired(err):
			w.cache.forgetLists(func(other listKey) bool { return other == l })
			w.stopFollowing(l)
			w.markChanged()
			return
		case errors.Is(err, errNotCached):
			w.stopFollowing(l)
			return
		case streams.Err() != nil:
			continue
		case err == nil:
			failures = 0
		default:
			if failures++; isConnectionError(err) {
				w.connection.raiseSuspicion()
			}
			if failures >= minFailures || !isConnectionError(err) {
				w.reportFailure(err)
			}
		}
		if time.Since(begun) > maxPause {
			pause = w.pause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, maxPause)
	}
}

// stopFollowing has the list watched again when it has been read again.
func (w *Watcher) stopFollowing(l listKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.following, l)
}

// minFailures is how often a watch fails in a row, while the server answers, until that is reported.
const minFailures = 3

// maxPause is the longest pause before a watch that fails is begun again.
const maxPause = 30 * time.Second

// readEvents takes in what is watched, until the server ends the watch.
func (w *Watcher) readEvents(ctx context.Context, l listKey) error {
	version, ok := w.cache.listVersion(l)
	if !ok {
		return errNotCached
	}
	kind := model.ServedKind{GroupKind: l.kind, Version: l.version, Plural: l.plural}
	request := w.server.rest.Get().AbsPath(collectionPath(&kind, l.namespace))
	for name, value := range map[string]string{"watch": "true", "allowWatchBookmarks": "true",
		"resourceVersion": version,
		"timeoutSeconds":  strconv.Itoa(300 + rand.N(300))} {
		request.Param(name, value)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	most := maxAnswerBytes(w.limits)
	bounded := &io.LimitedReader{R: bufio.NewReader(body)}
	events := json.NewDecoder(bounded)
	for {
		bounded.N = most
		var e watchEvent
		if err := events.Decode(&e); err != nil {
			return streamError(err, bounded.N <= 0)
		}
		if err := w.applyEvent(l, e); err != nil {
			return err
		}
	}
}

// streamError returns the error with which reading events ended: nil if the server has only ended
// the watch.
func streamError(err error, tooMuch bool) error {
	var broken *json.SyntaxError
	switch {
	case tooMuch:
		return errors.New("the server tells of a change that is too large")
	case errors.As(err, &broken):
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil // also a connection that breaks: if it cannot be made again, that is reported
}

// watchEvent is what a server says of a change.
type watchEvent struct {
	Type   string
	Object json.RawMessage
}

// applyEvent takes in one event.
func (w *Watcher) applyEvent(l listKey, e watchEvent) error {
	if e.Type == "ERROR" {
		var status metav1.Status
		if err := json.Unmarshal(e.Object, &status); err != nil {
			return fmt.Errorf("the server's answer cannot be read: %w", err)
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	object, err := document.ReadServerObject(e.Object, w.limits)
	switch {
	case err != nil:
		return errRelist
	case e.Type == "BOOKMARK":
		w.cache.advanceVersion(l, object.ResourceVersion)
		return nil
	case object.Ref == (model.Ref{}):
		return errRelist
	case !w.cache.applyChange(l, object, e.Type == "DELETED"):
		return errNotCached
	}
	w.markChanged()
	return nil
}

func (w *Watcher) markChanged() {
	w.mu.Lock()
	w.changed = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// addRefusal tells that a list may not be watched.
func (w *Watcher) addRefusal(l listKey, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told := slices.ContainsFunc(slices.Collect(maps.Keys(w.refused)),
		func(other listKey) bool { return other.kind == l.kind })
	w.refused[l] = true
	if !told {
		w.reports.Problem(l.plural+" are not watched: "+err.Error(), "ask for: watch on "+l.plural+" ("+RightsHint+")")
	}
}

// reportFailure tells that watching fails, now and then.
func (w *Watcher) reportFailure(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.lastReported) > reportInterval {
		w.lastReported = time.Now()
		w.reports.Problem("the cluster cannot be watched, the last answer may be out of date: "+err.Error(), "")
	}
}

// reportInterval is how often it is reported that a cluster cannot be watched.
const reportInterval = 30 * time.Second

// AwaitChange waits until something has changed and nothing more does for a moment. Changes that do
// not stop are told of after ten such moments. Then the cache is to be read: lists that may not be
// watched are not in there any more. When again fires, nothing need have changed. It reports false
// when ctx ends.
func (w *Watcher) AwaitChange(ctx context.Context, moment time.Duration, again <-chan time.Time) bool {
	for changed := false; !changed; {
		select {
		case <-ctx.Done():
			return false
		case <-again:
			changed = true
		case <-w.wake:
			w.awaitQuiet(ctx, moment)
		}
		w.mu.Lock()
		changed, w.changed = changed || w.changed, false
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cache.forgetLists(func(l listKey) bool { return w.refused[l] })
	return ctx.Err() == nil
}

// awaitQuiet waits until nothing changes for a moment.
func (w *Watcher) awaitQuiet(ctx context.Context, moment time.Duration) {
	for last := time.After(10 * moment); ; {
		select {
		case <-w.wake:
			continue
		case <-ctx.Done():
		case <-last:
		case <-time.After(moment):
		}
		return
	}
}
