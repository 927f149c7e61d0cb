package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// How often the server is asked whether it is there, and how long it may take to answer: that it is
// not is known within the sum of both.
const (
	probeInterval = 1500 * time.Millisecond
	probeTimeout  = 3 * time.Second
)

// probePath is what everybody may ask a server for.
const probePath = "/version"

// connection says whether a server answers, and holds the watches that run while it does.
type connection struct {
	mu      sync.Mutex
	contact time.Time          // when the server answered last, or, of a lost connection, before that
	back    chan struct{}      // closed when the server answers again; nil: it does
	streams context.Context    // of the watches; it ends when the connection is lost
	cancel  context.CancelFunc // ends streams
	suspect chan struct{}      // a watch failed: the server may be gone
}

func newConnection() *connection {
	return &connection{contact: time.Now(), suspect: make(chan struct{}, 1)}
}

// awaitServer waits until the server answers, and returns the context in which to watch: it ends
// when the connection is lost, as a watch that hangs brings nothing any more. Not ok: ctx ends.
func (c *connection) awaitServer(ctx context.Context) (streams context.Context, ok bool) {
	for ctx.Err() == nil {
		c.mu.Lock()
		back := c.back
		if back == nil {
			if c.streams == nil || c.streams.Err() != nil {
				c.streams, c.cancel = context.WithCancel(ctx)
			}
			defer c.mu.Unlock()
			return c.streams, true
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-back:
		}
	}
	return nil, false
}

// raiseSuspicion has the server asked at once.
func (c *connection) raiseSuspicion() {
	select {
	case c.suspect <- struct{}{}:
	default:
	}
}

// noteAnswer notes whether the server answered what it was asked then, and returns when it did before
// that; changed: it is otherwise than before.
func (c *connection) noteAnswer(answered bool, asked time.Time) (before time.Time, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, changed = c.contact, answered != (c.back == nil)
	switch {
	case answered && changed:
		close(c.back)
		c.back = nil
	case changed:
		c.back = make(chan struct{})
		if c.cancel != nil {
			c.cancel()
		}
	}
	if answered {
		c.contact = asked
	}
	return before, changed
}

// FollowConnection asks the server again and again whether it is there, until ctx ends, and
// reports when it is not any more, and when it is again.
func (w *Watcher) FollowConnection(ctx context.Context) {
	tick := time.NewTicker(probeInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-w.connection.suspect:
		}
		asked := time.Now()
		err := w.probeServer(ctx)
		if ctx.Err() != nil {
			return
		}
		since, changed := w.connection.noteAnswer(err == nil, asked)
		switch {
		case !changed:
		case err != nil:
			w.reports.Lost(since, err)
		default:
			w.reports.Back(since)
		}
	}
}

// probeServer asks the server whether it is there. Whatever it answers, it is; what stands in front
// of it may answer that it is not.
func (w *Watcher) probeServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, fmt.Errorf("no answer within %s", probeTimeout))
	defer cancel()
	err := w.server.rest.Get().AbsPath(probePath).MaxRetries(0).Do(ctx).Error()
	var answered apierrors.APIStatus
	switch cause := context.Cause(ctx); {
	case err == nil:
		return nil
	case cause != nil:
		return cause
	case errors.As(err, &answered) && !isGatewayError(err):
		return nil
	}
	return err
}

// isConnectionError reports whether an error is that of a request that got no answer of the server.
func isConnectionError(err error) bool {
	var request *url.Error
	return errors.As(err, &request) || isGatewayError(err)
}

// isGatewayError reports whether an error is that of something in front of a server, which says that
// the server does not answer.
func isGatewayError(err error) bool {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return false
	}
	switch answered.Status().Code {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
