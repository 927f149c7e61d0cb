package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// asked is the error of one GET of a server that answers so, under small limits.
func asked(t *testing.T, answer http.HandlerFunc) error {
	t.Helper()
	server := httptest.NewServer(answer)
	defer server.Close()
	g := newBoundedTransport(http.DefaultTransport, document.DefaultLimits(), &retryWaits{})
	g.maxAnswer, g.progress = 1<<20, 2<<10
	g.maxStall, g.maxTime = 50*time.Millisecond, 300*time.Millisecond
	client := boundClient(server.Client(), document.DefaultLimits(), &retryWaits{})
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
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("another host was asked")
	}))
	defer elsewhere.Close()
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"stalls at once": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"sent nothing for 50ms"},
		"stalls later": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "sent 1 bytes within 50ms"},
		"trickles": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond)
			}
		}, "it has to send 2 KiB, or the rest of its answer"},
		"flows for long": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<10))
				w.(http.Flusher).Flush()
				time.Sleep(time.Millisecond / 2)
			}
		}, "took longer than 300ms"},
		"asks to wait long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "100000")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "asks to retry after 27h46m40s"},
		"never ends": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<16))
			}
		}, "larger than 1 MiB"},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL,
				http.StatusFound)
		}, "which is refused"},
		"circles": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) },
			"too many times"},
		"answers": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }, ""},
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
		fmt.Fprintf(w, `{"apiVersion": "v1", "kind": "ThingList", "metadata": {"continue": "%d"}, "items": []}`,
			pages.Add(1))
	}))
	defer server.Close()
	s, err := NewServer(&rest.Config{Host: server.URL}, document.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{server: s, limits: document.DefaultLimits(), options: Options{PageSize: 500, Progress: &Progress{}}}
	err = newListRequest(r, listJob{kind: &model.ServedKind{GroupKind: model.GroupKind{Kind: "Thing"}, Version: "v1",
		Plural: "things"}}).readList(context.Background())
	if err == nil || !strings.Contains(err.Error(), "without an object") || pages.Load() > maxEmptyPages+1 {
		t.Errorf("after %d pages: %v", pages.Load(), err)
	}
}

// thingServer answers lists of Things, and notes what was asked.
func thingServer(t *testing.T, answer func(w http.ResponseWriter, query url.Values)) (r *reader, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Query().Encode())
		w.Header().Set("Content-Type", "application/json")
		answer(w, r.URL.Query())
	}))
	t.Cleanup(server.Close)
	limits := document.DefaultLimits()
	limits.Document = 1 << 18
	s, err := NewServer(&rest.Config{Host: server.URL}, limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{server: s, limits: limits, options: Options{PageSize: 5000, Progress: &Progress{}}}, asked
}

