// Package schematest holds what the program says of manifests with one mistake each, below
// testdata/mistakes, against what their heads expect. It has tests only.
package schematest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const (
	folder = "../../testdata/mistakes"
	mark   = " # <-" // behind the mistake, in front of what should be there
	added  = "# -> " // in front of a line that is missing
	object = "mistaken"
)

// mistake is one file.
type mistake struct {
	file     string
	text     string
	expected map[string]string // what the head says
}

// TestMistakes: each mistake is found where it is, with a proposal; the object is nowhere, and it
// is there when the mistake is mended.
func TestMistakes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == "base.yaml" })
	for _, file := range files {
		name, _ := filepath.Rel(folder, file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			t.Parallel()
			m := readMistake(t, file)
			m.checkFindings(t)
			m.checkViews(t)
		})
	}
	if len(files) < 65 {
		t.Errorf("only %d mistakes", len(files))
	}
}

// TestEveryVendor: each vendor whose schemas come with the program has mistakes of its kinds.
func TestEveryVendor(t *testing.T) {
	vendors, err := filepath.Glob("../../plugins/*/schemas/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, vendor := range vendors {
		name := filepath.Base(vendor)
		if strings.HasSuffix(name, ".yaml") { // what the catalogue is made from
			continue
		}
		files, _ := filepath.Glob(filepath.Join(folder, name, "*.yaml"))
		if len(files) < 5 {
			t.Errorf("%s has %d files", name, len(files))
		}
	}
}

func readMistake(t *testing.T, file string) mistake {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := mistake{file, string(text), map[string]string{}}
	for line := range strings.Lines(m.text) {
		key, value, found := strings.Cut(strings.TrimPrefix(line, "# "), ": ")
		if !found || !strings.HasPrefix(line, "# ") {
			break
		}
		m.expected[key] = strings.TrimSpace(value)
	}
	for key := range m.expected {
		if !slices.Contains([]string{"found", "says", "proposes", "request", "seen", "unseen"}, key) {
			t.Errorf("the head has %s", key)
		}
	}
	return m
}

// line is where the mistake is, counted from 1.
func (m mistake) line(t *testing.T) int {
	t.Helper()
	before, _, found := strings.Cut(m.text, mark)
	if !found {
		t.Fatal("no line is marked")
	}
	return strings.Count(before, "\n") + 1
}

// mended is the file without the mistake.
func (m mistake) mended() string {
	var out strings.Builder
	for line := range strings.Lines(m.text) {
		content := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(content)]
		if _, right, found := strings.Cut(line, mark); found {
			if content = strings.TrimLeft(right, " "); content == "\n" {
				continue
			}
		}
		out.WriteString(indent + strings.TrimPrefix(content, added))
	}
	return out.String()
}

// hasProposal reports whether a hint proposes something.
func hasProposal(hint string) bool {
	return strings.Contains(hint, "did you mean") || strings.Contains(hint, "its place is")
}

func (m mistake) checkFindings(t *testing.T) {
	t.Helper()
	found := m.findings(t, m.file, "")
	line := m.line(t)
	at := slices.IndexFunc(found, func(f check.Finding) bool {
		return f.ID == m.expected["found"] && strings.HasPrefix(f.Message, m.expected["says"])
	})
	if at < 0 {
		t.Errorf("not found: %s: %s; found is %s", m.expected["found"], m.expected["says"], format(found))
	} else {
		f := found[at]
		if f.Origin == nil || f.Origin.File != m.file || f.Origin.Line != line {
			t.Errorf("%s is found at %v, not at line %d", f.Message, f.Origin, line)
		}
		if !strings.Contains(f.Hint, m.expected["proposes"]) || m.expected["proposes"] == "" && hasProposal(f.Hint) {
			t.Errorf("%s has the hint %q, which does not say %q", f.Message, f.Hint, m.expected["proposes"])
		}
	}
	if found := m.findings(t, "-", m.mended()); len(found) > 0 {
		t.Errorf("mended, it has %s", format(found))
	}
}

// findings are those of schemas, and all others about the object.
func (m mistake) findings(t *testing.T, file, in string) []check.Finding {
	t.Helper()
	var out check.Report
	if err := json.Unmarshal(m.answer(t, file, in, "check", "-o", "json", "--config", "none"), &out); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(out.Items, func(f check.Finding) bool {
		return f.Severity == "info" || f.Origin == nil || f.Origin.File != file
	})
}

// checkViews asks what is in force: nothing of the object, until it is mended.
func (m mistake) checkViews(t *testing.T) {
	t.Helper()
	questions := [][]string{{"effective", "-A"}, {"matrix", "-A"}, {"status", "-A"}}
	if url := m.expected["request"]; url != "" {
		questions = append(questions, append([]string{"request"}, strings.Fields(url)...))
	}
	seen := m.expected["seen"]
	if seen == "" {
		seen = object
	}
	shown := false
	for _, question := range questions {
		if view := m.view(t, m.file, "", question); strings.Contains(view, seen) {
			t.Errorf("%s has %q: %s", question[0], seen, view)
		}
		if !shown || question[0] == "request" {
			shown = strings.Contains(m.view(t, "-", m.mended(), question), seen)
		}
	}
	if shown == (m.expected["unseen"] != "") {
		t.Errorf("mended, it is %t that there is %q, and the head says %q", shown, seen, m.expected["unseen"])
	}
}

// view is what a command answers, without the problems.
func (m mistake) view(t *testing.T, file, in string, question []string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(m.answer(t, file, in, append(question, "-o", "json")...), &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "problems")
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answer is what a command writes.
func (m mistake) answer(t *testing.T, file, in string, args ...string) []byte {
	t.Helper()
	args = append(args, "-f", filepath.Join(filepath.Dir(m.file), "base.yaml"), "-f", file)
	var out, errs bytes.Buffer
	code := (cli.App{Plugins: plugins.All()}).Run(context.Background(), args, cli.Streams{In: strings.NewReader(in),
		Out: &out, Err: &errs, LookupEnv: func(string) (string, bool) { return "", false }})
	if out.Len() == 0 {
		t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), code, errs.String())
	}
	return out.Bytes()
}

func format(found []check.Finding) string {
	var out []string
	for _, f := range found {
		out = append(out, f.ID+": "+f.Message)
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, "; ")
}

// TestProtocolIsFree: an API server takes any word as the protocol of a listener, so that only the
// predicted status tells of a typing error.
func TestProtocolIsFree(t *testing.T) {
	file := filepath.Join(folder, "gatewayapi", "listener-protocol.yaml")
	m := readMistake(t, file)
	typo := strings.Replace(m.mended(), "protocol: HTTP", "protocol: HTPP", 1)
	if found := m.findings(t, "-", typo); len(found) > 0 {
		t.Errorf("found is %s", format(found))
	}
	if view := m.view(t, "-", typo, []string{"status", "-A"}); !strings.Contains(view, "UnsupportedProtocol") {
		t.Errorf("status is %s", view)
	}
}
