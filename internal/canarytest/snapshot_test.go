package canarytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// api answers like an API server that has some objects.
type api map[string]map[string][]map[string]any // by group/version, then by plural

func newAPI(objects []map[string]any) api {
	a := api{}
	for _, o := range objects {
		version, _ := o["apiVersion"].(string)
		kind, _ := o["kind"].(string)
		plural := strings.ToLower(kind) + "s"
		if a[version] == nil {
			a[version] = map[string][]map[string]any{}
		}
		a[version][plural] = append(a[version][plural], o)
	}
	return a
}

func (a api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var answer any
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/api":
		answer = map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}
	case r.URL.Path == "/apis":
		groups := []any{}
		for version := range a {
			if group, v, found := strings.Cut(version, "/"); found {
				one := map[string]any{"groupVersion": version, "version": v}
				groups = append(groups, map[string]any{"name": group, "versions": []any{one}, "preferredVersion": one})
			}
		}
		answer = map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
	default:
		at, rest := 2, []string(nil)
		if parts[0] == "apis" {
			at = 3
		}
		version := strings.Join(parts[1:min(at, len(parts))], "/")
		if len(parts) > at {
			rest = parts[at:]
		}
		switch of := a[version]; {
		case len(rest) == 0 && of != nil:
			resources := []any{}
			for plural, list := range of {
				resources = append(resources, map[string]any{"name": plural, "kind": list[0]["kind"],
					"namespaced": list[0]["kind"] != "GatewayClass" &&
						list[0]["kind"] != "Namespace", "verbs": []string{"get", "list"}})
			}
			answer = map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
				"resources": resources}
		case len(rest) == 1 && of[rest[0]] != nil:
			answer = map[string]any{"kind": fmt.Sprint(of[rest[0]][0]["kind"], "List"), "apiVersion": version,
				"metadata": map[string]any{"resourceVersion": "1"}, "items": of[rest[0]]}
		default:
			http.NotFound(w, r)
			return
		}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// TestSnapshots: a redacted snapshot of a cluster has no value, nor have the answers from it.
func TestSnapshots(t *testing.T) {
	tried := 0
	each(t, func(t *testing.T, objects []map[string]any) {
		if !sampled(t, 8) {
			return
		}
		objects = planted(objects)
		unique, seen := objects[:0:0], map[string]bool{}
		for _, o := range objects {
			meta, _ := o["metadata"].(map[string]any)
			id := fmt.Sprint(o["apiVersion"], o["kind"], meta["namespace"], meta["name"])
			if meta != nil && !seen[id] {
				unique = append(unique, o)
			}
			seen[id] = true
		}
		server := httptest.NewServer(newAPI(unique))
		defer server.Close()
		folder := t.TempDir()
		config, file := filepath.Join(folder, "config"), filepath.Join(folder, "cluster.json")
		text := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"clusters":[{"name":"c","cluster":{"server":"` + server.URL + `"}}],"users":[{"name":"u","user":{}}]}`
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		leaks(t, "what snapshot says", run(t, "snapshot", "--redact", "-o", file, "--kubeconfig", config))
		saved, err := os.ReadFile(file)
		if err != nil {
			return // of an input that cannot be read
		}
		tried++
		leaks(t, "the snapshot", string(saved))
		for _, args := range []string{"effective -A -o json", "effective -A -o wide", "check -A -v -o json",
			"overridden -A -o yaml", "status -A -o json", "graph -A -o json", "matrix -A -o json"} {
			leaks(t, args, run(t, append(strings.Fields(args), "-f", file)...))
		}
	})
	if tried < 20 {
		t.Errorf("only %d snapshots were taken", tried)
	}
}