func thingList(more string, items ...string) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "items": [%s], "kind": "ThingList", "metadata": {"continue": %q}}`,
		strings.Join(items, ","), more)
}

const oneThing = `{"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a"}}`

// A list whose answer is too large is read in small pages, also if that is found out later, or the
// server ignored how many objects were asked for.
func TestLargeAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		cached bool
		large  func(url.Values) bool // whether an answer is
		asked  []string
	}{
		"at once": {false, func(q url.Values) bool { return q.Get("limit") == "5000" },
			[]string{"limit=5000", "limit=500", "continue=2&limit=500"}},
		"later": {false, func(q url.Values) bool { return q.Get("continue") != "" && q.Get("limit") == "5000" },
			[]string{"limit=5000", "continue=2&limit=5000", "limit=500", "continue=2&limit=500"}},
		"of the cache": {true, func(q url.Values) bool { return q.Get("resourceVersion") == "0" },
			[]string{"limit=5000&resourceVersion=0", "limit=500", "continue=2&limit=500"}},
		"always": {false, func(url.Values) bool { return true }, []string{"limit=5000", "limit=500"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, asked := thingServer(t, func(w http.ResponseWriter, q url.Values) {
				switch {
				case tc.large(q):
					_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<21))
				case q.Get("continue") == "":
					_, _ = io.WriteString(w, thingList("2", oneThing))
				default:
					_, _ = io.WriteString(w, thingList("", strings.Replace(oneThing, `"a"`, `"b"`, 1)))
				}
			})
			l := newListRequest(r, listJob{kind: &model.ServedKind{GroupKind: model.GroupKind{Kind: "Thing"},
				Version: "v1", Plural: "things"}, fromCache: tc.cached})
			err := l.readList(t.Context())
			if name == "always" {
				if err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
					t.Errorf("read with %v", err)
				}
			} else if err != nil || len(l.reader.Finish().Objects) != 2 ||
				l.reader.Finish().Objects[1].Ref.Name != "b" {
				t.Errorf("%d objects, %v", len(l.reader.Finish().Objects), err)
			}
			if !slices.Equal(*asked, tc.asked) {
				t.Errorf("asked for %q, want %q", *asked, tc.asked)
			}
		})
	}
}

// Of targets that are Kubernetes' own only metadata is asked for; they are what they are all the
// same, whether or not the server does as it is asked.
func TestNamesOnly(t *testing.T) {
	for kind, want := range map[model.GroupKind]bool{{Group: "apps", Kind: "Deployment"}: true,
		{Kind: "ServiceAccount"}: true, {Kind: "Service"}: false,
		{Group: "gateway.networking.k8s.io", Kind: "Gateway"}: false} {
		k := &model.ServedKind{GroupKind: kind, Version: "v1"}
		if j := (listJob{kind: k, targetsOnly: true}); j.isMetadataOnly() != want {
			t.Errorf("%s: only names are read: %v", kind, !want)
		}
		if (listJob{kind: k}).isMetadataOnly() {
			t.Errorf("%s: only names are read of what is no target", kind)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Accept") != metadataOnlyType {
			t.Errorf("accepted: %q", r.Header.Get("Accept"))
		}
		_, _ = io.WriteString(w, `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": [
			{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "a", "namespace": "n", "labels": {"x": "y"}}}, {"metadata": {"name": "b"}, "spec": {"replicas": 1}}]}`)
	}))
	defer server.Close()
	s, err := NewServer(&rest.Config{Host: server.URL}, document.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{server: s, limits: document.DefaultLimits(), options: Options{Progress: &Progress{}}}
	l := newListRequest(r,
		listJob{kind: &model.ServedKind{GroupKind: model.GroupKind{Group: "apps", Kind: "Deployment"}, Version: "v1",
			Plural: "deployments"}, targetsOnly: true})
	if err := l.readList(t.Context()); err != nil || len(l.reader.Finish().Objects) != 2 {
		t.Fatalf("%d objects, %v", len(l.reader.Finish().Objects), err)
	}
	for i, want := range []string{`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"x":"y"},"name":"a","namespace":"n"}}`, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b"}}`} {
		o := l.reader.Finish().Objects[i]
		if got, _ := json.Marshal(o.Body.Value()); string(got) != want || o.Ref.Kind != "Deployment" ||
			o.Version != "v1" {
			t.Errorf("%s is read as %s, want %s", o.Ref, got, want)
		}
	}
}

// One object that is asked for in the server's cache, and not there yet, is asked for where it must
// be.
func TestNotInCache(t *testing.T) {
	r, asked := thingServer(t, func(w http.ResponseWriter, q url.Values) {
		if q.Get("resourceVersion") == "0" {
			_, _ = io.WriteString(w, thingList(""))
			return
		}
		_, _ = io.WriteString(w, thingList("", oneThing))
	})
	l := newListRequest(r, listJob{kind: &model.ServedKind{GroupKind: model.GroupKind{Kind: "Thing"}, Version: "v1",
		Plural: "things"}, fromCache: true, fieldSelector: "metadata.name=a"})
	if err := l.readList(t.Context()); err != nil || len(l.reader.Finish().Objects) != 1 {
		t.Errorf("%d objects, %v", len(l.reader.Finish().Objects), err)
	}
	if want := []string{"fieldSelector=metadata.name%3Da&limit=5000&resourceVersion=0",
		"fieldSelector=metadata.name%3Da&limit=5000"}; !slices.Equal(*asked, want) {
		t.Errorf("asked for %q, want %q", *asked, want)
	}
}
