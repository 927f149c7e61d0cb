package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// fakeServer serves Gateways and HTTPRoutes. It counts the lists that are asked for, and tells
// watches what is sent to it.
type fakeServer struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	version int
	objects map[string]map[string]string // by the plural of their kind and their name: the value of their label
	lists   map[string]int
	asked   []string // with which versions routes were listed
	since   []string // the versions from which routes were watched
	events  chan string
	refuse  string // the status with which the next watch of routes is answered
}

func newFakeServer(t *testing.T) *fakeServer {
	f := &fakeServer{t: t, version: 7, lists: map[string]int{}, events: make(chan string),
		objects: map[string]map[string]string{"gateways": {"a": "x"}, "httproutes": {"b": "x"}, "namespaces": {}}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// ServeHTTP implements http.Handler.
func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	resources := func(version string, names ...string) {
		var list []string
		for _, n := range names {
			kind := map[string]string{"gateways": "Gateway", "httproutes": "HTTPRoute", "namespaces": "Namespace"}[n]
			list = append(list, fmt.Sprintf(`{"name": %q, "kind": %q, "namespaced": true, "verbs": ["list"]}`, n, kind))
		}
		fmt.Fprintf(w, `{"kind": "APIResourceList", "groupVersion": %q, "resources": [%s]}`, version,
			strings.Join(list, ","))
	}
	switch plural := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]; {
	case r.URL.Path == "/api":
		fmt.Fprint(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
	case r.URL.Path == "/apis":
		fmt.Fprint(w, `{"kind": "APIGroupList", "groups": [{"name": "gateway.networking.k8s.io", "versions": [{"groupVersion": "gateway.networking.k8s.io/v1", "version": "v1"}],
			"preferredVersion": {"groupVersion": "gateway.networking.k8s.io/v1", "version": "v1"}}]}`)
	case r.URL.Path == "/api/v1":
		resources("v1", "namespaces")
	case plural == "v1":
		resources("gateway.networking.k8s.io/v1", "gateways", "httproutes")
	case r.URL.Query().Get("watch") == "" || plural == "namespaces":
		f.list(w, plural, r.URL.Query().Get("resourceVersion"))
	case plural == "httproutes":
		f.watch(w, r)
	default:
		<-r.Context().Done()
	}
}

func (f *fakeServer) list(w http.ResponseWriter, plural, version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lists[plural]++; plural == "httproutes" {
		f.asked = append(f.asked, version)
	}
	var items []string
	for _, name := range slices.Sorted(maps.Keys(f.objects[plural])) {
		items = append(items, fakeObject(plural, name, f.objects[plural][name], f.version))
	}
	fmt.Fprintf(w, `{"apiVersion": "v1", "items": [%s], "kind": "List", "metadata": {"resourceVersion": "%d"}}`,
		strings.Join(items, ","), f.version)
}

// fakeObject is an object whose labels and spec say the same.
func fakeObject(plural, name, value string, version int) string {
	kind := map[string]string{"gateways": "Gateway", "httproutes": "HTTPRoute"}[plural]
	return fmt.Sprintf(
		`{"apiVersion": "gateway.networking.k8s.io/v1", "kind": %q, "metadata": {"namespace": "n", "name": %q, "labels": {"value": %q}, "resourceVersion": "%d", "managedFields": [{}]}, "spec": {"value": %q}}`,
		kind, name, value, version, value)
}

func (f *fakeServer) watch(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.since = append(f.since, r.URL.Query().Get("resourceVersion"))
	refuse := f.refuse
	f.refuse = ""
	f.mu.Unlock()
	if refuse != "" {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, refuse)
		return
	}
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case e := <-f.events:
			if e == "" {
				return // the server ends the watch
			}
			fmt.Fprintln(w, e)
			w.(http.Flusher).Flush()
		}
	}
}

// send tells the watch of routes of an event.
func (f *fakeServer) send(kind, object string) {
	f.t.Helper()
	text := ""
	if kind != "" {
		text = fmt.Sprintf(`{"type": %q, "object": %s}`, kind, object)
	}
	select {
	case f.events <- text:
	case <-time.After(10 * time.Second):
		f.t.Fatalf("nobody watches, to be told %s", text)
	}
}

// watching is a program that reads a fake server again and again.
type watching struct {
	*fakeServer
	cache    *Cache
	watcher  *Watcher
	ctx      context.Context
	mu       sync.Mutex
	warnings []string
}

