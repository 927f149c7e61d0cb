package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// What an API server may make a run read, and wait for.
const (
	maxProxyAnswer = 256 << 20 // bytes of one answer of a proxy
	answerFactor   = 4         // bytes of one answer, unpacked, for each of a document
	maxEmptyPages  = 10        // pages of a list, one after the other, that bring nothing
	maxStall       = time.Minute
)

// limitError is the error of an answer that is given up: asking again would not help.
type limitError string

// Error says what is wrong.
func (e limitError) Error() string { return string(e) }

// newTooLargeError returns the error of one answer of more bytes than that.
func newTooLargeError(most int64) error {
	return newLimitError("the server's answer is larger than %d MiB (four times --max-document)", most>>20)
}

// maxAnswerBytes returns how many bytes one answer may have.
func maxAnswerBytes(l document.Limits) int64 { return answerFactor * int64(l.Document) }

func newLimitError(format string, args ...any) error { return limitError(fmt.Sprintf(format, args...)) }

// boundedTransport is a transport that gives up on answers that are too large and on servers that
// stall.
type boundedTransport struct {
	next      http.RoundTripper
	remaining *atomic.Int64 // bytes that may still be read
	maxTotal  int64         // bytes of all answers together
	maxAnswer int64         // bytes of one answer
	maxStall  time.Duration // how long a server may send nothing
}

func newBoundedTransport(to http.RoundTripper, limits document.Limits) boundedTransport {
	g := boundedTransport{next: to, remaining: &atomic.Int64{}, maxTotal: limits.Total,
		maxAnswer: maxAnswerBytes(limits), maxStall: maxStall}
	g.remaining.Store(limits.Total)
	return g
}

// RoundTrip implements http.RoundTripper.
func (g boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	stalled := newLimitError("the server sent nothing for %s", g.maxStall)
	timer := time.AfterFunc(g.maxStall, func() { cancel(stalled) })
	response, err := g.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		timer.Stop()
		defer cancel(nil)
		if errors.Is(context.Cause(ctx), stalled) {
			return nil, stalled
		}
		return nil, err
	}
	response.Body = &boundedBody{ReadCloser: response.Body, transport: g, remaining: g.maxAnswer, ctx: ctx,
		cancel: cancel, timer: timer}
	return response, nil
}

// boundedBody is an answer that is being read.
type boundedBody struct {
	io.ReadCloser
	transport boundedTransport
	remaining int64 // bytes that it may still have
	ctx       context.Context
	cancel    context.CancelCauseFunc
	timer     *time.Timer
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.transport.maxStall)
	b.remaining -= int64(n)
	switch left := b.transport.remaining.Add(-int64(n)); {
	case b.remaining < 0:
		return 0, newTooLargeError(b.transport.maxAnswer)
	case left < 0:
		return 0, newLimitError("the server's answers are larger than %d MiB together (--max-input)",
			b.transport.maxTotal>>20)
	case err != nil && !errors.Is(err, io.EOF) && b.ctx.Err() != nil:
		err = context.Cause(b.ctx)
	}
	return n, err
}

// Close implements io.Closer.
func (b *boundedBody) Close() error {
	b.timer.Stop()
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// boundClient returns a client of an API server that is not trusted: answers are bounded, and it is
// not followed to another host, which would get the credentials.
func boundClient(client *http.Client, limits document.Limits) *http.Client {
	out := refuseRedirects(client)
	transport := out.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	out.Transport = newBoundedTransport(transport, limits.WithDefaults())
	return out
}

// refuseRedirects returns a client that is not sent on to another host. Its answers are not
// bounded: they may have no end.
func refuseRedirects(client *http.Client) *http.Client {
	out := *client
	out.CheckRedirect = func(request *http.Request, before []*http.Request) error {
		first := before[0].URL
		switch {
		case request.URL.Host != first.Host || request.URL.Scheme != first.Scheme:
			return newLimitError(
				"the server sends requests on to %s://%s, which is refused: it would get your credentials",
				request.URL.Scheme, request.URL.Host)
		case len(before) >= 10:
			return newLimitError("the server redirects too many times")
		}
		return nil
	}
	return &out
}
