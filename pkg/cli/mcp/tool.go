package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
)

// tool is a command that clients call.
type tool struct {
	name, title string
	about       string   // what it answers, for the client
	findings    string   // what the exit code 1 of the command means
	kinds       []string // of its answers
	lists       []string // fields of the answer that come in pages, one list after the other
	arguments   arguments
}

// arguments are what a client gives to a tool.
type arguments interface {
	toCommandLine() (commandLine, error)
	askedPage() pageArguments
}

// listTools returns all tools, in the order of the questions that they answer.
func listTools() []tool {
	items := []string{"items"}
	return []tool{
		{"effective", "Policies in force",
			"Which policies are in force on routes, rules, Gateways, listeners or Services: each setting with its value, " +
				"the policy that set it, and what it overrides.",
			"", []string{"EffectivePolicyList"}, items, effectiveArguments{}},
		{"request", "What becomes of a request",
			"Which listener, route, rule and backends a request gets and why; which policies are in force for it, what " +
				"they may answer with instead (mayAnswer: 401, 403, 429, …, with the object that does it), and whether " +
				"expectations are met. Nothing is sent. outcome Conditional: the input does not decide it.",
			"an expectation is not met, or cannot be decided", []string{"RequestAnswer", "RequestAnswerList"},
			[]string{"items", "effective"}, requestArguments{}},
		{"reach", "Where a policy is in force",
			"Where a policy, or one setting of it, is in force below its targets, and where not and why.",
			"", []string{"PolicyReach", "PolicyReachList"}, items, reachArguments{}},
		{"overridden", "Settings that were overridden",
			"Which settings of policies are not in force, to which policy they lost and why.",
			"", []string{"OverriddenRuleList"}, items, overriddenArguments{}},
		{"matrix", "Route rules and their policies",
			"All route rules with the policies in force on them and whether requests are authenticated; with missing, " +
				"only the rules that lack a property or a policy kind.",
			"there are rules without what was asked for, or of which that is not known", []string{"PolicyMatrix"},
			items, matrixArguments{}},
		{"status", "Whether policies are accepted and in force",
			"Predicted conditions of policies, whether they are in force everywhere, partly or nowhere, and how what " +
				"objects report differs from that.",
			"what objects report differs", []string{"StatusList"}, items, statusArguments{}},
		{"prove", "Whether every request meets a policy",
			"Proves that every request that a Gateway takes meets a policy or has a property, or shows requests that do " +
				"not. verdict and result say which; undecided requests are not proved.",
			"there are requests without it", []string{"Proof"}, items, proveArguments{}},
		{"diff", "What a change would do",
			"What is in force before and after a change of objects: which route rules lose protection comes first " +
				"(protection). Nothing is applied.",
			"something changes; protection lists what route rules lose and gain",
			[]string{"EffectivePolicyDiff", "BehaviorDiff"}, items, diffArguments{}},
		{"check", "Mistakes",
			"Mistakes in the input: references to what is not there, conflicts, policies that are never in force, fields " +
				"that the API server would refuse or drop.",
			"there are findings", []string{"CheckReport"}, items, checkArguments{}},
		{"graph", "The topology",
			"Gateways, listeners, routes, rules and backends with the policies attached to them, as nodes and edges; " +
				"edges of kind effective or overridden say where a policy is in force.",
			"", []string{"Topology"}, []string{"nodes", "edges"}, graphArguments{}},
	}
}

// toMCPTool returns the tool as clients see it.
func (t tool) toMCPTool() (*mcp.Tool, *jsonschema.Resolved, error) {
	input, err := jsonschema.ForType(reflect.TypeOf(t.arguments), nil)
	if err != nil {
		return nil, nil, fmt.Errorf("arguments of %s: %w", t.name, err)
	}
	resolved, err := input.Resolve(nil)
	if err != nil {
		return nil, nil, fmt.Errorf("arguments of %s: %w", t.name, err)
	}
	output, err := buildOutputSchema(t.kinds)
	if err != nil {
		return nil, nil, err
	}
	no := false
	return &mcp.Tool{Name: t.name, Title: t.title, Description: t.about, InputSchema: input, OutputSchema: output,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true,
			OpenWorldHint: &no}}, resolved, nil
}

// parseArguments reads what a client gave; an unknown argument is an error.
func (t tool) parseArguments(raw json.RawMessage, schema *jsonschema.Resolved) (arguments, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	var given any
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, failure.Usage("", "the arguments are not JSON: %s", err)
	}
	if err := schema.Validate(given); err != nil {
		return nil, failure.Usage("tools/list has the arguments of every tool", "the arguments are wrong: %s", err)
	}
	out := reflect.New(reflect.TypeOf(t.arguments))
	if err := json.Unmarshal(raw, out.Interface()); err != nil {
		return nil, failure.Usage("", "the arguments are wrong: %s", err)
	}
	parsed, _ := out.Elem().Interface().(arguments)
	return parsed, nil
}
