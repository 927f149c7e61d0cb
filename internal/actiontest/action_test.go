// Package actiontest runs the steps of the GitHub Action and of the GitLab component on repositories
// with a pull request.
package actiontest

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestMain makes this binary the program that the scripts find on the PATH, in place of a download.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-dopolicy": func() {
		os.Exit(cli.App{Plugins: plugins.All(), Build: cli.Build{Version: "v9.9.9"}}.Run(context.Background(),
			os.Args[1:], cli.Terminal()))
	}})
}

// action is what action.yml says.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []step
	}
}

// step is one of its steps.
type step struct {
	Name, ID, Shell, Run, Uses, If string
	Env, With                      map[string]string
}

// readAction reads action.yml.
func readAction(t *testing.T) action {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var out action
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// job is a run of the Action in a repository.
type job struct {
	t      *testing.T
	repo   string            // its working directory
	temp   string            // the folder for temporary files
	inputs map[string]string // that are not the default
	number string            // of the pull request
	path   string            // folders before those of the PATH

	outputs map[string]string // of the step check
	summary string            // of the job
	log     string            // of all steps
	first   string            // the first line of the comment
	failed  int               // the exit code of the step that failed
	used    []string          // actions that a step uses, with what
}

// runAction runs the steps of the Action but the one that installs the program.
func runAction(t *testing.T, repo string, inputs map[string]string) *job {
	t.Helper()
	j := &job{t: t, repo: repo, temp: t.TempDir(), inputs: inputs, number: "7", outputs: map[string]string{},
		path: writePrograms(t, map[string]string{"gh": "exit 1"})}
	all := readAction(t)
	for name := range inputs {
		if _, known := all.Inputs[name]; !known {
			t.Fatalf("there is no input %s", name)
		}
	}
	for _, s := range all.Runs.Steps {
		if s.Name == "install kubectl-dopolicy" || !j.isTrue(all, s.If) {
			continue
		}
		if s.Uses != "" {
			j.used = append(j.used, s.Uses+" "+j.expand(all, s.With["sarif_file"]))
			continue
		}
		j.runStep(all, s)
	}
	if text, err := os.ReadFile(j.outputs["comment"]); err == nil {
		j.first, _, _ = strings.Cut(string(text), "\n")
	}
	return j
}

// runStep runs a step as a runner does.
func (j *job) runStep(all action, s step) {
	j.t.Helper()
	if s.Shell != "bash" {
		j.t.Fatalf("%s: the shell is %q", s.Name, s.Shell)
	}
	root := findRoot(j.t)
	output, summary := filepath.Join(j.temp, "output-"+s.ID), filepath.Join(j.temp, "summary")
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
	cmd.Dir = j.repo
	cmd.Env = append(environment(), "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+root, "GITHUB_OUTPUT="+output,
		"GITHUB_STEP_SUMMARY="+summary, "GITHUB_REPOSITORY=acme/shop", "TMPDIR="+j.temp,
		"PATH="+j.path+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		cmd.Env = append(cmd.Env, name+"="+j.expand(all, s.Env[name]))
	}
	text, err := cmd.CombinedOutput()
	j.log += string(text)
	if err != nil {
		j.failed = cmd.ProcessState.ExitCode()
	}
	written, _ := os.ReadFile(output)
	for line := range strings.Lines(string(written)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		j.outputs[name] = value
	}
	if written, err := os.ReadFile(summary); err == nil {
		j.summary = string(written)
	}
}

// environment is that of this test, without what a host of pipelines says about its own job.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GITHUB_") || strings.HasPrefix(v, "CI_") || strings.HasPrefix(v, "DOPOLICY_")
	})
}

// findRoot is the root of the project.
func findRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand replaces the expressions of a text.
func (j *job) expand(all action, text string) string {
	return expression.ReplaceAllStringFunc(text, func(s string) string {
		return j.evaluate(all, expression.FindStringSubmatch(s)[1])
	})
}

// evaluate knows the expressions of action.yml.
func (j *job) evaluate(all action, text string) string {
	input := func(name string) string {
		if value, set := j.inputs[name]; set {
			return value
		}
		return all.Inputs[name].Default
	}
	switch text {
	case "runner.temp":
		return j.temp
	case "inputs.base || github.base_ref && format('origin/{0}', github.base_ref) || ''":
		if base := input("base"); base != "" {
			return base
		}
		return "origin/main"
	case "inputs.comment == 'true' && github.event.pull_request.number || ''":
		if input("comment") == "true" {
			return j.number
		}
		return ""
	}
	if name, ok := strings.CutPrefix(text, "steps.check.outputs."); ok {
		return j.outputs[name]
	}
	name, ok := strings.CutPrefix(text, "inputs.")
	if _, known := all.Inputs[name]; !ok || !known {
		j.t.Fatalf("the expression %s is not known here", text)
	}
	return input(name)
}

// isTrue knows the conditions of action.yml: each of several has to hold, and no job is cancelled.
func (j *job) isTrue(all action, condition string) bool {
	if condition == "" {
		return true
	}
	inner := expression.FindStringSubmatch(condition)
	if inner == nil {
		j.t.Fatalf("the condition %s is not known here", condition)
	}
	for part := range strings.SplitSeq(inner[1], " && ") {
		left, right, equal := strings.Cut(part, " == ")
		if !equal {
			left, right, _ = strings.Cut(part, " != ")
		}
		if part != "!cancelled()" && (j.evaluate(all, left) == strings.Trim(right, "'")) != equal {
			return false
		}
	}
	return true
}

// newRepository makes a repository with a branch main, which is also that of origin, and a branch of a pull request
// with a commit more. A file that is empty in the change is removed.
func newRepository(t *testing.T, base, change map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	writeFiles(t, dir, base)
	git("add", "-A")
	git("commit", "-qm", "base")
	git("update-ref", "refs/remotes/origin/main", "HEAD")
	git("checkout", "-qb", "$(id>pwned)`id>pwned`;id>pwned")
	writeFiles(t, dir, change)
	git("add", "-A")
	git("commit", "-qm", "change")
	return dir
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(file, []byte(files[name]), 0o600)
		if files[name] == "" {
			err = os.Remove(file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// gitStatus is what differs from the commit.
func gitStatus(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("git", "status", "--porcelain", "--ignored")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	trees := exec.Command("git", "worktree", "list")
	trees.Dir = dir
	list, err := trees.Output()
	if err != nil || bytes.Count(list, []byte("\n")) != 1 {
		t.Errorf("a working tree is left: %s %v", list, err)
	}
	return string(out)
}
