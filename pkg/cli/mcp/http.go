package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
)

// How long a client may take to send the head of a request, and how long requests may take to end with the server.
const (
	headerTimeout = 10 * time.Second
	endTimeout    = 200 * time.Millisecond
)

// serveHTTP serves over HTTP until the context ends. No session is kept between requests. Pages of a browser are
// refused: by their Origin, and by a Host that is not this machine.
func (o *Options) serveHTTP(ctx context.Context, server *mcp.Server) error {
	if err := checkLoopback(o.Listen); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return failure.NoAnswer(fmt.Sprintf("listening: %s", err), "choose another port with --listen")
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxMessage,
			PropagateRequestCancellation: true})
	web := &http.Server{Handler: http.NewCrossOriginProtection().Handler(handler), ReadHeaderTimeout: headerTimeout}
	fmt.Fprintf(o.Environment.Streams.Err, "serving MCP at http://%s/mcp\n", listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if web.Shutdown(ending) != nil {
			_ = web.Close()
		}
	}
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return failure.NoAnswer(fmt.Sprintf("serving HTTP: %s", err), "")
	}
	return nil
}
