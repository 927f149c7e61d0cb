package canarytest

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// run is what a command line writes, first to stdout and then to stderr.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out, beside bytes.Buffer
	cli.App{Plugins: plugins.All()}.Run(context.Background(), args, cli.Streams{In: strings.NewReader(""),
		Out: &out, Err: &beside, LookupEnv: func(string) (string, bool) { return "", false }})
	return out.String() + beside.String()
}

// leaks looks for canaries.
func leaks(t *testing.T, of, text string) {
	t.Helper()
	for n := 0; n < 3; n++ {
		i := strings.Index(text, "zqcanary")
		if i < 0 {
			return
		}
		t.Errorf("%s has a value: …%s…", of, text[max(0, i-200):min(len(text), i+60)])
		text = text[i+8:]
	}
}

// documents are the objects of a file of test inputs, and the file that it is based on.
func documents(t *testing.T, file string) (objects []map[string]any, base string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for d := yaml.NewDecoder(f); ; {
		var doc map[string]any
		if err := d.Decode(&doc); err != nil {
			return objects, base
		}
		version, _ := doc["apiVersion"].(string)
		switch {
		case doc["kind"] == "Vector":
			if name, ok := doc["base"].(string); ok {
				base = filepath.Join(filepath.Dir(file), name)
			}
		case !strings.HasPrefix(version, "dopolicy.dev/") && doc["kind"] != nil:
			objects = append(objects, doc)
		}
	}
}

// each calls a test with the objects of every vector and every demo, planted.
func each(t *testing.T, see func(t *testing.T, objects []map[string]any)) {
	for _, root := range []string{"vendors", "vendors-demo", "demo"} {
		root = filepath.Join("../../testdata", root)
		err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(file) != ".yaml" {
				return err
			}
			objects, base := documents(t, file)
			if base != "" {
				more, _ := documents(t, base)
				objects = append(more, objects...)
			}
			if len(objects) > 0 {
				t.Run(strings.TrimPrefix(file, "../../testdata/"), func(t *testing.T) { see(t, objects) })
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// planted are objects with canaries. One input in four is what no server has stored, so that it is
// told what is wrong with it.
func planted(objects []map[string]any) []map[string]any {
	p := planter{stored: len(objects)%4 != 0}
	out := make([]map[string]any, len(objects))
	for i, o := range objects {
		out[i] = p.object(o)
	}
	return append(out, p.object(map[string]any{"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{"name": "hidden", "namespace": "default"},
		"data":     map[string]any{"key": "Y2FuYXJ5"}, "stringData": map[string]any{"key": "x"}}))
}

func written(t *testing.T, objects []map[string]any) string {
	t.Helper()
	var text bytes.Buffer
	for _, o := range objects {
		one, err := json.Marshal(o)
		if err != nil {
			t.Skip("not JSON") // a document that is broken on purpose
		}
		text.WriteString("---\n")
		text.Write(append(one, '\n'))
	}
	file := filepath.Join(t.TempDir(), "in.yaml")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestReports: no value of any field that a policy kind is tried with is in a redacted report, in
// either format, nor in what it says beside.
func TestReports(t *testing.T) {
	each(t, func(t *testing.T, objects []map[string]any) { reported(t, written(t, planted(objects))) })
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range catalog.Kinds() {
		if k.Virtual {
			continue
		}
		objects := []map[string]any{made(k), {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
			"metadata": map[string]any{"name": "gw", "namespace": "default"},
			"spec": map[string]any{"gatewayClassName": "c",
				"listeners": []any{map[string]any{"name": "web", "port": 80, "protocol": "HTTP"}}}}}
		t.Run(k.Name(), func(t *testing.T) { reported(t, written(t, planted(objects))) })
	}
}

// reported looks for canaries in both forms of the report.
func reported(t *testing.T, file string) {
	t.Helper()
	text := run(t, "report", "-A", "-f", file, "--redact", "-o", "json", "--config", "none", "-v")
	if !strings.Contains(text, `"kind": "Report"`) {
		t.Errorf("no report: %.500s", text)
	}
	leaks(t, "the report", text)
	if !sampled(t, 8) {
		return
	}
	leaks(t, "the page", run(t, "report", "-A", "-f", file, "--redact", "--no-picture", "--config", "none"))
}

// sampled picks one of so many tests, always the same ones.
func sampled(t *testing.T, of uint32) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))
	return h.Sum32()%of == 0
}
