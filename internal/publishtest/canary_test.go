package publishtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// canary is in every value that must not be published, with a number behind it that says which one
// it is.
const canary = "canary4711"

// shares is in how many turns the values of an input are replaced: policies whose values are all
// replaced are mostly invalid, and would not be in force.
const shares = 4

// identity are the fields of policies and of what they refer to that reports are about: names,
// kinds and places.
var identity = []string{"name", "namespace", "kind", "group", "sectionName", "targetRef", "targetRefs",
	"targetSelectors", "parentRefs", "strategy"}

// planter puts canaries in the place of values.
type planter struct {
	turn    int // -1: all at once
	n       int
	planted int
}

func (p *planter) plant(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range sortedKeys(v) {
			if !slices.Contains(identity, inner) {
				v[inner] = p.plant(v[inner], inner)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = p.plant(v[i], key)
		}
		return v
	case nil, bool:
		return v
	}
	if p.n++; p.turn >= 0 && p.n%shares != p.turn {
		return v
	}
	p.planted++
	if _, text := v.(string); text {
		return fmt.Sprintf("%s-%d", canary, p.n)
	}
	return 4711_0000 + p.n
}

func sortedKeys(m map[string]any) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// inputs are folders with manifests of every vendor.
func inputs(t *testing.T) []string {
	t.Helper()
	out, err := filepath.Glob("../../testdata/vendors-demo/*")
	if err != nil || len(out) < 10 {
		t.Fatalf("%d folders: %v", len(out), err)
	}
	return append(out, "../../testdata/demo")
}

// documents are the objects of the YAML files of a folder.
func documents(t *testing.T, folder string) []map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return read(t, files...)
}

// read reads the objects of files.
func read(t *testing.T, files ...string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var o map[string]any
			if err := d.Decode(&o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if o != nil {
				out = append(out, o)
			}
		}
	}
	return out
}

// publish runs the command on objects and returns the reports as lines of JSON.
func publish(t *testing.T, objects []map[string]any, args ...string) string {
	t.Helper()
	out, code, told := tryPublish(t, objects, args...)
	if code != cli.ExitAnswered {
		t.Fatalf("exit %d: %s", code, told)
	}
	return out
}

// tryPublish is publish, with the exit code and what is written to people.
func tryPublish(t *testing.T, objects []map[string]any, args ...string) (reports string, exit int, problems string) {
	t.Helper()
	var in, out, told bytes.Buffer
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		in.WriteString("---\n")
		in.Write(text)
	}
	app := cli.App{Plugins: plugins.All()}
	code := app.Run(t.Context(), append([]string{"publish", "-f", "-", "--to", "stdout", "-o", "ndjson", "--config",
		"none"}, args...),
		cli.Streams{In: &in, Out: &out, Err: &told, LookupEnv: func(string) (string, bool) { return "", false }})
	return out.String(), code, told.String()
}

// TestCanaries replaces the values in all policies, their annotations and what they refer to: none
// is in a published report, whether the policies are in force with them or refused for them.
func TestCanaries(t *testing.T) {
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	policies, planted := 0, 0
	for _, folder := range inputs(t) {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			for turn := -1; turn < shares; turn++ {
				p := &planter{turn: turn}
				objects := documents(t, folder)
				for _, o := range objects {
					p.object(catalog, o)
				}
				planted += p.planted
				text := publish(t, objects)
				silent(t, text)
				policies += strings.Count(text, `"category":"policy"`) - strings.Count(text, `"state":"none"`)
			}
		})
	}
	if planted < 500 || policies < 300 {
		t.Errorf("%d values were replaced, and %d policies are reported", planted, policies)
	}
}

// silent sees to it that no canary sings.
func silent(t *testing.T, text string) {
	t.Helper()
	for _, sign := range []string{canary, "47110", "4.7110"} {
		if at := strings.Index(text, sign); at >= 0 {
			t.Errorf("a value is published: …%s…", text[max(0, at-200):min(len(text), at+80)])
			return
		}
	}
}

// TestValues: of the kinds whose values may be asked for, numbers are published and text is not; of
// others nothing is.
func TestValues(t *testing.T) {
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	objects := documents(t, "../../testdata/demo")
	plain := publish(t, objects, "--values", "ratelimitpolicy")
	if strings.Count(plain, `"values"`) < 5 || !strings.Contains(plain, `\"limit\":`) {
		t.Errorf("no values in %s", plain)
	}
	p := &planter{turn: 1}
	for _, o := range objects {
		p.object(catalog, o)
	}
	if text := publish(t, objects, "--values", "ratelimitpolicy"); strings.Contains(text, canary) {
		t.Error("text of a policy is published")
	}
	for _, kind := range []string{"authpolicy", "timeoutpolicy"} {
		if _, code, told := tryPublish(t, documents(t, "../../testdata/demo"), "--values",
			kind); code != cli.ExitUsage || !strings.Contains(told, "may hold credentials") {
			t.Errorf("--values %s: exit %d, %s", kind, code, told)
		}
	}
}

