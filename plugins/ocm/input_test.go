package ocm

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// read loads manifests as the program does.
func read(t *testing.T, text string) *model.Snapshot {
	t.Helper()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text),
		ClusterScoped: []model.GroupKind{clusterKind}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// resolved answers everything about an input.
func resolved(t *testing.T, in *model.Snapshot) *resolve.Resolution {
	t.Helper()
	vendors := []plugin.Plugin{Plugin()}
	c, err := plugin.NewCatalog(vendors, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resolve.Run(in, build.Graph(in, c.Settings(), c.Links()...), c)
	effective.List(r, view.Query{ShowNone: true})
	status.Predict(r, status.Query{Objects: true}, plugin.StatusFunctions(vendors))
	for _, k := range r.Kinds {
		for _, p := range k.Policies {
			reach.Find(r, k, p, "")
		}
	}
	return r
}

// TestMutilatedInput puts something else in the place of every value of the demo, one after the
// other: nothing may panic.
func TestMutilatedInput(t *testing.T) {
	files, err := filepath.Glob("../../testdata/vendors-demo/ocm/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	var objects []map[string]any
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range read(t, string(raw)).Objects {
			objects = append(objects, o.Body.Value().(map[string]any))
		}
	}
	cases := 0
	for _, o := range objects {
		mutilate(o, func() {
			cases++
			var text strings.Builder
			for _, other := range objects {
				document, err := json.Marshal(other)
				if err != nil {
					t.Fatal(err)
				}
				text.WriteString("---\n" + string(document) + "\n")
			}
			resolved(t, read(t, text.String()))
		})
	}
	if cases < 500 {
		t.Errorf("only %d cases", cases)
	}
}

// mutilate replaces every value below v in turn.
func mutilate(v any, try func()) {
	instead := []any{nil, "x", []any{nil, "x", map[string]any{}}, map[string]any{}}
	switch t := v.(type) {
	case map[string]any:
		for key, value := range t {
			for _, other := range instead {
				t[key] = other
				try()
			}
			delete(t, key)
			try()
			t[key] = value
			mutilate(value, try)
		}
	case []any:
		for i, value := range t {
			for _, other := range instead {
				t[i] = other
				try()
			}
			t[i] = value
			mutilate(value, try)
		}
	}
}
