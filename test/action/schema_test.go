package action

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// readSchema gets the package that has the schemas of both hosts, and compiles one of them.
func readSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "dopolicy-test-action")
	wheels := func() []string {
		found, _ := filepath.Glob(filepath.Join(folder, "check_jsonschema-0.39.0-*.whl"))
		return found
	}
	if len(wheels()) == 0 {
		out, err := exec.Command("python3", "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes",
			"--requirement", "requirements.txt", "--dest", folder).CombinedOutput()
		if err != nil {
			t.Fatalf("getting the schemas with python3 -m pip: %v\n%s", err, out)
		}
	}
	archive, err := zip.OpenReader(wheels()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	file, err := archive.Open("check_jsonschema/builtin_schemas/vendor/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	schema, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// validate holds each document of a YAML text against a schema.
func validate(t *testing.T, schema *jsonschema.Schema, text string) error {
	t.Helper()
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			return err
		}
	}
}

func TestActionSchema(t *testing.T) {
	schema, text := readSchema(t, "github-actions.json"), readFile(t, root+"/action.yml")
	if err := validate(t, schema, text); err != nil {
		t.Error(err)
	}
	if validate(t, schema, strings.Replace(text, "using: composite", "using: scripts", 1)) == nil {
		t.Error("the schema takes everything")
	}
}

func TestTemplateSchema(t *testing.T) {
	schema, text := readSchema(t, "gitlab-ci.json"), readFile(t, root+"/templates/dopolicy.yml")
	if err := validate(t, schema, text); err != nil {
		t.Error(err)
	}
	for _, mistake := range [][2]string{{"    reports:", "    report:"},
		{"      default: warning\n", "      default: [warning]\n"}, {"expand: false", "expanded: false"}} {
		if wrong := strings.Replace(text, mistake[0], mistake[1], 1); wrong == text || validate(t, schema, wrong) == nil {
			t.Errorf("the schema takes %q", mistake[1])
		}
	}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(# \\.gitlab-ci\\.yml\n.*?)```").FindAllStringSubmatch(
		readFile(t, root+"/docs/ci.md"), -1) {
		if err := validate(t, schema, m[1]); err != nil {
			t.Errorf("%v in %s", err, m[1])
		}
	}
}

// TestTemplateScripts lints the lines of the component's job as one script, as they are run.
func TestTemplateScripts(t *testing.T) {
	var script bytes.Buffer
	d := yaml.NewDecoder(strings.NewReader(readFile(t, root+"/templates/dopolicy.yml")))
	for range 2 {
		var jobs map[string]struct{ Script []string }
		if err := d.Decode(&jobs); err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs {
			script.WriteString(strings.Join(job.Script, "\n"))
		}
	}
	if !strings.Contains(script.String(), "install.sh") {
		t.Fatal("there is no script")
	}
	if said := lintScript(t, "#!/bin/bash\n"+script.String()); said != "" {
		t.Error(said)
	}
}