// TestCanariesOfVectors does the same with the inputs of the vectors, which have most fields of
// most kinds.
func TestCanariesOfVectors(t *testing.T) {
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/vendors/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	planted, policies := 0, 0
	for i, file := range files {
		all := read(t, file)
		vector := all[0]
		if vector["kind"] != "Vector" {
			continue
		}
		objects := all[1:]
		if base, ok := vector["base"].(string); ok {
			objects = append(objects, read(t, filepath.Join(filepath.Dir(file), base))...)
		}
		var args []string
		settings, _ := vector["settings"].(map[string]any)
		for _, name := range sortedKeys(settings) {
			args = append(args, "--vendor-setting", fmt.Sprintf("%s=%v", name, settings[name]))
		}
		p := &planter{turn: i%(shares+1) - 1}
		for _, o := range objects {
			p.object(catalog, o)
		}
		text, code, _ := tryPublish(t, objects, args...)
		if code != cli.ExitAnswered {
			continue
		}
		planted += p.planted
		policies += strings.Count(text, `"category":"policy"`)
		if silent(t, text); t.Failed() {
			t.Fatalf("of %s", file)
		}
	}
	if planted < 1000 || policies < 1000 {
		t.Errorf("%d values were replaced, and %d policies are reported", planted, policies)
	}
}

// object plants canaries in an object: in all of a policy, in the data of others, and in
// annotations.
func (p *planter) object(catalog *descriptor.Catalog, o map[string]any) {
	version, _ := o["apiVersion"].(string)
	kind, _ := o["kind"].(string)
	group, _, found := strings.Cut(version, "/")
	if !found {
		group = ""
	}
	if metadata, ok := o["metadata"].(map[string]any); ok {
		metadata["annotations"] = map[string]any{"example.com/note": canary}
		if p.turn >= 0 {
			metadata["resourceVersion"] = "1" // no server takes the values
		}
	}
	if catalog.Kind(model.GroupKind{Group: group, Kind: kind}) != nil || strings.HasSuffix(kind, "Policy") {
		for _, key := range sortedKeys(o) {
			if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, key) {
				o[key] = p.plant(o[key], key)
			}
		}
	}
	for _, key := range []string{"data", "stringData", "status"} {
		if o[key] != nil {
			o[key] = p.plant(o[key], key)
		}
	}
}

func routesOf(objects []map[string]any) []map[string]any {
	return slices.DeleteFunc(objects, func(o map[string]any) bool {
		kind, _ := o["kind"].(string)
		version, _ := o["apiVersion"].(string)
		return !strings.HasSuffix(kind, "Route") || !strings.HasPrefix(version, "gateway.networking.k8s.io/")
	})
}

// TestOwnNamespace: what is published in a namespace names no route of another one.
func TestOwnNamespace(t *testing.T) {
	checked := 0
	for _, folder := range inputs(t) {
		objects := documents(t, folder)
		routes := map[string]string{} // by name, where no other object has it
		for _, o := range routesOf(documents(t, folder)) {
			metadata := o["metadata"].(map[string]any)
			namespace, _ := metadata["namespace"].(string)
			routes[metadata["name"].(string)] = namespace
		}
		for _, o := range objects {
			metadata, _ := o["metadata"].(map[string]any)
			name, _ := metadata["name"].(string)
			namespace, _ := metadata["namespace"].(string)
			if kind, _ := o["kind"].(string); !strings.HasSuffix(kind, "Route") || routes[name] != namespace {
				delete(routes, name)
			}
		}
		for line := range strings.Lines(publish(t, objects)) {
			var report struct{ Metadata struct{ Namespace string } }
			if err := json.Unmarshal([]byte(line), &report); err != nil {
				t.Fatal(err)
			}
			for name, namespace := range routes {
				if namespace == report.Metadata.Namespace {
					continue
				}
				checked++
				if strings.Contains(line, "/"+name+`"`) || strings.Contains(line, "/"+name+" ") ||
					strings.Contains(line, `"`+name+`"`) {
					t.Errorf("%s: the report of namespace %s names %s/%s:\n%s", folder, report.Metadata.Namespace,
						namespace, name, line)
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no input has routes in several namespaces")
	}
}
