package mcptest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// lineReader hands on what is written to it.
type lineReader chan string

func (l lineReader) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// startHTTP starts the server on a port of this machine and returns its address.
func startHTTP(t *testing.T, flags ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	said, ended := make(lineReader, 9), make(chan int, 1)
	go func() {
		ended <- cli.App{Plugins: plugins.All()}.Run(ctx, append([]string{"mcp", "--listen", "127.0.0.1:0"}, flags...),
			newStreams(strings.NewReader(""), said, said))
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != cli.ExitAnswered {
			t.Errorf("the server ends with %d", code)
		}
	})
	select {
	case line := <-said:
		_, address, found := strings.Cut(strings.TrimSpace(line), "serving MCP at ")
		if !found {
			t.Fatal(line)
		}
		return address
	case <-time.After(time.Minute):
		t.Fatal("the server does not start")
	}
	return ""
}

// TestHTTP: the tools answer over HTTP as on standard input and output.
func TestHTTP(t *testing.T) {
	address := startHTTP(t, "-f", demo)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: address}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	local := connectClient(t, "-f", demo)
	for _, q := range listQuestions()[:3] {
		got, want := callTool(t, s, q.tool, q.arguments), callTool(t, local, q.tool, q.arguments)
		if got.isError || got.text != want.text || got.lead != want.lead {
			t.Errorf("%s: %s\nand not %s", q.command, got.lead, want.lead)
		}
	}
}

// TestPagesOfBrowsers: no page of another site is answered, nor one that has a name of its own for this machine.
func TestPagesOfBrowsers(t *testing.T) {
	address := startHTTP(t, "-f", demo)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	for name, change := range map[string]func(*http.Request){
		"of another site": func(r *http.Request) { r.Header.Set("Origin", "https://attacker.example") },
		"with another name": func(r *http.Request) {
			r.Host = "attacker.example"
			r.Header.Set("Origin", "http://attacker.example")
		},
		"that only sends": func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.Header.Set("Content-Type", "text/plain")
		},
	} {
		r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(list))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		change(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode < 400 {
			t.Errorf("a page %s gets %s", name, answer.Status)
		}
	}
}
