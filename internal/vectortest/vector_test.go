// Package vectortest holds the semantic vectors under testdata/vendors against the program's public JSON.
package vectortest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
	"go.yaml.in/yaml/v3"
)

const root = "../../testdata/vendors"

type vector struct {
	Clause   string         `yaml:"clause"`
	Proves   string         `yaml:"proves"`
	Base     string         `yaml:"base"`
	Settings map[string]any `yaml:"settings"`
	Expect   []expectation  `yaml:"expect"`
	Problems []problem      `yaml:"problems"`
}

type expectation struct {
	PolicyKind string              `yaml:"policyKind"`
	Target     map[string]string   `yaml:"target"`
	Via        map[string]string   `yaml:"via"`
	Spec       any                 `yaml:"spec"`
	Sources    map[string][]string `yaml:"sources"`
	Lost       []loss              `yaml:"lost"`
	None       bool                `yaml:"none"`
}

type loss struct {
	Rule   string `yaml:"rule"`
	Policy string `yaml:"policy"`
	Reason string `yaml:"reason"`
}

type problem struct {
	Code   string `yaml:"code"`
	Ref    string `yaml:"ref"`
	Absent bool   `yaml:"absent"`
}

func TestVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "base") {
			continue
		}
		name, _ := filepath.Rel(root, file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) { check(t, file) })
	}
}

func check(t *testing.T, file string) {
	v, manifests := read(t, file)
	args := []string{"effective", "-A", "--show-none", "-o", "json", "-f", "-"}
	if v.Base != "" {
		args = append(args, "-f", filepath.Join(filepath.Dir(file), v.Base))
	}
	for name, value := range v.Settings {
		args = append(args, "--vendor-setting", fmt.Sprintf("%s=%v", name, value))
	}
	var out, errs bytes.Buffer
	app := cli.App{Plugins: plugins.All()}
	if code := app.Run(context.Background(), args, cli.Streams{In: bytes.NewReader(manifests), Out: &out, Err: &errs, LookupEnv: os.LookupEnv}); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var list view.EffectivePolicyList
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	for _, e := range v.Expect {
		e.check(t, list.Items)
	}
	checkProblems(t, v.Problems, list)
}

// read splits a vector from its manifests.
func read(t *testing.T, file string) (v vector, manifests []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := bytes.Cut(text, []byte("\n---\n"))
	dec := yaml.NewDecoder(bytes.NewReader(head))
	var raw struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		vector     `yaml:",inline"`
	}
	if err := dec.Decode(&raw); err != nil || raw.Kind != "Vector" || raw.Clause == "" || raw.Proves == "" || len(raw.Expect) == 0 {
		t.Fatalf("%s does not start with a Vector that names its clause, what it proves and what it expects: %v", file, err)
	}
	return raw.vector, rest
}

func (e expectation) fits(item view.EffectivePolicy) bool {
	r := item.Target
	have := map[string]string{"group": r.Group, "kind": r.Kind, "namespace": r.Namespace, "name": r.Name, "section": r.Section}
	for key, want := range e.Target {
		if have[key] != want {
			return false
		}
	}
	if item.PolicyKind != e.PolicyKind || e.Target["section"] == "" && r.Section != "" {
		return false
	}
	if e.Via == nil {
		return true
	}
	return slices.ContainsFunc(item.Paths, func(p view.Path) bool {
		have := map[string]string{"gatewayClass": p.GatewayClass, "gateway": p.Gateway, "listener": p.Listener}
		for key, want := range e.Via {
			if have[key] != want {
				return false
			}
		}
		return true
	})
}

func (e expectation) check(t *testing.T, items []view.EffectivePolicy) {
	t.Helper()
	where := fmt.Sprintf("%s on %v via %v", e.PolicyKind, e.Target, e.Via)
	var found []view.EffectivePolicy
	for _, item := range items {
		if e.fits(item) {
			found = append(found, item)
		}
	}
	if e.None && len(found) == 0 && e.Lost == nil {
		return
	}
	if len(found) != 1 {
		t.Errorf("%s: %d items fit, want one", where, len(found))
		return
	}
	item := found[0]
	if e.None {
		if item.Spec != nil || len(item.Rules) > 0 {
			t.Errorf("%s: in force: %v", where, item.Spec)
		}
		if e.Lost != nil {
			e.checkLost(t, where, item)
		}
		return
	}
	if want := normal(t, e.Spec); !reflect.DeepEqual(want, item.Spec) {
		t.Errorf("%s:\n spec %v\n want %v", where, item.Spec, want)
	}
	sources := map[string][]string{}
	for _, r := range item.Rules {
		for _, s := range r.Sources {
			sources[r.Name] = append(sources[r.Name], s.Policy.FullName())
		}
	}
	if !reflect.DeepEqual(sources, e.Sources) {
		t.Errorf("%s:\n sources %v\n    want %v", where, sources, e.Sources)
	}
	e.checkLost(t, where, item)
}

func (e expectation) checkLost(t *testing.T, where string, item view.EffectivePolicy) {
	t.Helper()
	var got, want []string
	for _, r := range item.Rules {
		for _, l := range r.Lost {
			got = append(got, fmt.Sprint(loss{r.Name, l.Policy.FullName(), l.Reason}))
		}
	}
	for _, l := range item.Lost {
		got = append(got, fmt.Sprint(loss{l.Rule, l.Policy.FullName(), l.Reason}))
	}
	for _, l := range e.Lost {
		want = append(want, fmt.Sprint(l))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n lost %v\n want %v", where, got, want)
	}
}

func checkProblems(t *testing.T, want []problem, list view.EffectivePolicyList) {
	t.Helper()
	listed := map[string]bool{}
	for _, p := range want {
		listed[p.Code] = true
		found := slices.ContainsFunc(list.Problems, func(got model.Problem) bool {
			return string(got.Code) == p.Code && (p.Ref == "" || got.Ref != nil && got.Ref.FullName() == p.Ref)
		})
		if found == p.Absent {
			t.Errorf("problem %+v: reported %v; problems are %v", p, found, list.Problems)
		}
	}
	for _, got := range list.Problems {
		if got.Severity == "error" && !listed[string(got.Code)] {
			t.Errorf("unexpected error %s: %s", got.Code, got.Message)
		}
	}
}

// normal is a YAML value as it is after a trip through JSON.
func normal(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
