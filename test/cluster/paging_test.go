package cluster

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestPaging: however large the pages are, the answer about 5,000 routes is the same, and there is one request for a page and none for an
// object.
func TestPaging(t *testing.T) {
	c := Shared(t)
	load := Load{Routes: 5000, Gateways: 10, Namespaces: 20, Policies: 400}
	c.Populate(load)
	question := []string{"effective", "-A", "--policy-kind", "authpolicy", "-o", "json"}
	var first string
	for _, chunk := range []int{5000, 500, 0, 37, 4999} {
		args := question
		if chunk != 5000 {
			args = append(slices.Clone(question), fmt.Sprintf("--chunk-size=%d", chunk))
		}
		p := c.Proxy("admin", nil)
		got := ask(t, p.Kubeconfig(""), args...)
		t.Logf("chunks of %d: %d requests, %d bytes, %s", chunk, len(p.Requests()), len(got.Stdout), got.Elapsed)
		if first == "" {
			first = got.Stdout
			if n := strings.Count(first, `"target": {`); n < load.Routes {
				t.Fatalf("the answer has %d targets", n)
			}
		} else if got.Stdout != first {
			t.Errorf("chunks of %d give another answer", chunk)
		}
		pages, discovery := pagesOf(t, p.Requests(), chunk)
		want := map[string]int{"httproutes": 1, "authpolicies": 1}
		if chunk > 0 {
			policies := (load.Policies + 2) / 3
			want = map[string]int{"httproutes": (load.Routes + chunk - 1) / chunk,
				"authpolicies": (policies + chunk - 1) / chunk}
		}
		for resource, n := range want {
			got := 0
			for list, pages := range pages {
				if path.Base(list) == resource {
					got += pages
				}
			}
			if got != n {
				t.Errorf("chunks of %d: %d requests for %s, want %d", chunk, got, resource, n)
			}
		}
		if discovery != 2 {
			t.Errorf("chunks of %d: %d requests to find out what is served", chunk, discovery)
		}
	}
}

// pagesOf counts the requests for each list, by its path, and those of discovery. Anything but a list of a kind is an error, and so is a Secret.
func pagesOf(t *testing.T, requests []Request, chunk int) (pages map[string]int, discovery int) {
	t.Helper()
	pages = map[string]int{}
	for _, r := range requests {
		if r.Path == "/api" || r.Path == "/apis" {
			discovery++
			continue
		}
		parts := strings.Split(strings.Trim(r.Path, "/"), "/")
		resource := parts[len(parts)-1]
		collection := parts[0] == "apis" && len(parts) == 4 || parts[0] == "api" && len(parts) == 3
		if !collection || resource == "secrets" || r.Verb != "GET" || r.Query.Get("watch") != "" {
			t.Errorf("requested %s %s", r.Verb, r.Path)
		}
		if want := fmt.Sprint(chunk); chunk > 0 && r.Query.Get("limit") != want || chunk == 0 && r.Query.Has("limit") {
			t.Errorf("requested %s with limit %q", r.Path, r.Query.Get("limit"))
		}
		list := r.Path
		if field := r.Query.Get(
			"fieldSelector"); field != "" { // definitions are asked for by name, as one list each, which the permission to list is for
			if resource != "customresourcedefinitions" || r.Query.Get("resourceVersion") != "0" {
				t.Errorf("requested %s with fields %q and version %q", r.Path, field, r.Query.Get("resourceVersion"))
			}
			list += "?" + field
		}
		pages[list]++
	}
	return pages, discovery
}

// TestRequests: one request for each list, two of discovery, and nothing else, in the eyes of the server; Secrets are never asked for.
func TestRequests(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	for _, question := range everyCommand {
		p := c.Proxy("admin", nil)
		ask(t, p.Kubeconfig(""), question...)
		pages, discovery := pagesOf(t, p.Requests(), 5000)
		for list, n := range pages {
			if n != 1 {
				t.Errorf("%v: %d requests for %s", question, n, list)
			}
		}
		if discovery != 2 {
			t.Errorf("%v: %d requests of discovery", question, discovery)
		}
	}
}
