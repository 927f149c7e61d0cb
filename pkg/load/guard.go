package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// What an API server may make a run read, and wait for.
const (
	mostAnswer = 256 << 20 // bytes of one answer of a proxy
	perAnswer  = 4         // bytes of one answer, unpacked, for each of a document
	mostEmpty  = 10        // pages of a list, one after the other, that bring nothing
	mostStall  = time.Minute
)

// guardError is the error of an answer that is given up: asking again would not help.
type guardError string

// Error says what is wrong.
func (e guardError) Error() string { return string(e) }

// tooLarge is the error of one answer of more bytes than that.
func tooLarge(most int64) error {
	return giveUp("the server's answer is larger than %d MiB (four times --max-document)", most>>20)
}

// mostOfAnswer is how many bytes one answer may have.
func (l Limits) mostOfAnswer() int64 { return perAnswer * int64(l.Document) }

func giveUp(format string, args ...any) error { return guardError(fmt.Sprintf(format, args...)) }

// guard is a transport that gives up on answers that are too large and on servers that stall.
type guard struct {
	to     http.RoundTripper
	left   *atomic.Int64 // bytes that may still be read
	most   int64         // bytes of all answers together
	answer int64         // bytes of one answer
	stall  time.Duration // how long a server may send nothing
}

func newGuard(to http.RoundTripper, limits Limits) guard {
	g := guard{to: to, left: &atomic.Int64{}, most: limits.Total, answer: limits.mostOfAnswer(), stall: mostStall}
	g.left.Store(limits.Total)
	return g
}

// RoundTrip implements http.RoundTripper.
func (g guard) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	stalled := giveUp("the server sent nothing for %s", g.stall)
	timer := time.AfterFunc(g.stall, func() { cancel(stalled) })
	response, err := g.to.RoundTrip(request.WithContext(ctx))
	if err != nil {
		timer.Stop()
		defer cancel(nil)
		if errors.Is(context.Cause(ctx), stalled) {
			return nil, stalled
		}
		return nil, err
	}
	response.Body = &guardedBody{ReadCloser: response.Body, guard: g, own: g.answer, ctx: ctx, cancel: cancel, timer: timer}
	return response, nil
}

// guardedBody is an answer that is being read.
type guardedBody struct {
	io.ReadCloser
	guard  guard
	own    int64 // bytes that it may still have
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// Read implements io.Reader.
func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.guard.stall)
	b.own -= int64(n)
	switch left := b.guard.left.Add(-int64(n)); {
	case b.own < 0:
		return 0, tooLarge(b.guard.answer)
	case left < 0:
		return 0, giveUp("the server's answers are larger than %d MiB together (--max-input)", b.guard.most>>20)
	case err != nil && !errors.Is(err, io.EOF) && b.ctx.Err() != nil:
		err = context.Cause(b.ctx)
	}
	return n, err
}

// Close implements io.Closer.
func (b *guardedBody) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// guarded is a client of an API server that is not trusted: it is not followed to another host, which would get the credentials.
func guarded(client *http.Client, limits Limits) *http.Client {
	out := unguarded(client)
	transport := out.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	out.Transport = newGuard(transport, limits.orDefault())
	return out
}

// unguarded is such a client for answers that have no end.
func unguarded(client *http.Client) *http.Client {
	out := *client
	out.CheckRedirect = func(request *http.Request, before []*http.Request) error {
		first := before[0].URL
		switch {
		case request.URL.Host != first.Host || request.URL.Scheme != first.Scheme:
			return giveUp("the server sends requests on to %s://%s, which is refused: it would get your credentials", request.URL.Scheme, request.URL.Host)
		case len(before) >= 10:
			return giveUp("the server sends requests on and on")
		}
		return nil
	}
	return &out
}
