// Package action checks the GitHub Action, the GitLab component and the workflows of this repository with linters.
package action

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"
)

const root = "../.."

// findShellCheck is the linter of shell scripts.
func findShellCheck(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Fatal("shellcheck is not on the PATH: install it (apt-get install shellcheck)")
	}
	return path
}

// lintScript is what shellcheck says about a script.
func lintScript(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.Command(findShellCheck(t), "--shell=bash", "--severity=style", "-")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob(root + "/action/*.sh")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		if said := lintScript(t, readFile(t, file)); said != "" {
			t.Errorf("%s: %s", file, said)
		}
	}
	if said := lintScript(t, "#!/bin/bash\ncd $1\n"); !strings.Contains(said, "SC2086") {
		t.Errorf("shellcheck finds nothing: %s", said)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lintWorkflow is what actionlint says about a workflow, with shellcheck for its scripts and the Action for what it is
// given.
func lintWorkflow(t *testing.T, name, text string) string {
	t.Helper()
	var said bytes.Buffer
	linter, err := actionlint.NewLinter(&said, &actionlint.LinterOptions{Shellcheck: findShellCheck(t),
		LogWriter: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := linter.Lint(name, []byte(text), project); err != nil {
		t.Fatal(err)
	}
	return said.String()
}

func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob(root + "/.github/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		if said := lintWorkflow(t, file, readFile(t, file)); said != "" {
			t.Error(said)
		}
	}
}

// TestPage: the workflows of docs/ci.md are right, and give the Action no input that it does not have.
func TestPage(t *testing.T) {
	page := readFile(t, root+"/docs/ci.md")
	local := regexp.MustCompile(`uses: dopolicy/kubectl-dopolicy@[0-9a-f]{40}`)
	found, uses := 0, 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n(# \\.github/workflows.*?)```").FindAllStringSubmatch(page, -1) {
		found++
		text := m[1]
		if !local.MatchString(text) {
			if said := lintWorkflow(t, "ci.yaml", text); said != "" {
				t.Error(said)
			}
			continue
		}
		uses++
		text = local.ReplaceAllString(text, "uses: ./")
		if said := lintWorkflow(t, "ci.yaml", text); said != "" {
			t.Error(said)
		}
		wrong := strings.Replace(text, "path: manifests", "folder: manifests", 1)
		const want = `input "folder" is not defined in action "kubectl dopolicy"`
		if said := lintWorkflow(t, "ci.yaml", wrong); !strings.Contains(said, want) {
			t.Errorf("an input that does not exist is not found: %s", said)
		}
	}
	if found != 2 || uses != 1 {
		t.Errorf("%d workflows, %d with the Action", found, uses)
	}
}

// TestSteps makes a workflow of the steps of the Action, as actionlint checks no steps of actions: its expressions name
// inputs and outputs that exist.
func TestSteps(t *testing.T) {
	text := makeWorkflow(t)
	if said := lintWorkflow(t, "steps.yaml", text); said != "" {
		t.Error(said)
	}
	wrong := strings.Replace(text, "${{ inputs.path }}", "${{ inputs.folder }}", 1)
	if said := lintWorkflow(t, "steps.yaml", wrong); !strings.Contains(said, `property "folder" is not defined`) {
		t.Errorf("an input that does not exist is not found: %s", said)
	}
}

func makeWorkflow(t *testing.T) string {
	t.Helper()
	var of struct {
		Inputs map[string]any
		Runs   struct{ Steps []yaml.Node }
	}
	if err := yaml.Unmarshal([]byte(readFile(t, root+"/action.yml")), &of); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]any{}
	for name := range of.Inputs {
		inputs[name] = map[string]any{"type": "string"}
	}
	out, err := yaml.Marshal(map[string]any{"on": map[string]any{"workflow_call": map[string]any{"inputs": inputs}},
		"jobs": map[string]any{"steps": map[string]any{"runs-on": "ubuntu-latest", "steps": of.Runs.Steps}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestCommentsFilter runs the filter by which the Action finds its comment, with the code that gh uses.
func TestCommentsFilter(t *testing.T) {
	text := regexp.MustCompile(`(?s)--jq '(.*?)'`).FindStringSubmatch(readFile(t, root+"/action/comment.sh"))
	if text == nil {
		t.Fatal("there is no filter")
	}
	query, err := gojq.Parse(text[1])
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- dopolicy policies -->"
	code, err := gojq.Compile(query, gojq.WithEnvironLoader(func() []string { return []string{"MARK=" + mark} }))
	if err != nil {
		t.Fatal(err)
	}
	comment := func(id int, kind, body string) any {
		return map[string]any{"id": id, "body": body, "user": map[string]any{"type": kind}}
	}
	var got []string
	for all := code.Run([]any{comment(1, "User", "x\n"+mark+"\n"), comment(2, "Bot", "x\n"+mark+"\nmore"),
		comment(3, "Bot", "x\n<!-- dopolicy other -->\n"), comment(4, "Bot", "x\n\n"+mark+"\n"),
		comment(5, "Bot", "y\n\n"+mark)}); ; {
		v, more := all.Next()
		if !more {
			break
		}
		got = append(got, fmt.Sprint(v))
	}
	if strings.Join(got, " ") != "4 5" {
		t.Errorf("it finds %v", got)
	}
}
