package health

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const (
	root    = "../.."
	oracles = "../../../shared/oracles" // beside the repository; it may not be there
)

// input is what one run reads.
type input struct {
	name      string
	args      []string // -f and all that belongs to it
	settings  []string // by which kinds are read; also in args
	manifests []byte
	expected  []expectedConditions
}

// expectedConditions are those that an acceptance case expects of one policy at one ancestor.
type expectedConditions struct {
	Policy     map[string]any   `json:"policy"`
	Ancestor   map[string]any   `json:"ancestor"`
	Conditions []map[string]any `json:"conditions"`
}

// listVectors lists the vectors of the vendors.
func listVectors(t *testing.T) []input {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "testdata/vendors/*/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	var out []input
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "base") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := bytes.Cut(text, []byte("\n---\n"))
		var v struct {
			Base, Validate, Schemas string
			Settings                map[string]any
			Versions                []string
			Complete                bool
		}
		if err := yamlv3.Unmarshal(head, &v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name, _ := filepath.Rel(filepath.Join(root, "testdata/vendors"), file)
		in := input{name: name, args: []string{"-f", "-"}, settings: listSettings(v.Settings, ""), manifests: rest}
		if v.Base != "" {
			in.args = append(in.args, "-f", filepath.Join(filepath.Dir(file), v.Base))
		}
		for _, version := range v.Versions {
			in.args = append(in.args, "--vendor-version", version)
		}
		if v.Validate != "" {
			in.args = append(in.args, "--validate", v.Validate)
		}
		if v.Schemas != "" {
			in.args = append(in.args, "--schemas", v.Schemas)
		}
		if v.Complete {
			in.args = append(in.args, "--complete")
		}
		out = append(out, in)
	}
	return out
}

// listCases lists the acceptance cases beside the repository that expect conditions of policies.
func listCases(t *testing.T) []input {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(oracles, "*/*/expect.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the acceptance cases are not there")
	}
	var out []input
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Settings map[string]any
			Status   []expectedConditions
		}
		if err := sigsyaml.Unmarshal(text, &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(e.Status) == 0 {
			continue
		}
		dir := filepath.Dir(file)
		manifests, err := os.ReadFile(filepath.Join(dir, "input.yaml"))
		if err != nil {
			continue // some cases have a folder of manifests
		}
		vendor := filepath.Base(filepath.Dir(dir))
		out = append(out, input{name: vendor + "/" + filepath.Base(dir), args: []string{"-f", "-"}, manifests: manifests,
			settings: listSettings(e.Settings, vendor), expected: e.Status})
	}
	return out
}

// listReports lists the objects with a status in the files of the scripts about statuses.
func listReports(t *testing.T) map[string][]map[string]any {
	t.Helper()
	var scripts []string
	for _, folder := range []string{"audit", "status", "report"} {
		found, err := filepath.Glob(filepath.Join(root, "testdata/script", folder, "*.txtar"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no scripts of %s: %v", folder, err)
		}
		scripts = append(scripts, found...)
	}
	out := map[string][]map[string]any{}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range bytes.Split(text, []byte("\n-- "))[1:] {
			name, manifests, _ := bytes.Cut(file, []byte(" --\n"))
			if !bytes.HasSuffix(name, []byte(".yaml")) {
				continue
			}
			for _, o := range readObjects(t, manifests) {
				if o["status"] != nil && o["metadata"] != nil {
					what := filepath.Base(script) + " " + string(name)
					out[what] = append(out[what], o)
				}
			}
		}
	}
	return out
}

// listSettings are arguments for vendor settings; a name without a vendor is one of that vendor.
func listSettings(all map[string]any, vendor string) []string {
	var out []string
	for name, value := range all {
		if vendor != "" && !strings.HasPrefix(name, vendor+".") && !strings.HasPrefix(name, "kuadrant.") {
			name = vendor + "." + name
		}
		text, isText := value.(string)
		if !isText {
			coded, err := json.Marshal(value)
			if err != nil {
				panic(err)
			}
			text = string(coded)
		}
		out = append(out, name+"="+text)
	}
	slices.Sort(out)
	var args []string
	for _, s := range out {
		args = append(args, "--vendor-setting", s)
	}
	return args
}

// runProgram runs the program on standard input and returns what it prints.
func runProgram(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	app := cli.App{Plugins: plugins.All()}
	code := app.Run(context.Background(), args, cli.Streams{In: bytes.NewReader(stdin), Out: &out, Err: &errs,
		LookupEnv: func(string) (string, bool) { return "", false }})
	if code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, errs.String())
	}
	return out.Bytes()
}

// checks are those of all kinds, by Kind.group.
type checks struct {
	lua map[string]string
	cel map[string]expressions
}

var knownChecks sync.Map // by settings

// makeChecks has the program write the checks, as users get them.
func makeChecks(t *testing.T, args []string) checks {
	t.Helper()
	key := strings.Join(args, " ")
	if have, ok := knownChecks.Load(key); ok {
		return have.(checks)
	}
	const nothing = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	out := checks{map[string]string{}, map[string]expressions{}}
	var m struct{ Data map[string]string }
	text := runProgram(t, []byte(nothing), append([]string{"kinds", "-f", "-", "-o", "argocd-health"}, args...)...)
	if err := sigsyaml.UnmarshalStrict(text, &struct {
		APIVersion, Kind string
		Metadata         map[string]any
		Data             *map[string]string
	}{Data: &m.Data}); err != nil {
		t.Fatal(err)
	}
	for key, script := range m.Data {
		name, ok := strings.CutPrefix(key, "resource.customizations.health.")
		group, kind, ok2 := strings.Cut(name, "_")
		if !ok || !ok2 {
			t.Fatalf("%s is no key of a health check", key)
		}
		out.lua[kind+"."+group] = script
	}
	var k struct {
		Spec struct {
			HealthCheckExprs []expressions `json:"healthCheckExprs"`
		} `json:"spec"`
	}
	text = runProgram(t, []byte(nothing), append([]string{"kinds", "-f", "-", "-o", "flux"}, args...)...)
	if err := sigsyaml.UnmarshalStrict(text, &k); err != nil {
		t.Fatal(err)
	}
	for _, e := range k.Spec.HealthCheckExprs {
		group, _, _ := strings.Cut(e.APIVersion, "/")
		out.cel[e.Kind+"."+group] = e
	}
	knownChecks.Store(key, out)
	return out
}

// readObjects reads manifests as what a server would hand out, numbers as integers.
func readObjects(t *testing.T, manifests []byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	for doc := range bytes.SplitSeq(append([]byte("\n"), manifests...), []byte("\n---")) {
		coded, err := yaml.ToJSON(doc)
		if err != nil {
			continue // some vectors have broken documents
		}
		if o := decodeObject(coded); o["kind"] != nil {
			out = append(out, o)
		}
	}
	return out
}

// decodeObject reads an object as Kubernetes does: whole numbers are integers.
func decodeObject(coded []byte) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(coded))
	dec.UseNumber()
	var out map[string]any
	if dec.Decode(&out) != nil {
		return nil
	}
	return convertNumbers(out).(map[string]any)
}

func convertNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = convertNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = convertNumbers(v[key])
		}
	}
	return value
}

// writeFile writes a file for one test.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// kindName is Kind.group of an object.
func kindName(object map[string]any) string {
	group, _, _ := strings.Cut(fmt.Sprint(object["apiVersion"]), "/")
	return fmt.Sprint(object["kind"]) + "." + group
}
