package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// asked is the error of one GET of a server that answers so, under small limits.
func asked(t *testing.T, answer http.HandlerFunc) error {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	g := newGuard(http.DefaultTransport, DefaultLimits())
	g.answer, g.stall = 1<<20, 50*time.Millisecond
	client := guarded(server.Client(), DefaultLimits())
	client.Transport = g
	response, err := client.Get(server.URL)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func TestGuard(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer elsewhere.Close()
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"stalls at once": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "sent nothing for 50ms"},
		"stalls later": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "sent nothing for 50ms"},
		"never ends": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<16))
			}
		}, "larger than 1 MiB"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "which is refused"},
		"circles":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, "on and on"},
		"answers":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := asked(t, tc.answer)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// A list whose pages bring nothing and always go on ends.
func TestEmptyPages(t *testing.T) {
	var pages atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"apiVersion": "v1", "kind": "ThingList", "metadata": {"continue": "%d"}, "items": []}`, pages.Add(1))
	}))
	defer server.Close()
	s, err := NewServer(&rest.Config{Host: server.URL}, Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &liveReader{server: s, limits: DefaultLimits(), o: LiveOptions{Chunk: 500, Progress: &Progress{}}}
	err = newListing(r, job{kind: &model.ServedKind{GroupKind: model.GroupKind{Kind: "Thing"}, Version: "v1", Plural: "things"}}).read(context.Background())
	if err == nil || !strings.Contains(err.Error(), "without an object") || pages.Load() > mostEmpty+1 {
		t.Errorf("after %d pages: %v", pages.Load(), err)
	}
}
