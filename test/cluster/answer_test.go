package cluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// answer is what the tests read of an answer in JSON. Origins are left out: they are lines of files in one case and the cluster in the
// other.
type answer struct {
	Complete bool
	Problems []map[string]any
	Items    []map[string]any
	Nodes    []map[string]any
	Edges    []map[string]any
	Reported []effective.ReportedPolicy
}

// environment makes a kubeconfig file the one that the plugin reads.
func environment(kubeconfig string) string { return "KUBECONFIG=" + kubeconfig }

// ask runs the plugin with a kubeconfig ("" for none), and ends the test if there is no answer.
func ask(t testing.TB, kubeconfig string, args ...string) Result {
	t.Helper()
	got := Run(t, args, environment(kubeconfig))
	if got.Code != 0 {
		t.Fatalf("%s: exit %d\n%s", strings.Join(args, " "), got.Code, got.Stderr)
	}
	return got
}

// askJSON is ask with -o json, read.
func askJSON(t testing.TB, kubeconfig string, args ...string) *answer {
	t.Helper()
	return readAnswer(t, ask(t, kubeconfig, append(slices.Clone(args), "-o", "json")...).Stdout)
}

func readAnswer(t testing.TB, text string) *answer {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
	text = asJSON(t, withoutOrigins(whole))
	out := &answer{}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withoutOrigins takes the origins out of an answer.
func withoutOrigins(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "origin")
		if by, ok := v["decidedBy"].(map[string]any); ok &&
			by["by"] == "age" { // what is applied has a time, what would be is new
			delete(by, "winner")
			delete(by, "loser")
		}
		for key, inner := range v {
			v[key] = withoutOrigins(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = withoutOrigins(inner)
		}
	}
	return v
}

// differences lists what is on one side only of two lists of parts of answers.
func differences(t testing.TB, want, got []map[string]any) []string {
	t.Helper()
	count := map[string]int{}
	for _, x := range want {
		count[asJSON(t, x)]++
	}
	for _, x := range got {
		count[asJSON(t, x)]--
	}
	var out []string
	for _, text := range slices.Sorted(maps.Keys(count)) {
		switch n := count[text]; {
		case n > 0:
			out = append(out, "- "+text)
		case n < 0:
			out = append(out, "+ "+text)
		}
	}
	return out
}

// sameAnswer compares the items of two answers, and their problems.
func sameAnswer(t testing.TB, what string, want, got *answer) {
	t.Helper()
	if diff := differences(t, want.Items, got.Items); len(diff) > 0 {
		t.Errorf("%s: items differ (- wanted, + got):\n%s", what, strings.Join(diff, "\n"))
	}
	if diff := differences(t, want.Problems, got.Problems); len(diff) > 0 {
		t.Errorf("%s: problems differ (- wanted, + got):\n%s", what, strings.Join(diff, "\n"))
	}
	if want.Complete != got.Complete {
		t.Errorf("%s: complete: %v, want %v", what, got.Complete, want.Complete)
	}
}

// dump writes what the server has of the kinds of all that was applied, of Namespaces and Services into a file, with the creation times
// that the server gave, and the definitions that are not the Gateway API's.
func (c *Cluster) dump() string {
	c.tb.Helper()
	resources := []schema.GroupVersionResource{namespaces, services, definitions}
	for _, o := range c.made {
		certificates := o.resource.Group == "" && (o.resource.Resource == "secrets" ||
			o.resource.Resource == "configmaps") // which are not read from a cluster
		if !certificates && !slices.Contains(resources, o.resource) {
			resources = append(resources, o.resource)
		}
	}
	var text strings.Builder
	for _, r := range resources {
		list, err := c.dynamic.Resource(r).List(c.tb.Context(), metav1.ListOptions{})
		if err != nil {
			c.tb.Fatalf("dumping %s: %v", r.Resource, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			if r == definitions && strings.HasSuffix(o.GetName(), ".k8s.io") {
				continue
			}
			o.SetManagedFields(nil)
			fmt.Fprintf(&text, "---\n%s\n", asJSON(c.tb, o.Object))
		}
	}
	path := filepath.Join(c.tb.TempDir(), "objects.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		c.tb.Fatal(err)
	}
	return path
}
