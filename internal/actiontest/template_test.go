package actiontest

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const templateFile = "../../templates/dopolicy.yml"

// TestTemplateHasScripts: the component has the scripts of action/, which UPDATE_GOLDEN=1 puts there.
func TestTemplateHasScripts(t *testing.T) {
	old, err := os.ReadFile(templateFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(old)
	for name, end := range map[string]string{"install": "END_OF_INSTALL", "check": "END_OF_CHECK"} {
		script, err := os.ReadFile("../../action/" + name + ".sh")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(script), end) || strings.Contains(string(script), "$[[") {
			t.Fatalf("%s.sh cannot be in a template", name)
		}
		var indented strings.Builder
		for line := range strings.Lines(string(script)) {
			if line != "\n" {
				line = "    " + line
			}
			indented.WriteString(line)
		}
		before, rest, begins := strings.Cut(text, "<<'"+end+"'\n")
		_, after, ends := strings.Cut(rest, "    "+end+"\n")
		if !begins || !ends {
			t.Fatalf("there is no place for %s.sh", name)
		}
		text = before + "<<'" + end + "'\n" + indented.String() + "    " + end + "\n" + after
	}
	if text == string(old) {
		return
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		t.Fatal("the scripts of templates/dopolicy.yml are not those of action/: " +
			"UPDATE_GOLDEN=1 go test ./internal/actiontest")
	}
	if err := os.WriteFile(templateFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// component is the template: its inputs, and the one job of it.
type component struct {
	inputs map[string]struct {
		Default any
		Options []string
	}
	body string
}

func readComponent(t *testing.T) component {
	t.Helper()
	text, err := os.ReadFile(templateFile)
	if err != nil {
		t.Fatal(err)
	}
	head, body, two := strings.Cut(string(text), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]struct {
				Default any
				Options []string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(head), &spec); err != nil || !two {
		t.Fatal(err)
	}
	return component{spec.Spec.Inputs, body}
}

var input = regexp.MustCompile(`\$\[\[ inputs\.([a-z0-9-]+) \]\]`)

// gitlabJob is a job of a pipeline.
type gitlabJob struct {
	Script    []string
	Variables map[string]any
	Rules     []struct{ If string }
	Artifacts struct {
		Paths   []string
		Reports struct{ JUnit string }
	}
}

// include makes the job that a pipeline gets with some inputs.
func (c component) include(t *testing.T, inputs map[string]string) (string, gitlabJob) {
	t.Helper()
	var jobs map[string]gitlabJob
	if err := yaml.Unmarshal([]byte(c.body), &jobs); err != nil {
		t.Fatal(err)
	}
	replace := func(text string) string {
		return input.ReplaceAllStringFunc(text, func(s string) string {
			name := input.FindStringSubmatch(s)[1]
			value, set := inputs[name]
			known, is := c.inputs[name]
			if !is {
				t.Fatalf("there is no input %s", name)
			}
			if !set {
				value = fmt.Sprint(known.Default)
			}
			return value
		})
	}
	for name, job := range jobs {
		for key, v := range job.Variables {
			if m, ok := v.(map[string]any); ok {
				if m["expand"] != false {
					t.Errorf("%s is expanded", key)
				}
				v = m["value"]
			}
			job.Variables[key] = replace(v.(string))
		}
		for i, line := range job.Script {
			if replace(line) != line {
				t.Errorf("an input is part of the text of a script: %s", job.Script[i])
			}
		}
		return replace(name), job
	}
	t.Fatal("no job")
	return "", gitlabJob{}
}

// TestComponent runs the job on a merge request, with the program in place of a download, and on one of a fork.
func TestComponent(t *testing.T) {
	c := readComponent(t)
	archive := packProgram(t)
	for _, test := range []struct {
		name         string
		base, change map[string]string
		inputs       map[string]string
		fork         bool
		exit         int
		first, log   string
	}{
		{name: "a login is removed", base: shop(), change: map[string]string{"manifests/login.yaml": ""}, exit: 1,
			first: "**1 route rule loses authentication."},
		{name: "the same in a fork, whose own main has the change", base: shop(), fork: true, exit: 1,
			change: map[string]string{"manifests/login.yaml": ""}, first: "**1 route rule loses authentication."},
		{name: "a harmless change", base: shop(), change: map[string]string{"README": "x"}, first: "**Nothing changes"},
		{name: "a mistake that its own config ignores", base: shop(), change: map[string]string{
			"manifests/route.yaml": shadowed, ".dopolicy.yaml": "failOn: none\n"}, exit: 1, first: "**", log: "RuleShadowed"},
		{name: "arguments", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"arguments": "--policy-kinds {base}/none.yaml"}, exit: 3, log: "/base/none.yaml"},
		{name: "commands in inputs", base: shop(), change: map[string]string{"README": "x"}, inputs: map[string]string{
			"arguments": "$(touch${IFS}pwned)", "path": "manifests"}, exit: 3, log: "$(touch${IFS}pwned)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			repo := newRepository(t, test.base, test.change)
			target := t.TempDir()
			env := []string{"CI_PROJECT_ID=1", "CI_MERGE_REQUEST_PROJECT_ID=1", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main"}
			runGit(t, repo, "clone", "-q", "--bare", repo, target+"/shop.git")
			if test.fork {
				env = append(env, "CI_MERGE_REQUEST_PROJECT_ID=2", "CI_MERGE_REQUEST_PROJECT_URL="+target+"/shop")
				runGit(t, repo, "branch", "-f", "main", "HEAD") // what a fork calls main says nothing
				runGit(t, repo, "remote", "add", "origin", repo)
			} else {
				runGit(t, repo, "remote", "add", "origin", target+"/shop.git")
			}
			inputs := map[string]string{"sha256": strings.Repeat("0", 64), "path": "manifests"}
			maps.Copy(inputs, test.inputs)
			name, job := c.include(t, inputs)
			if name != "policies" {
				t.Errorf("the job is called %s", name)
			}
			for key, value := range job.Variables {
				env = append(env, key+"="+value.(string))
			}
			code, log := runGitLabScript(t, repo, job.Script, env, archive)
			comment, _ := os.ReadFile(filepath.Join(repo, job.Artifacts.Paths[0]))
			first, _, _ := strings.Cut(string(comment), "\n")
			if code != test.exit || !strings.HasPrefix(first, test.first) || !strings.Contains(log, test.log) {
				t.Errorf("exit %d, first line %q\n%s", code, first, log)
			}
			if test.first != "" {
				for _, file := range append(job.Artifacts.Paths, job.Artifacts.Reports.JUnit) {
					if text, err := os.ReadFile(filepath.Join(repo, file)); err != nil || len(text) == 0 {
						t.Errorf("%s is not written: %v", file, err)
					}
				}
			}
			if _, err := os.Stat(filepath.Join(repo, "pwned")); err == nil {
				t.Error("an input is run")
			}
		})
	}
}

// runGitLabScript runs the lines of a script in one shell, as a runner of GitLab does. The download is of an archive
// whose checksum is not asked for, and whose program is not the one of this test: that is first on the PATH.
func runGitLabScript(t *testing.T, repo string, script, env []string, archive []byte) (int, string) {
	t.Helper()
	temp := t.TempDir()
	if err := os.WriteFile(temp+"/archive", archive, 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("kubectl-dopolicy")
	if err != nil {
		t.Fatal(err)
	}
	programs := writePrograms(t, map[string]string{
		"uname":     `case $1 in -s) echo Linux ;; *) echo x86_64 ;; esac`,
		"curl":      `while [ $# -gt 0 ]; do [ "$1" = --output ] && cp ` + temp + `/archive "$2"; shift; done; exit 0`,
		"sha256sum": `echo ` + strings.Repeat("0", 64) + ` "$1"`,
		"tar":       `ln -sf ` + program + ` "$4/kubectl-dopolicy"`,
	})
	cmd := exec.Command("bash", "-eo", "pipefail", "-c", strings.Join(script, "\n"))
	cmd.Dir = repo
	cmd.Env = append(append(environment(), "CI_PROJECT_DIR="+repo, "TMPDIR="+temp,
		"PATH="+programs+string(filepath.ListSeparator)+os.Getenv("PATH")), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// TestPinned: actions are pinned by commit, images by digest, the program by the release that is the same everywhere;
// no expression is part of a script, and the inputs of the Action and of the component that do the same are called the
// same and have the same defaults.
func TestPinned(t *testing.T) {
	a, c := readAction(t), readComponent(t)
	for _, s := range a.Runs.Steps {
		if s.Uses != "" && !regexp.MustCompile(`^[a-z-]+/[a-z-]+(/[a-z-]+)?@[0-9a-f]{40}$`).MatchString(s.Uses) {
			t.Errorf("%s is not pinned", s.Uses)
		}
		if strings.Contains(s.Run, "${{") || s.Run != "" && !regexp.MustCompile(
			`^bash "\$GITHUB_ACTION_PATH/action/[a-z]+\.sh"$`).MatchString(s.Run) {
			t.Errorf("the step runs %s", s.Run)
		}
	}
	if image := fmt.Sprint(c.inputs["image"].Default); !regexp.MustCompile(`@sha256:[0-9a-f]{64}$`).MatchString(image) {
		t.Errorf("%s is not pinned", image)
	}
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	only := []string{"job", "stage", "image"}
	for _, name := range slices.Sorted(maps.Keys(c.inputs)) {
		mine, known := a.Inputs[name]
		if !known && !slices.Contains(only, name) {
			t.Errorf("only the component has the input %s", name)
		}
		if d := c.inputs[name].Default; known && d != nil && fmt.Sprint(d) != mine.Default {
			t.Errorf("the default of %s is %v in the component, and %s in the Action", name, d, mine.Default)
		}
		if !strings.Contains(c.body, "$[[ inputs."+name+" ]]") {
			t.Errorf("nothing uses the input %s of the component", name)
		}
	}
	for name, i := range a.Inputs {
		if !strings.Contains(string(text), "inputs."+name+" ") {
			t.Errorf("nothing uses the input %s", name)
		}
		if i.Description == "" {
			t.Errorf("the input %s has no description", name)
		}
	}
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| input | default |")
	for name, i := range a.Inputs {
		row := regexp.MustCompile("(?m)^\\| `" + name + "` \\| (.*?) \\|").FindStringSubmatch(table)
		if row == nil || i.Default != "" && !strings.Contains(i.Default, " ") && name != "version" &&
			row[1] != "`"+i.Default+"`" {
			t.Errorf("docs/ci.md says of the input %s: %q", name, row)
		}
	}
	scripts, _ := filepath.Glob("../../action/*.sh")
	if len(scripts) != 3 {
		t.Errorf("the scripts are %v", scripts)
	}
	for _, file := range scripts {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "\nset -euo pipefail\n") ||
			strings.Contains(string(text), "eval ") {
			t.Errorf("%s goes on after errors, or evaluates texts (%v)", file, err)
		}
	}
}
