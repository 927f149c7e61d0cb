package widthtest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// widths are those of terminals; everything fits into the last one.
var widths = []int{80, 140, 100000}

// essential are columns that are never left out.
var essential = []string{"AFTER", "BEFORE", "FROM", "IN FORCE", "MESSAGE", "OBJECT", "REASON", "ROUTE", "RULE", "SETTING",
	"STATE", "TARGET", "VALUE", "WHY"}

// output is what one command says.
type output struct {
	out, err string
	exit     int
}

// runAt runs the program; a width of 0 is no terminal.
func runAt(width int, args ...string) output {
	var out, errs bytes.Buffer
	exit := cli.App{Plugins: plugins.All()}.Run(context.Background(), args, run.Streams{In: strings.NewReader(""),
		Out: &out, Err: &errs, OutIsTTY: width > 0, ErrIsTTY: width > 0, Width: width,
		LookupEnv: func(name string) (string, bool) {
			value, ok := map[string]string{"LANG": "C.UTF-8", "NO_COLOR": "1"}[name]
			return value, ok
		}})
	return output{out.String(), errs.String(), exit}
}

// TestEveryCommandAtEveryWidth runs the main commands on all examples.
func TestEveryCommandAtEveryWidth(t *testing.T) {
	root := filepath.Join("..", "..", "testdata")
	inputs := []string{filepath.Join(root, "demo"), filepath.Join(root, "demo-rfc0009")}
	vendors, err := filepath.Glob(filepath.Join(root, "vendors-demo", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if inputs = append(inputs, vendors...); len(inputs) < 20 {
		t.Fatalf("only %d inputs", len(inputs))
	}
	for _, input := range inputs {
		t.Run(strings.TrimPrefix(filepath.ToSlash(input), "../../testdata/"), func(t *testing.T) {
			t.Parallel()
			for _, args := range commands(t, input) {
				t.Run(args[0], func(t *testing.T) { testCommand(t, args) })
			}
		})
	}
}

// testCommand runs one command at every width.
func testCommand(t *testing.T, args []string) {
	answer := output{}
	if args[0] == "check" || args[0] == "effective" {
		answer = runAt(0, append(slices.Clone(args), "-o", "json")...)
	}
	var all []record
	for _, width := range slices.Backward(widths) {
		got := runAt(width, args...)
		if got.exit == 2 {
			t.Fatalf("%v: %s", args, got.err)
		}
		fail := func(format string, more ...any) {
			t.Helper()
			t.Errorf("%v at %d columns: "+format+"\n%s%s", append(append([]any{args, width}, more...), got.out, got.err)...)
		}
		for line := range strings.Lines(got.out + got.err) {
			if n := textwidth.DisplayWidth(strings.TrimRight(line, "\n")); n > width && !isOneWord(line) {
				fail("a line of %d columns: %s", n, line)
			}
		}
		rows := readRecords(got.out)
		if row := findEqual(rows); row != "" {
			fail("two rows are equal: %s", row)
		}
		if all == nil {
			all = rows
		} else if len(rows) != len(all) {
			fail("%d rows, where there is room %d", len(rows), len(all))
		}
		for _, name := range essential {
			if left := regexp.MustCompile(`columns left out[^:]*: [^(]*`).FindString(oneLine(got.out)); regexp.MustCompile(
				`\b` + name + `\b`).MatchString(left) {
				fail("%s is left out", name)
			}
		}
		for _, text := range unnamedMessages(args[0], answer.out, rows, got.err) {
			fail("no object is named in: %s", text)
		}
	}
}

// record is a row of a table as it is shown, with the group that it stands below.
type record struct {
	block       int
	group, text string
}

// header finds the line of column names.
var header = regexp.MustCompile(`^ *[A-Z][A-Z/ ]+(  |$)`)

// readRecords returns the rows of all tables with column names.
func readRecords(text string) []record {
	var out []record
	inTable, indent, group, block, above := false, 0, "", 0, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		afterGroup := above == group && group != ""
		above = line
		here := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case line == "":
			inTable = false
		case !inTable && header.MatchString(line):
			inTable, indent, group, block = true, here, "", block+1
			out = append(out, record{text: line})
		case !inTable:
		case here < indent && afterGroup: // a long one goes on below
			group += line
		case here < indent:
			group = line
		case here == indent:
			out = append(out, record{block, group, line})
		default: // what of a row goes on below
			out[len(out)-1].text += "\n" + line
		}
	}
	return slices.DeleteFunc(out, func(r record) bool { return header.MatchString(r.text) })
}

// findEqual returns a row that looks like another one, "" if there is none.
func findEqual(rows []record) string {
	seen := map[record]bool{}
	for _, r := range rows {
		r.text = oneLine(r.text)
		if seen[r] {
			return r.group + " " + r.text
		}
		seen[r] = true
	}
	return ""
}

