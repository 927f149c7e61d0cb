package load

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// FuzzSnapshot: whatever follows the beginning of a snapshot, nothing panics, and no origin names a
// file.
func FuzzSnapshot(f *testing.F) {
	for _, seed := range []string{"", "cluster: prod\n",
		"cluster: prod\ngaps: [{kind: Gateway}]\n---\n{apiVersion: v1, kind: A, metadata: {name: a}}\n",
		"cluster: [\n", "a: &a [*a]\n"} {
		f.Add(seed, false)
	}
	for _, seed := range []string{`"cluster": "prod"}`,
		`"cluster": "prod", "items": [{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}], "kinds": null}`,
		`"items": {}}`, `"items": [`} {
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, rest string, isJSON bool) {
		text := "apiVersion: dopolicy.dev/v1alpha1\nkind: Snapshot\n" + rest
		if isJSON {
			text = `{"apiVersion": "dopolicy.dev/v1alpha1", "kind": "Snapshot", ` + rest
		}
		s, err := Files(context.Background(), Options{Paths: []string{"-"}, Stdin: strings.NewReader(text),
			Limits: Limits{Document: 1 << 20, Nodes: 100_000, Repeated: 1000}})
		if err != nil && !errors.Is(err, ErrNothingReadable) {
			t.Fatal(err)
		}
		for _, o := range s.Objects {
			if o.Origin.Cluster == "" || o.Origin.File != "" || o.OriginOf("metadata", "name").Line != 0 {
				t.Errorf("%s is from %+v", o.Ref, o.OriginOf("metadata", "name"))
			}
		}
		if _, err := json.Marshal(s.Problems); err != nil {
			t.Error(err)
		}
	})
}
