package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const findingsHead = `# Findings

What ` + "`kubectl dopolicy check`" + ` reports, generated from the program. Other commands print the same problems to stderr and write them to
` + "`problems`" + ` of YAML and JSON; notes (info) are printed only with ` + "`--verbose`" + `. [ci.md](ci.md) says how to ignore findings and how to use them in CI.
Findings for your own requirements have the id ` + "`requirement/NAME`" + `; those whose id begins with ` + "`Dataplane`" + ` are of [audit](audit.md). Clauses refer to [semantics.md](semantics.md). Every example is the faulty part of
a test fixture; [testdata/findings](../testdata/findings) has the fixtures, each with a correct counterpart.

`

// longestExample is how many lines an example may have.
const longestExample = 24

// findings is the page of the catalogue. The fixtures are looked for in a folder; without them
// there are no examples.
func findings(fixtures string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(findingsHead + "| id | severity | when |\n|---|---|---|\n")
	rules := check.NewCatalogue(slices.Concat(plugin.FindingRules(plugins.All()), audit.Rules()))
	for _, r := range rules {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s |\n", r.ID, strings.ToLower(string(r.ID)), r.SeverityText(),
			cellText(r.Summary))
	}
	for _, r := range rules {
		fmt.Fprintf(&b, "\n## %s\n\n", r.ID)
		facts := []string{r.SeverityText()}
		if r.Clause != "" {
			facts = append(facts, r.Clause)
		}
		fmt.Fprintf(&b, "%s. **When** %s. **What to do:** %s.\n", strings.Join(facts, "; "), r.Summary, r.Fix)
		example, err := exampleOf(filepath.Join(fixtures, string(r.ID), "fails.yaml"), string(r.ID))
		if err != nil {
			return nil, err
		}
		b.WriteString(example)
	}
	return b.Bytes(), nil
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// exampleOf is what a fixture shows of an id: the document that is at fault, and what is said of
// it.
func exampleOf(file, id string) (string, error) {
	raw, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var args []string
	text := string(raw)
	if first, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "# args: ") {
		args = strings.Fields(strings.ReplaceAll(strings.TrimPrefix(first, "# args: "), "{dir}", filepath.Dir(file)))
		text = "\n" + rest // lines keep their numbers
	}
	found, err := findingIn(file, id, args)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if found.Origin != nil && found.Origin.File == file {
		if doc := documentAt(text, found.Origin.Line); strings.Count(doc, "\n") <= longestExample {
			fmt.Fprintf(&b, "\n```yaml\n%s```\n", doc)
		}
	}
	message := found.Message
	if found.Hint != "" {
		message += " (" + found.Hint + ")"
	}
	fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.ReplaceAll(message, filepath.Dir(file)+"/", ""))
	return b.String(), nil
}

// documentAt is the document of a YAML text that a line is in.
func documentAt(text string, line int) string {
	var doc strings.Builder
	n := 0
	for l := range strings.Lines(text) {
		n++
		if strings.TrimRight(l, "\n") == "---" {
			if n > line {
				break
			}
			doc.Reset()
			continue
		}
		doc.WriteString(l)
	}
	return strings.Trim(doc.String(), "\n") + "\n"
}

// findingIn is the first finding of an id in a file.
func findingIn(file, id string, args []string) (check.Finding, error) {
	var out, errs bytes.Buffer
	args = append([]string{"check", "-f", file, "-o", "json", "--config", "none"}, args...)
	(cli.App{Plugins: plugins.All()}).Run(context.Background(), args, cli.Streams{In: strings.NewReader(""),
		Out: &out, Err: &errs,
		LookupEnv: func(string) (string, bool) { return "", false }})
	var report struct{ Items []check.Finding }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return check.Finding{}, fmt.Errorf("%s: %w: %s", file, err, errs.String())
	}
	for _, f := range report.Items {
		if f.ID == id {
			return f, nil
		}
	}
	return check.Finding{Severity: model.Info}, fmt.Errorf("%s: %s is not found", file, id)
}

// findingsPage is the page with the fixtures of the repository, made once.
var findingsPage = sync.OnceValues(func() ([]byte, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	return findings(filepath.Join(root, "testdata", "findings"))
})

// moduleRoot is the nearest folder above with a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod above the current folder")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