func watchFake(t *testing.T) *watching {
	w := &watching{fakeServer: newFakeServer(t), cache: &Cache{}, ctx: t.Context()}
	var err error
	w.watcher, err = NewWatcher(&rest.Config{Host: w.URL}, document.Limits{}, w.cache, WatchReports{Problem: func(what, _ string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.warnings = append(w.warnings, what)
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.watcher.pause = 10 * time.Millisecond
	return w
}

// read reads the server as far as that is needed, and watches what was read. It returns the routes.
func (w *watching) read() string {
	w.t.Helper()
	server, err := NewServer(&rest.Config{Host: w.URL}, document.Limits{}, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	route, gateway := model.GroupKind{Group: gatewayGroup, Kind: "HTTPRoute"}, model.GroupKind{Group: gatewayGroup,
		Kind: "Gateway"}
	s, err := Read(w.ctx, server, Options{Context: "fake", Kinds: []model.GroupKind{route, gateway}, Cache: w.cache,
		PageSize: 500})
	if err != nil {
		w.t.Fatal(err)
	}
	w.watcher.FollowLists(w.ctx)
	var out []string
	for _, o := range s.OfKind(route) {
		if o.Labels["value"] != o.Text("spec", "value") || o.Get("metadata", "managedFields") != nil ||
			o.Origin.Cluster != "fake" {
			w.t.Errorf("read as %+v: %v", o, o.Body.Value())
		}
		out = append(out, o.Ref.Name+"="+o.Labels["value"])
	}
	if n := len(s.OfKind(gateway)); n != 1 {
		w.t.Errorf("%d gateways", n)
	}
	return strings.Join(out, " ")
}

// next waits for a change, and reads.
func (w *watching) next() string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
	defer cancel()
	if !w.watcher.AwaitChange(ctx, 20*time.Millisecond, nil) {
		w.t.Fatal("nothing changes")
	}
	return w.read()
}

func (w *watching) expect(when, got, want string, lists int) {
	w.t.Helper()
	w.fakeServer.mu.Lock()
	defer w.fakeServer.mu.Unlock()
	if got != want || w.lists["httproutes"] != lists || w.lists["gateways"] != 1 {
		w.t.Errorf("%s: %q, want %q; lists that were read: %v, want %d of routes and one of gateways", when, got, want,
			w.lists, lists)
	}
}

// TestWatchTakesIn: what a watch tells of is taken into the list, which is read once: changes,
// additions and deletions; also several at once. A watch that ends goes on from the version that
// was told last.
func TestWatchTakesIn(t *testing.T) {
	w := watchFake(t)
	w.expect("at first", w.read(), "b=x", 1)
	w.send("MODIFIED", fakeObject("httproutes", "b", "y", 8))
	w.expect("changed", w.next(), "b=y", 1)
	w.send("ADDED", fakeObject("httproutes", "a", "x", 9))
	w.send("ADDED", fakeObject("httproutes", "c", "x", 10))
	w.send("MODIFIED", fakeObject("httproutes", "c", "z", 11))
	w.expect("added", w.next(), "a=x b=y c=z", 1)
	w.send("DELETED", fakeObject("httproutes", "b", "y", 12))
	w.expect("deleted", w.next(), "a=x c=z", 1)
	w.send("BOOKMARK", `{"kind": "HTTPRoute", "metadata": {"resourceVersion": "40"}}`)
	w.send("", "")
	w.send("ADDED", fakeObject("httproutes", "b", "new", 41))
	w.expect("added anew, after the watch was begun again", w.next(), "a=x b=new c=z", 1)
	w.fakeServer.mu.Lock()
	defer w.fakeServer.mu.Unlock()
	if !slices.Equal(w.since, []string{"7", "40"}) {
		t.Errorf("watched from the versions %q", w.since)
	}
	if len(w.warnings) > 0 {
		t.Errorf("warned: %q", w.warnings)
	}
}

// TestWatchAnew: a list is read once more, and watched from there, if the server has forgotten the
// version or tells what is no object.
func TestWatchAnew(t *testing.T) {
	status, _ := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410,
		"reason": "Expired"})
	for name, e := range map[string][2]string{"expired": {"ERROR", string(status)},
		"no name": {"MODIFIED", `{"apiVersion": "v1", "kind": "A", "metadata": {}}`}, "no object": {"ADDED", "[]"}} {
		t.Run(name, func(t *testing.T) {
			w := watchFake(t)
			w.expect("at first", w.read(), "b=x", 1)
			w.fakeServer.mu.Lock()
			w.version, w.objects["httproutes"] = 100, map[string]string{"c": "new"}
			w.fakeServer.mu.Unlock()
			w.send(e[0], e[1])
			w.expect("read anew", w.next(), "c=new", 2)
			w.send("ADDED", fakeObject("httproutes", "d", "x", 101))
			w.expect("and watched", w.next(), "c=new d=x", 2)
			w.fakeServer.mu.Lock()
			defer w.fakeServer.mu.Unlock()
			if !slices.Equal(w.since, []string{"7", "100"}) || !slices.Equal(w.asked, []string{"0", ""}) {
				t.Errorf("watched from the versions %q, listed with %q", w.since, w.asked)
			}
		})
	}
}

// TestWatchRefused: a list that may not be watched is read again when the cache is asked after
// another change, and that is told once.
func TestWatchRefused(t *testing.T) {
	w := watchFake(t)
	w.refuse = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "no watch for you"}`
	w.expect("at first", w.read(), "b=x", 1)
	for range 100 {
		w.mu.Lock()
		told := len(w.warnings)
		w.mu.Unlock()
		if told > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.fakeServer.mu.Lock()
	w.objects["httproutes"]["b"] = "y"
	w.fakeServer.mu.Unlock()
	w.watcher.markChanged()
	w.expect("after another change", w.next(), "b=y", 2)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.warnings) != 1 || !strings.Contains(w.warnings[0], "httproutes are not watched: no watch for you") {
		t.Errorf("warned: %q", w.warnings)
	}
}

// TestNextWakes: a change that was taken already does not end the watch.
func TestNextWakes(t *testing.T) {
	w := &Watcher{cache: &Cache{}, wake: make(chan struct{}, 1)}
	w.wake <- struct{}{} // left behind by a change that Next has told of
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	marked := make(chan struct{})
	go func() {
		time.Sleep(20 * time.Millisecond)
		close(marked)
		w.markChanged()
	}()
	if !w.AwaitChange(ctx, time.Millisecond, nil) {
		t.Error("the watch ends")
	}
	select {
	case <-marked:
	default:
		t.Error("a change is told of that there was not")
	}
	again := make(chan time.Time, 1)
	again <- time.Now()
	if !w.AwaitChange(ctx, time.Millisecond, again) {
		t.Error("not tried again")
	}
	cancel()
	if w.AwaitChange(ctx, time.Millisecond, nil) {
		t.Error("a watch that is interrupted goes on")
	}
}
