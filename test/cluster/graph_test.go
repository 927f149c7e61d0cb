package cluster

import (
	"strings"
	"testing"
)

// TestGraphNamespaces: without -A the Gateway of another namespace is drawn with its policies, and so is the way of a request; a namespace of the
// kubeconfig without anything to draw stands for all.
func TestGraphNamespaces(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	c.MustApply("{apiVersion: v1, kind: Namespace, metadata: {name: graph-empty}}")
	draw := func(namespace string, args ...string) string {
		t.Helper()
		got := Run(t, append([]string{"graph", "-o", "json"}, args...), environment(c.Kubeconfig(admin, namespace)))
		if got.Code != 0 {
			t.Fatalf("%+v", got)
		}
		return got.Stdout
	}
	for _, tc := range []struct {
		what, drawn, want, not string
	}{
		{"a namespace", draw("bakery"), `"gw-auth"`, `"search"`},
		{"a request to another", draw("bakery", "--request", "https://shop.example.com/search"), `"search"`, `"cart"`},
		{"an empty one", draw("graph-empty"), `"cart"`, "\x00"},
		{"an empty one that is asked about", draw("bakery", "-n", "graph-empty"), `"nodes": []`, `"cart"`},
	} {
		if !strings.Contains(tc.drawn, tc.want) || strings.Contains(tc.drawn, tc.not) {
			t.Errorf("%s: want %s and not %s in\n%s", tc.what, tc.want, tc.not, tc.drawn)
		}
	}
}
