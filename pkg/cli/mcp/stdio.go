package mcp

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How long the last answers may take after the client has closed its side, and how often it is looked for them.
const (
	maxLastAnswer = 2 * time.Minute
	answerPoll    = 5 * time.Millisecond
)

// stdio is the transport on standard input and output. What a client has asked before it closes its side is answered
// still: the library alone would drop it.
type stdio struct{ mcp.IOTransport }

// Connect implements mcp.Transport.
func (s *stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := s.IOTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &stdioConnection{Connection: inner}, nil
}

// stdioConnection counts the requests that have no answer yet.
type stdioConnection struct {
	mcp.Connection
	open atomic.Int64
}

// Read implements mcp.Connection.
func (c *stdioConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.awaitAnswers(ctx)
		return nil, err
	}
	if request, is := message.(*jsonrpc.Request); is && request.IsCall() {
		c.open.Add(1)
	}
	return message, nil
}

// Write implements mcp.Connection.
func (c *stdioConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	if _, is := message.(*jsonrpc.Response); is {
		defer c.open.Add(-1)
	}
	return c.Connection.Write(ctx, message)
}

// awaitAnswers waits until all requests have an answer.
func (c *stdioConnection) awaitAnswers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxLastAnswer)
	defer cancel()
	for c.open.Load() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-time.After(answerPoll):
		}
	}
}

// openWriter is a writer that stays open when a client is closed.
type openWriter struct{ io.Writer }

// Close implements io.Closer.
func (openWriter) Close() error { return nil }
