//go:build linux

package hostiletest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

var serverAttacks = []attack{
	{name: "an answer without end", args: "effective -A --kubeconfig @cluster --max-input 1Gi", exit: 3, want: "larger than 128 MiB",
		serve: lists(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"kind": "GatewayList", "apiVersion": "gateway.networking.k8s.io/v1", "items": [`)
			for err := error(nil); err == nil; {
				_, err = io.WriteString(w, strings.Repeat("  ", 1<<15))
			}
		})},
	{name: "an answer that unpacks without end", args: "effective -A --kubeconfig @cluster --max-input 1Gi", exit: 3,
		want: "larger than 128 MiB", serve: lists(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for err := error(nil); err == nil; {
				_, err = io.WriteString(z, strings.Repeat(" ", 1<<16))
			}
		})},
	{name: "a list without end", args: "effective -A --kubeconfig @cluster --max-input 64Mi", exit: 3,
		want: "larger than 64 MiB together (--max-input)", serve: pages(500)},
	{name: "a list without end, within the default", args: "effective -A --kubeconfig @cluster", exit: 3,
		want: "larger than 256 MiB together (--max-input)", serve: pages(2)},
	{name: "pages without objects", args: "effective -A --kubeconfig @cluster", exit: 3, want: "pages",
		serve: pages(0)},
	{name: "a server that sends requests elsewhere", args: "effective -A --kubeconfig @cluster", exit: 3,
		want: "it would get your credentials", serve: func() http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.2:1/", http.StatusFound)
			}
		}},
	{name: "a server that says nothing", args: "effective -A --kubeconfig @cluster --request-timeout 1s", exit: 3,
		want: "took longer than 1s", serve: func() http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		}},
	{name: "discovery without end", args: "effective -A --kubeconfig @cluster", exit: 3, want: "larger than 128 MiB",
		serve: func() http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for err := error(nil); err == nil; {
					_, err = io.WriteString(w, strings.Repeat(" ", 1<<16))
				}
			}
		}},
}

// lists are an API server that serves Gateways, with its answer to the list of them.
func lists(answer http.HandlerFunc) func() http.HandlerFunc {
	return func() http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			const group, version = "gateway.networking.k8s.io", "gateway.networking.k8s.io/v1"
			switch r.URL.Path {
			case "/api":
				_, _ = io.WriteString(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
			case "/api/v1":
				_, _ = io.WriteString(w,
					`{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "namespaces", "kind": "Namespace", "namespaced": false, "verbs": ["list"]}, {"name": "services", "kind": "Service", "namespaced": true, "verbs": ["list"]}]}`)
			case "/api/v1/namespaces", "/api/v1/services":
				_, _ = io.WriteString(w, `{"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []}`)
			case "/apis":
				fmt.Fprintf(w,
					`{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": %q, "versions": [{"groupVersion": %[2]q, "version": "v1"}], "preferredVersion": {"groupVersion": %[2]q, "version": "v1"}}]}`, group, version)
			case "/apis/" + version:
				fmt.Fprintf(w,
					`{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": %q, "resources": [{"name": "gateways", "singularName": "gateway", "kind": "Gateway", "namespaced": true, "verbs": ["list"]}]}`, version)
			case "/apis/" + version + "/gateways":
				answer(w, r)
			default:
				http.NotFound(w, r)
			}
		}
	}
}

// pages are a list that always goes on, with so many objects on a page, each of which is large
// where there are few.
func pages(objects int) func() http.HandlerFunc {
	var n atomic.Int64
	return lists(func(w http.ResponseWriter, _ *http.Request) {
		page := n.Add(1)
		var items []string
		padding := ""
		if objects > 0 && objects < 10 {
			padding = strings.Repeat("x", 8<<20)
		}
		for i := range objects {
			items = append(items,
				fmt.Sprintf(
					`{"metadata": {"name": "g%d-%d", "namespace": "a", "managedFields": [{"manager": "%s"}]}, "spec": {"gatewayClassName": "c"}}`, page, i, padding))
		}
		fmt.Fprintf(w,
			`{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "GatewayList", "metadata": {"continue": "c%d"}, "items": [%s]}`, page, strings.Join(items, ","))
	})
}

// kubeconfig leads to a server that answers so.
func kubeconfig(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	file := filepath.Join(t.TempDir(), "config")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"` + server.URL + `"}}],"users":[{"name":"u","user":{"token":"secret"}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