// oneLine is a text without its line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// squeeze is a text without spaces, as names are broken over lines.
func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// isOneWord reports whether a line is one argument of a command, which cannot be broken.
func isOneWord(line string) bool {
	return len(strings.Fields(strings.TrimSuffix(strings.TrimSpace(line), `\`))) <= 2 && strings.HasPrefix(line, "    ")
}

// said is what answers in JSON tell about findings and problems.
type said struct {
	Items []struct {
		ID  string     `json:"id"`
		Ref *model.Ref `json:"ref"`
	} `json:"items"`
	Problems []struct {
		Code string     `json:"code"`
		Ref  *model.Ref `json:"ref"`
	} `json:"problems"`
}

// unnamedMessages returns the rows of `check` and the problems in stderr that name none of the
// objects that findings and problems are about.
func unnamedMessages(command, answer string, rows []record, errors string) []string {
	var s said
	if json.Unmarshal([]byte(answer), &s) != nil {
		return nil
	}
	var out []string
	if command == "check" {
		for _, r := range rows {
			var refs []*model.Ref
			for _, item := range s.Items {
				if strings.Contains(squeeze(r.text), item.ID) {
					refs = append(refs, item.Ref)
				}
			}
			if !namesOneOf(r.text, refs) {
				out = append(out, r.text)
			}
		}
	}
	refs := make([]*model.Ref, len(s.Problems))
	for i := range s.Problems {
		refs[i] = s.Problems[i].Ref
	}
	var problems []string
	for line := range strings.Lines(errors) {
		if strings.HasPrefix(line, "warning: ") || strings.HasPrefix(line, "error: ") {
			problems = append(problems, line)
		} else if len(problems) > 0 && strings.HasPrefix(line, "  ") {
			problems[len(problems)-1] += line
		}
	}
	for _, text := range problems {
		if !namesOneOf(text, refs) {
			out = append(out, text)
		}
	}
	return out
}

// namesOneOf reports whether a text names one of the objects, or one of them is none.
func namesOneOf(text string, refs []*model.Ref) bool {
	return slices.ContainsFunc(refs, func(ref *model.Ref) bool {
		return ref == nil || ref.Name == "*" && strings.Contains(strings.ToLower(squeeze(text)),
			strings.ToLower(ref.Kind)) || strings.Contains(squeeze(text), squeeze(ref.WithoutSection().String()))
	})
}

// found is the part of an answer of `effective` and `status` from which commands are made.
type found struct {
	Items []struct {
		Object   model.Ref `json:"object"`
		Target   model.Ref `json:"target"`
		Policies []struct {
			Policy *model.Ref `json:"policy"`
		} `json:"policies"`
	} `json:"items"`
}

var hostname = regexp.MustCompile(`hostnames: \[?\s*"?([a-z0-9.-]+)`)

// commands returns the command lines that are run on an input: those about one object are about
// the first that has policies.
func commands(t *testing.T, input string) [][]string {
	t.Helper()
	from := []string{"-f", input}
	out := [][]string{{"effective", "-A"}, {"matrix", "-A"}, {"check"},
		{"overridden", "-A"}, {"status", "-A"}}
	host := "example.com"
	if match := hostname.FindStringSubmatch(readAll(t, input)); match != nil {
		host = match[1]
	}
	out = append(out, []string{"request", "GET", "https://" + host + "/cart/checkout"})
	answer := runAt(0, "effective", "-A", "-o", "json", "-f", input)
	var f found
	if err := json.Unmarshal([]byte(answer.out), &f); err != nil {
		t.Fatalf("%v: %s", err, answer.err)
	}
	targets, policies := map[string]bool{}, map[string]bool{}
	for _, item := range f.Items {
		target := item.Target.WithoutSection()
		if word := commandWord(target); len(targets) < 1 && !targets[word] {
			targets[word] = true
			for _, command := range []string{"effective", "explain", "overridden"} {
				flag := []string{word}
				if command == "overridden" {
					flag = []string{"--target", word}
				}
				out = append(out, append(append([]string{command}, flag...), inNamespace(target)...))
			}
		}
		for _, p := range item.Policies {
			if p.Policy == nil || len(policies) >= 1 || policies[commandWord(*p.Policy)] {
				continue
			}
			word := commandWord(*p.Policy)
			policies[word] = true
			out = append(out, append([]string{"reach", word}, inNamespace(*p.Policy)...))
			out = append(out, append([]string{"diff", input, "--delete", word}, inNamespace(*p.Policy)...))
		}
	}
	for i, args := range out {
		if args[0] != "diff" {
			out[i] = append(args, from...)
		}
	}
	return out
}

func commandWord(ref model.Ref) string { return strings.ToLower(ref.Kind) + "/" + ref.Name }

func inNamespace(ref model.Ref) []string {
	if ref.Namespace == "" {
		return nil
	}
	return []string{"-n", ref.Namespace}
}

// readAll returns the text of a file, or of all files of a folder.
func readAll(t *testing.T, path string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(path, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestRecordsAreRead holds the reading of tables against one that is written by hand.
func TestRecordsAreRead(t *testing.T) {
	rows := readRecords("heading\n\n  KIND  VALUE\na\n  x     1\n  x     1\nb\n  x     1\n        2\n\nfooter\n")
	if len(rows) != 3 {
		t.Errorf("%s rows: %v", strconv.Itoa(len(rows)), rows)
	}
	if findEqual(rows) == "" {
		t.Error("equal rows are not noticed")
	}
	if findEqual(rows[1:]) != "" {
		t.Error("different rows are called equal")
	}
}
