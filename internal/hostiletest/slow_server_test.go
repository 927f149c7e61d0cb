//go:build linux

package hostiletest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestSlowServers: an API server that never lets go is given up without any flag that says so, soon
// or after one minute without progress.
func TestSlowServers(t *testing.T) {
	for name, a := range map[string]struct {
		serve  func() http.HandlerFunc
		want   []string
		within time.Duration
	}{
		"asks to be asked tomorrow": {serve: retryAfter(http.StatusTooManyRequests, 100_000),
			want: []string{"the server asks to retry after 27h46m40s", "more than 1m0s together"}, within: 10 * time.Second},
		"fails and asks to be asked tomorrow": {serve: retryAfter(http.StatusServiceUnavailable, 1<<62),
			want: []string{"the server asks to retry after", "more than 1m0s together"}, within: 10 * time.Second},
		"asks to be asked later, again and again": {serve: retryAfter(http.StatusTooManyRequests, 25),
			want: []string{"note: waiting for cluster c: it asks to retry after 25s\n",
				"the server asks to retry after 25s, and has asked for 50s before"}, within: 70 * time.Second},
		"has a page for every object": {serve: pagesOfOne,
			want: []string{"it may have 100 pages, and one more for every 50 objects"}, within: 30 * time.Second},
		"sends a byte now and then": {serve: lists(func(w http.ResponseWriter, r *http.Request) { trickle(w, r) }),
			want: []string{"it has to send 256 KiB, or the rest of its answer"}, within: 70 * time.Second},
		"sends its groups a byte now and then": {serve: func() http.HandlerFunc { return trickle },
			want: []string{"it has to send 256 KiB, or the rest of its answer"}, within: 70 * time.Second},
		"says nothing": {serve: func() http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		}, want: []string{"the server sent nothing for 1m0s"}, within: 70 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			config := kubeconfig(t, a.serve())
			t.Parallel() // they wait
			ctx, stop := context.WithTimeout(context.Background(), a.within)
			defer stop()
			cmd := exec.CommandContext(ctx, os.Args[0], "effective", "-A", "--kubeconfig", config)
			cmd.Env = append(os.Environ(), asProgram+"=1")
			out, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 3 {
				t.Errorf("%v: %s", cmd.ProcessState, out)
			}
			for _, want := range a.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("want %q: %s", want, out)
				}
			}
		})
	}
}

// retryAfter are servers that put everybody off.
func retryAfter(status, seconds int) func() http.HandlerFunc {
	return lists(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "TooManyRequests"}`)
	})
}

// pagesOfOne are servers with a list that always goes on, one small object after the other.
func pagesOfOne() http.HandlerFunc {
	var n atomic.Int64
	return lists(func(w http.ResponseWriter, _ *http.Request) {
		page := n.Add(1)
		fmt.Fprintf(w, `{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayList", `+
			`"metadata": {"continue": "c%d"}, "items": [{"metadata": {"name": "g%d", "namespace": "a"}, "spec": {}}]}`, page, page)
	})()
}

// trickle answers with a byte each half second.
func trickle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		w.(http.Flusher).Flush()
		time.Sleep(500 * time.Millisecond)
	}
}
