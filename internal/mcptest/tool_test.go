package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dopolicy/kubectl-dopolicy/docs/schema"
)

// question is a call of a tool, and the command that answers the same.
type question struct {
	tool      string
	arguments map[string]any
	command   string
}

// listQuestions returns questions that ask every tool about the demo.
func listQuestions() []question {
	return []question{
		{"effective", map[string]any{"targets": []any{"httproute/shop/cart"}}, "effective httproute/shop/cart"},
		{"effective", map[string]any{"namespace": "shop", "policyKinds": []any{"AuthPolicy"}, "showNone": true},
			"effective -n shop --policy-kind AuthPolicy --show-none"},
		{"request", map[string]any{"url": "https://shop.example.com/cart/checkout", "method": "POST",
			"headers": []any{"x-team: a,b"}, "expect": []any{"200"}},
			"request POST https://shop.example.com/cart/checkout --header=x-team:a,b --expect 200"},
		{"reach", map[string]any{"policies": []any{"authpolicy/infra/gw-auth/geo"}}, "reach authpolicy/infra/gw-auth/geo"},
		{"overridden", map[string]any{"policies": []any{"gw-auth"}, "target": "shop/cart"},
			"overridden gw-auth --target shop/cart"},
		{"matrix", map[string]any{"missing": []any{"authentication"}}, "matrix --missing authentication"},
		{"status", map[string]any{"all": true}, "status --all"},
		{"prove", map[string]any{"require": []any{"authentication"}, "paths": []any{"/cart/**"}},
			"prove --require authentication --paths /cart/**"},
		{"diff", map[string]any{"delete": []any{"AuthPolicy/shop/cart-auth"}}, "diff --delete AuthPolicy/shop/cart-auth"},
		{"diff", map[string]any{"delete": []any{"AuthPolicy/shop/cart-auth"}, "behavior": true},
			"diff --behavior --delete AuthPolicy/shop/cart-auth"},
		{"check", map[string]any{}, "check"},
		{"graph", map[string]any{"focus": "httproute/shop/cart", "depth": 1}, "graph --focus httproute/shop/cart --depth 1"},
	}
}

// askCommand asks a command what a tool is asked.
func askCommand(t *testing.T, q question) map[string]any {
	t.Helper()
	name, rest, _ := strings.Cut(q.command, " ")
	args := []string{name, "-f", demo, "-o", "json"}
	if name == "diff" {
		args = []string{name, demo, "-o", "json"}
	}
	out, beside, _ := runCommand(append(args, strings.Fields(rest)...)...)
	var answer map[string]any
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%s: %s\n%s", q.command, err, beside)
	}
	return answer
}

// TestToolsAnswerAsCommands: what all pages of a tool have is what the command prints, and a document of docs/schema.
func TestToolsAnswerAsCommands(t *testing.T) {
	s := connectClient(t, "-f", demo)
	asked := map[string]bool{}
	for _, q := range listQuestions() {
		asked[q.tool] = true
		want := askCommand(t, q)
		for _, limit := range []int{3, 200} {
			arguments := maps.Clone(q.arguments)
			arguments["limit"] = limit
			got := collectPages(t, s, q.tool, arguments)
			for name, value := range want {
				list, isList := value.([]any)
				if one, _ := got[name].([]any); isList && len(one) == 20 && len(list) > 20 {
					continue // a list beside the pages
				}
				if !reflect.DeepEqual(got[name], value) {
					t.Errorf("%s, limit %d: %s is %v, and of the command %v", q.command, limit, name, got[name], value)
				}
			}
		}
	}
	for tool, err := range s.Tools(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if !asked[tool.Name] {
			t.Errorf("%s is not asked", tool.Name)
		}
		if !tool.Annotations.ReadOnlyHint || tool.OutputSchema == nil || tool.Description == "" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
}

// collectPages puts the pages of an answer together.
func collectPages(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) map[string]any {
	t.Helper()
	var whole map[string]any
	for pages := 0; ; pages++ {
		got := callTool(t, s, tool, arguments)
		if got.isError || pages > 100 {
			t.Fatalf("%s %v: %s", tool, arguments, got.lead)
		}
		validateDocument(t, got)
		if whole == nil {
			whole = got.document
		} else {
			for _, name := range []string{"items", "nodes", "edges", "effective"} {
				if more, is := got.document[name].([]any); is {
					before, _ := whole[name].([]any)
					whole[name] = append(before, more...)
				}
			}
		}
		next, _ := got.page()["continue"].(string)
		if next == "" {
			return whole
		}
		if !strings.Contains(got.lead, next) {
			t.Errorf("%s: the next page is not said: %s", tool, got.lead)
		}
		arguments = maps.Clone(arguments)
		arguments["continue"] = next
	}
}

// validateDocument checks a result against the schema of its kind.
func validateDocument(t *testing.T, r result) {
	t.Helper()
	kind, _ := r.document["kind"].(string)
	text, err := schema.Read(kind)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(r.document); err != nil {
		t.Errorf("%s: %s", kind, err)
	}
}

// TestSchemaResources: the schemas of all results can be read.
func TestSchemaResources(t *testing.T) {
	s := connectClient(t, "-f", demo)
	var kinds []string
	for r, err := range s.Resources(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, r.Name)
		got, err := s.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: r.URI})
		want, _ := schema.Read(r.Name)
		if err != nil || got.Contents[0].Text != string(want) || len(want) == 0 {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
	if !slices.Contains(kinds, "RequestAnswer") || !slices.Contains(kinds, "Proof") {
		t.Errorf("resources: %v", kinds)
	}
}

