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
	maxProxyAnswer = 256 << 20        // bytes of one answer of a proxy
	answerFactor   = 4                // bytes of one answer, unpacked, for each of a document
	maxStall       = time.Minute      // for leastProgress, or the rest of the answer
	leastProgress  = 256 << 10        // bytes
	maxAnswerTime  = 10 * time.Minute // for one answer
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
	waits     *retryWaits
	remaining *atomic.Int64 // bytes that may still be read
	maxTotal  int64         // bytes of all answers together
	maxAnswer int64         // bytes of one answer
	maxStall  time.Duration // how long a server may take for the progress:
	progress  int64         // bytes
	maxTime   time.Duration // how long one answer may take
}

func newBoundedTransport(to http.RoundTripper, limits document.Limits, waits *retryWaits) boundedTransport {
	g := boundedTransport{next: to, waits: waits, remaining: &atomic.Int64{}, maxTotal: limits.Total,
		maxAnswer: maxAnswerBytes(limits), maxStall: maxStall, progress: leastProgress, maxTime: maxAnswerTime}
	g.remaining.Store(limits.Total)
	return g
}

// RoundTrip implements http.RoundTripper.
func (g boundedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	body := &boundedBody{transport: g, remaining: g.maxAnswer, ctx: ctx, cancel: cancel}
	body.stall = time.AfterFunc(g.maxStall, func() { cancel(body.describeStall()) })
	body.end = time.AfterFunc(g.maxTime, func() { cancel(newLimitError("the answer took longer than %s", g.maxTime)) })
	response, err := g.next.RoundTrip(request.WithContext(ctx))
	if err == nil {
		body.ReadCloser = response.Body
		response.Body = body
		if err = g.waits.addWait(response); err == nil {
			return response, nil
		}
		_ = body.ReadCloser.Close()
	}
	defer body.endWaiting()
	if given := limitError(""); errors.As(context.Cause(ctx), &given) {
		err = given
	}
	return nil, err
}

// boundedBody is an answer that is being read.
type boundedBody struct {
	io.ReadCloser
	transport boundedTransport
	remaining int64        // bytes that it may still have
	received  atomic.Int64 // bytes since the last progress
	ctx       context.Context
	cancel    context.CancelCauseFunc
	stall     *time.Timer // gives up where there is no progress
	end       *time.Timer // gives up in any case
}

// describeStall returns the error of a server that makes no progress.
func (b *boundedBody) describeStall() error {
	if n := b.received.Load(); n > 0 {
		return newLimitError("the server sent %d bytes within %s: it has to send %d KiB, or the rest of its answer", n,
			b.transport.maxStall, b.transport.progress>>10)
	}
	return newLimitError("the server sent nothing for %s", b.transport.maxStall)
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.received.Add(int64(n)) >= b.transport.progress {
		b.received.Store(0)
		b.stall.Reset(b.transport.maxStall)
	}
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
	defer b.endWaiting()
	return b.ReadCloser.Close()
}

// endWaiting stops the timers, and the request.
func (b *boundedBody) endWaiting() {
	b.stall.Stop()
	b.end.Stop()
	b.cancel(nil)
}

// boundClient returns a client of an API server that is not trusted: answers are bounded, and it is
// not followed to another host, which would get the credentials.
func boundClient(client *http.Client, limits document.Limits, waits *retryWaits) *http.Client {
	out := refuseRedirects(client)
	transport := out.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	out.Transport = newBoundedTransport(transport, limits.WithDefaults(), waits)
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
