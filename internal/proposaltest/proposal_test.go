package proposaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// answer runs the program.
func answer(args ...string) (out, errs string, exit int) {
	var o, e bytes.Buffer
	exit = cli.App{Plugins: plugins.All()}.Run(context.Background(), args, run.Streams{In: strings.NewReader(""),
		Out: &o, Err: &e, LookupEnv: func(string) (string, bool) { return "", false }})
	return o.String(), e.String(), exit
}

// TestProposedCommands has every command that `describe` and `why` propose run, and answer
// something, on all examples.
func TestProposedCommands(t *testing.T) {
	root := filepath.Join("..", "..", "testdata")
	inputs, err := filepath.Glob(filepath.Join(root, "vendors-demo", "*"))
	if inputs = append(inputs, filepath.Join(root, "demo")); err != nil || len(inputs) < 15 {
		t.Fatalf("only %d inputs: %v", len(inputs), err)
	}
	for _, input := range inputs {
		t.Run(filepath.Base(input), func(t *testing.T) {
			t.Parallel()
			tried := map[string]bool{}
			for _, args := range questions(t, input) {
				out, errs, exit := answer(append(args, "-f", input)...)
				if exit != 0 { // an object of another kind of the same name
					t.Logf("%v: exit %d: %s", args, exit, errs)
				}
				for _, line := range proposedCommands(out) {
					if !tried[line] {
						tried[line] = true
						testProposal(t, args, line)
					}
				}
			}
			if t.Logf("%d commands", len(tried)); len(tried) == 0 && filepath.Base(input) != "others" {
				t.Error("no command is proposed")
			}
		})
	}
}

// testProposal runs a proposed command. Differences are told by 1.
func testProposal(t *testing.T, from []string, line string) {
	words := splitShellLine(line)
	out, errs, exit := answer(words...)
	if exit != 0 && (exit != 1 || words[0] != "diff") || strings.TrimSpace(out) == "" ||
		strings.Contains(out, " is in force on "+words[1]+"\n") {
		t.Errorf("%v proposes %q: exit %d\n%s%s", from, line, exit, out, errs)
	}
}

// questions are the questions about an input: what each route, Gateway and policy is, and why
// requests for each path get a status.
func questions(t *testing.T, input string) (out [][]string) {
	list, errs, exit := answer("status", "-A", "--all", "-f", input, "-o", "json")
	var all struct {
		Items []struct{ Object model.Ref }
	}
	if err := json.Unmarshal([]byte(list), &all); exit != 0 || err != nil {
		t.Fatalf("exit %d: %v: %s", exit, err, errs)
	}
	for _, item := range all.Items {
		if item.Object.Section == "" {
			out = append(out, []string{"describe", item.Object.String()})
		}
	}
	for _, to := range []string{"shop.example.com/", "shop.example.com/cart/checkout", "www.example.com/shop/cart"} {
		for _, status := range []string{"401", "403", "redirect"} {
			out = append(out, []string{"why", status, "http://" + to}, []string{"why", status, "https://" + to})
		}
	}
	return out
}

// proposedCommands are the commands in the text of an answer.
func proposedCommands(out string) (commands []string) {
	for line := range strings.Lines(out) {
		if _, command, found := strings.Cut(strings.TrimSpace(line), ": kubectl dopolicy "); found {
			commands = append(commands, command)
		}
	}
	return commands
}

// splitShellLine splits a line at blanks outside of single quotes.
func splitShellLine(line string) (words []string) {
	quoted := false
	for _, word := range strings.FieldsFunc(line, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	}) {
		words = append(words, strings.ReplaceAll(word, "'", ""))
	}
	return words
}
