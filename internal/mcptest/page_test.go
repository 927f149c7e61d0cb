package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// docPage is the page that shows the server.
const docPage = "docs/mcp.md"

// step is a call of the conversation on the page.
type step struct {
	why       string // the client calls
	tool      string
	arguments string   // JSON
	fields    []string // of the result that are shown
}

// listSteps returns the conversation that the page shows.
func listSteps() []step {
	return []step{
		{"The request gets 401. What takes it, and what may answer so?", "request",
			`{"url":"https://shop.example.com/cart/checkout"}`,
			[]string{"complete", "outcome", "route", "mayAnswer"}},
		{"`authpolicy/shop/cart-auth` asks for a login. Is there any request to this path without one?", "prove",
			`{"require":["authentication"],"paths":["/cart/checkout"]}`, []string{"complete", "verdict", "protected"}},
		{"What would deleting that policy do?", "diff", `{"delete":["AuthPolicy/shop/cart-auth"]}`,
			[]string{"complete", "protection"}},
	}
}

// TestPage: the page lists the tools as they are, and its conversation is what the server answers. With
// UPDATE_GOLDEN it is written anew.
func TestPage(t *testing.T) {
	t.Chdir("../..") // places in answers are those of the repository
	raw, err := os.ReadFile(docPage)
	if err != nil {
		t.Fatal(err)
	}
	want := replaceBlock(t, string(raw), "tools", formatTools(t))
	want = replaceBlock(t, want, "conversation", holdConversation(t))
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(docPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("docs/mcp.md is out of date: UPDATE_GOLDEN=1 go test ./internal/mcptest writes it")
	}
}

// replaceBlock replaces what is between the marks of a block.
func replaceBlock(t *testing.T, page, name, text string) string {
	t.Helper()
	open := "<!-- generated: " + name + " -->\n"
	before, rest, found := strings.Cut(page, open)
	_, after, ended := strings.Cut(rest, "<!-- end -->")
	if !found || !ended {
		t.Fatalf("the page has no block %s", name)
	}
	return before + open + text + "<!-- end -->" + after
}

// formatTools writes the table of the tools.
func formatTools(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("| tool | what it answers | arguments |\n|---|---|---|\n")
	for tool, err := range connectClient(t, "-f", demo).Tools(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(tool.InputSchema)
		var schema struct{ Properties json.RawMessage }
		if err := json.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, name := range sortedNames(t, schema.Properties) {
			switch name {
			case "namespace", "policyKinds", "limit", "continue":
			default:
				names = append(names, "`"+name+"`")
			}
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", tool.Name, tool.Description, strings.Join(names, ", "))
	}
	return out.String()
}

// holdConversation asks the server, and writes down the answers.
func holdConversation(t *testing.T) string {
	t.Helper()
	s := connectClient(t, "-f", "testdata/demo")
	var out strings.Builder
	for _, step := range listSteps() {
		var arguments map[string]any
		if err := json.Unmarshal([]byte(step.arguments), &arguments); err != nil {
			t.Fatal(err)
		}
		got := callTool(t, s, step.tool, arguments)
		if got.isError {
			t.Fatalf("%s: %s", step.tool, got.lead)
		}
		fmt.Fprintf(&out, "%s\n\n```\n%s %s\n\n%s\n```\n\n```yaml\n", step.why, step.tool, step.arguments, got.lead)
		for _, name := range step.fields {
			text, err := yaml.Marshal(map[string]any{name: got.document[name]})
			if err != nil {
				t.Fatal(err)
			}
			out.Write(text)
		}
		out.WriteString("```\n\n")
	}
	return out.String()
}

// sortedNames are the names of the fields of a JSON object.
func sortedNames(t *testing.T, object json.RawMessage) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(name))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
