package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const demo = "../../testdata/demo"

// newStreams returns the streams of a run without a terminal.
func newStreams(in io.Reader, out, beside io.Writer) cli.Streams {
	return cli.Streams{In: in, Out: out, Err: beside, LookupEnv: func(string) (string, bool) { return "", false }}
}

// runCommand is what a command prints, with its exit code.
func runCommand(args ...string) (out, beside string, code int) {
	var stdout, stderr bytes.Buffer
	code = cli.App{Plugins: plugins.All()}.Run(context.Background(), args,
		newStreams(strings.NewReader(""), &stdout, &stderr))
	return stdout.String(), stderr.String(), code
}

// connectClient starts the server with some flags on a pair of pipes, and connects a client.
func connectClient(t testing.TB, flags ...string) *mcp.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		code := cli.App{Plugins: plugins.All()}.Run(ctx, append([]string{"mcp"}, flags...),
			newStreams(toServer, fromServer, io.Discard))
		_ = fromServer.Close()
		ended <- code
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = fromClient.Close()
		if code := <-ended; code != cli.ExitAnswered {
			t.Errorf("the server ends with %d", code)
		}
		cancel()
	})
	return session
}

// result is what a call returns.
type result struct {
	lead     string
	document map[string]any
	text     string // of the document
	isError  bool
}

// page is where in an answer a result is.
func (r result) page() map[string]any {
	page, _ := r.document["page"].(map[string]any)
	return page
}

// callTool calls a tool. The text of a result is its document.
func callTool(t testing.TB, s *mcp.ClientSession, tool string, arguments map[string]any) result {
	t.Helper()
	got, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %s", tool, err)
	}
	out := result{isError: got.IsError}
	for i, content := range got.Content {
		text, is := content.(*mcp.TextContent)
		if !is {
			t.Fatalf("%s: content %T", tool, content)
		}
		if i == 0 {
			out.lead = text.Text
		} else {
			out.text = text.Text
		}
	}
	if got.IsError {
		return out
	}
	out.document, _ = got.StructuredContent.(map[string]any)
	var same map[string]any
	if err := json.Unmarshal([]byte(out.text), &same); err != nil || len(same) != len(out.document) {
		t.Errorf("%s: the text is not the document: %v\n%s", tool, err, out.text)
	}
	return out
}

// writeFile writes a file into a new folder and returns the folder.
func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
