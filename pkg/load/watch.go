package load

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

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Watcher watches the lists that a Cache keeps, from the versions at which they were read, and has the cache take in what changes.
type Watcher struct {
	server *Server
	limits Limits
	cache  *Cache
	report func(what, hint string)
	pause  time.Duration // before a watch that fails is begun again; it doubles with every failure

	mu        sync.Mutex
	following map[listName]bool
	refused   map[listName]bool
	told      time.Time // when it was told last that watching fails
	changed   bool
	wake      chan struct{}
}

// NewWatcher watches the server that a kubeconfig's entry describes. What cannot be watched is told to report, which is called one at a time.
func NewWatcher(config *rest.Config, limits Limits, c *Cache, report func(what, hint string)) (*Watcher, error) {
	limits = limits.orDefault()
	server, err := newServer(config, unguarded, nil)
	if err != nil {
		return nil, err
	}
	return &Watcher{server: server, limits: limits, cache: c, report: report, pause: time.Second,
		following: map[listName]bool{}, refused: map[listName]bool{}, wake: make(chan struct{}, 1)}, nil
}

// Follow begins to watch the lists in the cache that are not watched yet, until ctx ends.
func (w *Watcher) Follow(ctx context.Context) {
	for _, l := range w.cache.names() {
		w.mu.Lock()
		known := w.following[l]
		w.following[l] = true
		w.mu.Unlock()
		if !known {
			go w.follow(ctx, l)
		}
	}
}

// Why a watch ends that does not go on from where it was.
var (
	errAnew     = errors.New("the list has to be read anew")
	errNotThere = errors.New("the list is not kept")
)

// follow watches a list until ctx ends, the list is to be read anew, or it may not be watched.
func (w *Watcher) follow(ctx context.Context, l listName) {
	pause := w.pause
	for {
		begun := time.Now()
		err := w.stream(ctx, l)
		switch {
		case ctx.Err() != nil:
			return
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err): // read anew with every change of another list
			w.refuse(l, err)
			return
		case errors.Is(err, errAnew), apierrors.IsNotFound(err), err != nil && expired(err):
			w.cache.forget(func(other listName) bool { return other == l })
			w.leave(l)
			w.mark()
			return
		case errors.Is(err, errNotThere):
			w.leave(l)
			return
		case err != nil:
			w.failed(err)
		}
		if time.Since(begun) > mostPause {
			pause = w.pause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, mostPause)
	}
}

// leave has the list watched again when it has been read again.
func (w *Watcher) leave(l listName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.following, l)
}

// mostPause is the longest pause before a watch that fails is begun again.
const mostPause = 30 * time.Second

// stream takes in what is watched, until the server ends the watch.
func (w *Watcher) stream(ctx context.Context, l listName) error {
	version, ok := w.cache.version(l)
	if !ok {
		return errNotThere
	}
	kind := model.ServedKind{GroupKind: l.kind, Version: l.version, Plural: l.plural}
	request := w.server.rest.Get().AbsPath(collection(&kind, l.namespace))
	for name, value := range map[string]string{"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": version,
		"timeoutSeconds": strconv.Itoa(300 + rand.N(300))} {
		request.Param(name, value)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	most := w.limits.mostOfAnswer()
	bounded := &io.LimitedReader{R: bufio.NewReader(body)}
	events := json.NewDecoder(bounded)
	for {
		bounded.N = most
		var e event
		if err := events.Decode(&e); err != nil {
			return endOf(err, bounded.N <= 0)
		}
		if err := w.take(l, e); err != nil {
			return err
		}
	}
}

// endOf is the error with which reading events ended: nil if the server has only ended the watch.
func endOf(err error, tooMuch bool) error {
	var broken *json.SyntaxError
	switch {
	case tooMuch:
		return errors.New("the server tells of a change that is too large")
	case errors.As(err, &broken):
		return fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	return nil // also a connection that breaks: if it cannot be made again, that is told
}

// event is what a server says of a change.
type event struct {
	Type   string
	Object json.RawMessage
}

// take takes in one event.
func (w *Watcher) take(l listName, e event) error {
	if e.Type == "ERROR" {
		var status metav1.Status
		if err := json.Unmarshal(e.Object, &status); err != nil {
			return fmt.Errorf("the server's answer cannot be read: %w", err)
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	v, _, err := readAnswer(e.Object, newWords(), w.limits, nil)
	object := asMap(v)
	if err != nil || object == nil {
		return errAnew
	}
	if e.Type == "BOOKMARK" {
		w.cache.advance(l, asMap(object.at("metadata")).text("resourceVersion"))
		return nil
	}
	switch known, err := w.cache.change(l, object, e.Type == "DELETED"); {
	case err != nil:
		return errAnew
	case !known:
		return errNotThere
	}
	w.mark()
	return nil
}

func (w *Watcher) mark() {
	w.mu.Lock()
	w.changed = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// refuse tells that a list may not be watched.
func (w *Watcher) refuse(l listName, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	told := slices.ContainsFunc(slices.Collect(maps.Keys(w.refused)), func(other listName) bool { return other.kind == l.kind })
	w.refused[l] = true
	if !told {
		w.report(l.plural+" are not watched: "+err.Error(), "ask for: watch on "+l.plural+" (docs/rbac.yaml)")
	}
}

// failed tells that watching fails, now and then.
func (w *Watcher) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.told) > tellAgain {
		w.told = time.Now()
		w.report("the cluster cannot be watched, the last answer may be out of date: "+err.Error(), "")
	}
}

// tellAgain is how often it is told that a cluster cannot be watched.
const tellAgain = 30 * time.Second

// Next waits until something has changed and nothing more does for a moment. Changes that do not stop are told of after ten such moments.
// Then the cache is to be read: lists that may not be watched are not in there any more. When again fires, nothing need have changed. It
// reports false when ctx ends.
func (w *Watcher) Next(ctx context.Context, moment time.Duration, again <-chan time.Time) bool {
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
	w.cache.forget(func(l listName) bool { return w.refused[l] })
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
