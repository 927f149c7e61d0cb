// Package library uses the module as a dependency would: what pkg/dopolicy answers is what the program prints.
package library

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const root = "../.."

// inputs are the demos, and two vectors of every vendor.
func inputs(t *testing.T) []string {
	t.Helper()
	demos, err := filepath.Glob(filepath.Join(root, "testdata/vendors-demo/*"))
	if err != nil || len(demos) == 0 {
		t.Fatalf("no demos: %v", err)
	}
	vendors, err := filepath.Glob(filepath.Join(root, "testdata/vendors/*"))
	if err != nil || len(vendors) == 0 {
		t.Fatalf("no vendors: %v", err)
	}
	out := append(demos, filepath.Join(root, "testdata/demo"))
	for _, vendor := range vendors {
		vectors, err := filepath.Glob(filepath.Join(vendor, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, vectors[:min(2, len(vectors))]...)
	}
	return out
}

// open reads manifests in the few lines that a program needs.
func open(t *testing.T, path string, o dopolicy.Options) *dopolicy.Input {
	t.Helper()
	engine, err := dopolicy.New(plugins.All(), o)
	if err != nil {
		t.Fatal(err)
	}
	in, err := engine.OpenFiles(context.Background(), load.Options{Paths: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestAnswersAreThoseOfTheProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "kubectl-dopolicy")
	build := exec.Command("go", "build", "-C", root, "-tags", "kustomize_disable_go_plugin_support", "-o", program, "./cmd/kubectl-dopolicy")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the program: %v\n%s", err, out)
	}
	found := 0
	for _, path := range inputs(t) {
		in := open(t, path, dopolicy.Options{})
		effective := in.Effective(view.Query{})
		found += len(effective.Items)
		matrix, err := in.Matrix(matrix.Query{})
		if err != nil {
			t.Fatal(err)
		}
		checked := in.Check(check.Options{FailOn: check.Threshold(model.Warning)})
		checked.FoldCauses()
		for _, one := range []struct {
			command []string
			answer  any
		}{
			{[]string{"effective", "-A"}, effective},
			{[]string{"overridden", "-A"}, in.Overridden(view.Query{}, nil, nil)},
			{[]string{"status", "-A"}, in.Status(status.Query{Objects: true})},
			{[]string{"matrix", "-A"}, matrix},
			{[]string{"check", "-A"}, checked},
		} {
			args := append(one.command, "-f", path, "-o", "json")
			printed, err := exec.Command(program, args...).Output()
			if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
				t.Fatalf("%v: %v", args, err)
			}
			if got, want := plain(t, one.answer), plain(t, json.RawMessage(printed)); !bytes.Equal(got, want) {
				t.Errorf("%v: the answer differs from what the program prints\n%s", args, difference(t, got, want))
			}
		}
	}
	if found == 0 {
		t.Error("no input has effective policies")
	}
}

// plain is an answer as JSON with sorted fields.
func plain(t *testing.T, answer any) []byte {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	if m, ok := value.(map[string]any); ok {
		delete(m, "apiVersion") // the envelope of a list that is printed names them
		delete(m, "kind")
	}
	out, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// difference shows where two texts begin to differ.
func difference(t *testing.T, got, want []byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string][]byte{"got": got, "want": want} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := func(text []byte) [][]byte { return bytes.Split(text, []byte("\n")) }
	a, b := lines(got), lines(want)
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return "got  " + string(a[i]) + "\nwant " + string(b[i])
		}
	}
	return "one is longer than the other"
}