// TestMistakes: what a client does wrong is said in the result, and no argument becomes a flag or a file.
func TestMistakes(t *testing.T) {
	s := connectClient(t, "-f", demo)
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"effective", map[string]any{"targets": []any{"nope"}}, `no route \"nope\"`},
		{"effective", map[string]any{"targets": []any{"--filename=/etc/passwd"}}, "unknown kind"},
		{"effective", map[string]any{"filename": "/etc/passwd"}, "filename"},
		{"effective", map[string]any{"limit": 1000}, "from 1 to 200"},
		{"effective", map[string]any{"continue": "7"}, "no value of this server"},
		{"effective", map[string]any{"continue": "2-000000000000"}, "ask again without continue"},
		{"effective", map[string]any{"policyKinds": []any{"Nothing"}}, "Nothing"},
		{"request", map[string]any{"url": "http://h/", "protocol": "x --requests-file=/etc/passwd"}, "protocol"},
		{"request", map[string]any{}, "a request needs a URL"},
		{"reach", map[string]any{}, "policies"},
		{"diff", map[string]any{}, "there is no change to look at"},
		{"diff", map[string]any{"manifests": "{"}, "no document could be read"},
		{"prove", map[string]any{"property": "nothing"}, "there is no property"},
	} {
		got := callTool(t, s, c.tool, c.arguments)
		if !got.isError {
			t.Errorf("%s %v: an answer", c.tool, c.arguments)
		}
		if !strings.Contains(got.lead, c.want) {
			t.Errorf("%s %v: %s", c.tool, c.arguments, got.lead)
		}
	}
	if _, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "publish"}); err == nil {
		t.Error("there is a tool that writes")
	}
}

// TestManifests: a change is given as text, and compared with what the server reads.
func TestManifests(t *testing.T) {
	s := connectClient(t, "-f", demo)
	got := callTool(t, s, "diff", map[string]any{"manifests": `
apiVersion: kuadrant.io/v1
kind: AuthPolicy
metadata: {name: cart-auth, namespace: shop}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, sectionName: checkout}
  rules: {authentication: {all: {anonymous: {}}}}
`})
	protection, _ := json.Marshal(got.document["protection"])
	if got.isError || !strings.HasPrefix(got.lead, "Found: something changes;") ||
		!strings.Contains(string(protection), `"Loses"`) {
		t.Errorf("%s\n%s", got.lead, protection)
	}
	two := connectClient(t, "-f", demo, "-f", "../../testdata/audit")
	if got := callTool(t, two, "diff", map[string]any{"delete": []any{"AuthPolicy/shop/cart-auth"}}); !got.isError ||
		!strings.Contains(got.lead, "one -f FOLDER") {
		t.Errorf("two folders: %s", got.lead)
	}
}

// TestIncompleteIsSaid: an answer that could be another one begins with that.
func TestIncompleteIsSaid(t *testing.T) {
	folder := writeFile(t, "in.yaml", "apiVersion: v1\nkind: [\n")
	s := connectClient(t, "-f", folder)
	if got := callTool(t, s, "effective", map[string]any{}); !got.isError {
		t.Errorf("nothing can be read, and there is an answer: %s", got.text)
	}
	folder = writeFile(t, "in.yaml", "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: n}\n---\na: [\n")
	s = connectClient(t, "-f", folder)
	got := callTool(t, s, "effective", map[string]any{})
	if !strings.HasPrefix(got.lead, "complete: false.") || got.document["complete"] != false {
		t.Errorf("%s\n%s", got.lead, got.text)
	}
}

// TestManyMessages: what a command says beside its answer does not keep the answer from the client.
func TestManyMessages(t *testing.T) {
	in := "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: n}\n"
	for i := range 500 {
		in += fmt.Sprintf("---\nbroken: [%d\n", i)
	}
	s := connectClient(t, "-f", writeFile(t, "in.yaml", in))
	got := callTool(t, s, "check", map[string]any{})
	if got.isError || !strings.HasPrefix(got.lead, "Found: there are findings.\ncomplete: false.") {
		t.Errorf("%s", got.lead)
	}
	if got = callTool(t, s, "graph", map[string]any{}); got.isError || !strings.Contains(got.lead, "problems (50") {
		t.Errorf("%s", got.lead)
	}
}
