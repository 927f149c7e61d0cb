package findingtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// inputs are what the formats are tried on: findings with and without an object, a file and a line,
// and an input with nothing to find.
func inputs(t *testing.T) []string {
	t.Helper()
	out, err := filepath.Glob("../../testdata/vendors-demo/*")
	if err != nil || len(out) == 0 {
		t.Fatal("no inputs", err)
	}
	for _, id := range []string{"DuplicateObject", "Forbidden", "GenericKind", "InvalidYAML", "LimitExceeded",
		"NotKubernetes", "UnsetUnknown"} {
		out = append(out, filepath.Join(folder, id, "fails.yaml"))
	}
	return append(out, "../../testdata/demo", "testdata/clean.yaml", "testdata/hostile.yaml",
		"testdata/suppressed.yaml")
}

// TestSARIF holds reports against the JSON Schema of SARIF, and what the schema cannot say: that
// rules are where results say they are, and that fingerprints tell results apart.
func TestSARIF(t *testing.T) {
	schema := schemaOf(t, "../../testdata/schemas/sarif-2.1.0.json")
	for _, input := range inputs(t) {
		text := report(t, input, "sarif")
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", input, err)
		}
		var log struct {
			Runs []struct {
				Tool struct {
					Driver struct{ Rules []struct{ ID string } }
				}
				Results []struct {
					RuleID              string
					RuleIndex           int
					PartialFingerprints map[string]string
				}
			}
		}
		if err := json.Unmarshal(text, &log); err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, r := range log.Runs[0].Results {
			if rules := log.Runs[0].Tool.Driver.Rules; rules[r.RuleIndex].ID != r.RuleID {
				t.Errorf("%s: %s is said to be rule %d, which is %s", input, r.RuleID, r.RuleIndex,
					rules[r.RuleIndex].ID)
			}
			print := r.PartialFingerprints["dopolicy/v1"]
			if seen[print] {
				t.Errorf("%s: two results with the fingerprint %s", input, print)
			}
			seen[print] = true
		}
	}
}

// TestFingerprintsStay: lines and files may move.
func TestFingerprintsStay(t *testing.T) {
	text, err := os.ReadFile("../../testdata/demo/infra-limits.yaml")
	if err != nil {
		t.Fatal(err)
	}
	prints := func(name, text string) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out []string
		for line := range strings.Lines(string(report(t, file, "sarif"))) {
			if strings.Contains(line, `"dopolicy/v1"`) {
				out = append(out, line)
			}
		}
		return strings.Join(out, "")
	}
	if a, b := prints("a.yaml", string(text)), prints("b.yaml", "# one\n# two\n"+string(text)); a != b || a == "" {
		t.Errorf("%s and not %s", b, a)
	}
}

// TestJUnit holds reports against the XSD of JUnit's XML, with xmllint as well where it is
// installed.
func TestJUnit(t *testing.T) {
	reports := map[string][]byte{}
	for _, input := range inputs(t) {
		reports[input] = report(t, input, "junit")
	}
	for _, input := range []string{"../../testdata/requirements", "testdata/tests.yaml"} {
		reports[input] = answer(t, "check", "test", input, "-o", "junit")
	}
	const file = "../../testdata/schemas/junit.xsd"
	x := newXSD(t, file)
	lint, _ := exec.LookPath("xmllint")
	for input, text := range reports {
		root := parseXML(t, text)
		for _, wrong := range x.validate(root) {
			t.Errorf("%s: %s", input, wrong)
		}
		if root.attrs["tests"] == "0" {
			t.Errorf("%s: no test case", input)
		}
		if lint == "" {
			continue
		}
		cmd := exec.Command(lint, "--nonet", "--noout", "--schema", file, "-")
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %s", input, out)
		}
	}
}

// TestGitHub: every line but the last is one workflow command, whatever stands in names and values.
func TestGitHub(t *testing.T) {
	for _, input := range inputs(t) {
		lines := strings.Split(strings.TrimSuffix(string(report(t, input, "github")), "\n"), "\n")
		for i, line := range lines {
			command := strings.HasPrefix(line, "::error ") || strings.HasPrefix(line, "::warning ") ||
				strings.HasPrefix(line, "::notice ")
			if command == (i == len(lines)-1) {
				t.Errorf("%s: line %d is %s", input, i, line)
			}
		}
	}
}

func schemaOf(t *testing.T, file string) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
