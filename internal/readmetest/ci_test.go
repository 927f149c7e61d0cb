package readmetest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
	"sigs.k8s.io/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestCI reads the YAML of docs/ci.md and runs the command lines in it on the demo, which stands
// for manifests/ here and on the branch that a pull request goes to.
func TestCI(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.CopyFS(filepath.Join(dir, "manifests"), os.DirFS("../../testdata/demo")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, base := range []string{"runner/base", "../base"} { // the config of the base branch is empty
		if err := os.MkdirAll(base, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(base, ".dopolicy.yaml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commitBase(t)
	ran := 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
		var doc any
		if err := yaml.UnmarshalStrict([]byte(m[1]), &doc); err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		if strings.HasPrefix(m[1], "# .dopolicy.yaml") {
			if _, err := check.ParseConfig(".dopolicy.yaml", []byte(m[1]),
				check.NewCatalogue(plugin.FindingRules(plugins.All()))); err != nil {
				t.Error(err)
			}
		}
		for _, script := range scripts(doc) {
			for line := range strings.Lines(script) {
				if line = strings.TrimSpace(line); strings.HasPrefix(line, "kubectl-dopolicy ") {
					ran++
					runLine(t, line)
				}
			}
		}
	}
	if ran < 4 {
		t.Errorf("only %d command lines found", ran)
	}
	var hook []struct {
		ID, Entry, Language string
		Args                []string
		PassFilenames       *bool `json:"pass_filenames"`
	}
	if err := yaml.Unmarshal(hooks, &hook); err != nil || len(hook) != 1 || hook[0].PassFilenames == nil ||
		*hook[0].PassFilenames {
		t.Fatalf("%v %v", hook, err)
	}
	if !strings.Contains(string(text), "id: "+hook[0].ID+"\n    args: [--config, none, manifests/]") {
		t.Errorf("the page does not use the hook %s", hook[0].ID)
	}
	runLine(t, hook[0].Entry+" --config none manifests/")
	runLine(t, hook[0].Entry+" "+strings.Join(hook[0].Args, " ")) // without args of the user's
}

// handsOver is in a recipe that calls no command itself: internal/actiontest tests with which config
// the Action and the component do, and the hook reads none.
var handsOver = regexp.MustCompile(`uses: dopolicy/kubectl-dopolicy@|` +
	`component: \S+/kubectl-dopolicy/dopolicy@|args: \[--config, none, `)

// TestCIOfStrangers holds what the page says about pull requests of strangers: no recipe checks with
// the config of the pull request, or leaves the token of the job in the checkout.
func TestCIOfStrangers(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	recipes := 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n(# \\.(?:github|gitlab|pre-commit).*?)```\n").FindAllStringSubmatch(
		string(text), -1) {
		recipes++
		recipe := m[1]
		for line := range strings.Lines(recipe) {
			if strings.Contains(line, "kubectl-dopolicy check ") && !strings.Contains(line, "base/.dopolicy.yaml") {
				t.Errorf("the config is that of the pull request: %s", line)
			}
		}
		copied := strings.Index(recipe, "base/.dopolicy.yaml\" .dopolicy.yaml\n")
		if copied < 0 {
			copied = strings.Index(recipe, "base/.dopolicy.yaml .dopolicy.yaml\n")
		}
		first := regexp.MustCompile("kubectl-dopolicy (check|diff|matrix) ").FindStringIndex(recipe)
		if first != nil && (copied < 0 || copied > first[0]) || first == nil && !handsOver.MatchString(recipe) {
			t.Errorf("a command reads the config of the pull request:\n%s", recipe)
		}
		if strings.Count(recipe, "actions/checkout@") != strings.Count(recipe, "persist-credentials: false") {
			t.Errorf("the token of the job stays in the checkout:\n%s", recipe)
		}
	}
	if recipes != 5 {
		t.Errorf("%d recipes", recipes)
	}
	workflows, _ := filepath.Glob("../../.github/workflows/*.yaml")
	for _, file := range workflows {
		text, err := os.ReadFile(file)
		if err != nil || strings.Count(string(text), "actions/checkout@") != strings.Count(string(text),
			"persist-credentials: false") {
			t.Errorf("%s: the token of the job stays in the checkout (%v)", file, err)
		}
	}
}

// commitBase makes a repository of the working directory, as the branch that a pull request goes
// to.
func commitBase(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c",
		"user.email=t@example.com", "commit", "-qm", "base"},
		{"update-ref", "refs/remotes/origin/main", "HEAD"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// TestCIFindsLostLogin runs the steps of docs/ci.md that ask about protection on a pull request
// that takes a login away: each fails, and what compares says in its first line what is lost.
func TestCIFindsLostLogin(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	demo, err := filepath.Abs("../../testdata/ci")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("manifests", os.DirFS(filepath.Join(demo, "base"))); err != nil {
		t.Fatal(err)
	}
	commitBase(t)
	if err := os.Remove("manifests/shop.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS("manifests", os.DirFS(filepath.Join(demo, "change"))); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, line := range regexp.MustCompile(`kubectl-dopolicy (diff|matrix) [^\n]*`).FindAllString(string(text), -1) {
		if strings.Contains(line, "--missing AuthPolicy") {
			continue
		}
		ran++
		line, _, _ = strings.Cut(line, " > ")
		out, errs, code := runWords(t, line)
		first, _, _ := strings.Cut(out, "\n")
		if code != cli.ExitFindings || strings.Contains(line, " diff ") &&
			!strings.Contains(first, "rules lose authentication") &&
			!strings.Contains(first, "2 lose authentication") {
			t.Errorf("%s: exit %d, %s\n%s", line, code, errs, out)
		}
	}
	if ran < 5 {
		t.Errorf("only %d steps ask about protection", ran)
	}
}

// scripts are the texts under run and script, wherever they stand.
func scripts(v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			text, ok := v[key].(string)
			lines, list := v[key].([]any)
			switch {
			case key == "run" && ok:
				out = append(out, text)
			case key == "script" && list:
				for _, line := range lines {
					out = append(out, line.(string))
				}
			default:
				out = append(out, scripts(v[key])...)
			}
		}
	case []any:
		for _, entry := range v {
			out = append(out, scripts(entry)...)
		}
	}
	return out
}

// runLine runs a command line as a shell would, up to what follows the command. It may find
// something, as it does in the demo.
func runLine(t *testing.T, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, " || ")
	line, file, redirected := strings.Cut(line, " > ")
	out, errs, code := runWords(t, line)
	if code != cli.ExitAnswered && code != cli.ExitFindings || out == "" && !strings.Contains(line, " diff ") {
		t.Errorf("%s: exit %d: %s", line, code, errs)
	}
	if redirected && strings.ContainsAny(file, " |;&") {
		t.Errorf("%s: what is behind the file is not tested", file)
	}
}

// runWords runs a command line with the variables of the pages set.
func runWords(t *testing.T, line string) (out, errs string, code int) {
	t.Helper()
	words, err := shell.Fields(line, func(name string) string {
		return map[string]string{"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
			"RUNNER_TEMP": "runner"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	code = (cli.App{Plugins: plugins.All()}).Run(context.Background(), words[1:],
		cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr, LookupEnv: os.LookupEnv})
	return stdout.String(), stderr.String(), code
}
