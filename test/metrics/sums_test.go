package metrics

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inputs are the demos, Ingresses, and some vectors of every vendor.
func inputs(t *testing.T) []string {
	t.Helper()
	out := []string{filepath.Join(root, "testdata/demo"), filepath.Join(root, "testdata/demo-rfc0009")}
	demos, err := filepath.Glob(filepath.Join(root, "testdata/vendors-demo/*"))
	if err != nil || len(demos) == 0 {
		t.Fatalf("no demos: %v", err)
	}
	migrations, err := filepath.Glob(filepath.Join(root, "testdata/migration/*"))
	if err != nil || len(migrations) == 0 {
		t.Fatalf("nothing with Ingresses: %v", err)
	}
	out = append(append(append(out, demos...), migrations...), filepath.Join(root, "testdata/findings/RedirectLoop/fails.yaml"))
	vendors, err := filepath.Glob(filepath.Join(root, "testdata/vendors/*"))
	if err != nil || len(vendors) == 0 {
		t.Fatalf("no vendors: %v", err)
	}
	for _, vendor := range vendors {
		vectors, err := filepath.Glob(filepath.Join(vendor, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, vectors[:min(2, len(vectors))]...)
	}
	return out
}

// TestSums: what is counted is what the commands say in JSON, and the exit codes are the same. Something is counted of everything.
func TestSums(t *testing.T) {
	total := map[string]int{}
	for _, input := range inputs(t) {
		in := []string{"-A", "-f", input}
		got, code := countMetrics(t, append([]string{"check", "--config", "none"}, in...)...)
		check, checkCode := ask(t, append([]string{"check", "--config", "none"}, in...)...)
		matrix, _ := ask(t, append([]string{"matrix"}, in...)...)
		login, loginCode := ask(t, append([]string{"matrix", "--missing", "authentication"}, in...)...)
		status, _ := ask(t, append([]string{"status"}, in...)...)
		status.Items = slices.DeleteFunc(status.Items, func(item map[string]any) bool { return !isPolicy(item) })
		overridden, _ := ask(t, append([]string{"overridden"}, in...)...)
		if code != checkCode {
			t.Errorf("%s: exit code %d, in JSON %d", input, code, checkCode)
		}
		if code == 3 {
			continue
		}
		if loginCode == 3 { // no route rule gets traffic
			login = answer{Counts: []count{{}}, Idle: matrix.Idle}
		}
		ingresses := map[string]int{}
		for _, path := range matrix.Ingresses {
			ingresses[path.Authentication.Verdict]++
		}
		rules := login.Counts[0]
		for _, c := range []struct {
			want   int
			metric string
			labels []string
		}{
			{check.Summary.Error, "findings", []string{"severity", "error"}},
			{check.Summary.Warning, "findings", []string{"severity", "warning"}},
			{check.Summary.Info, "findings", []string{"severity", "info"}},
			{check.Summary.Suppressed, "suppressed_findings", nil},
			{rules.InForce, "route_rules", []string{"protection", "authenticated"}},
			{rules.Missing, "route_rules", []string{"protection", "open"}},
			{rules.Unknown, "route_rules", []string{"protection", "undecided"}},
			{rules.NotApplicable, "route_rules", []string{"protection", "no_backend"}},
			{len(matrix.Idle), "route_rules", []string{"protection", "no_traffic"}},
			{ingresses["holds"], "ingress_paths", []string{"protection", "authenticated"}},
			{ingresses["fails"], "ingress_paths", []string{"protection", "open"}},
			{ingresses["depends"], "ingress_paths", []string{"protection", "undecided"}},
			{len(matrix.Ingresses), "ingress_paths", nil},
			{len(status.Items), "policies", nil},
			{len(overridden.Items), "overridden_settings", nil},
			{number(check.Complete), "answer_complete", []string{"answer", "check"}},
			{number(matrix.Complete), "answer_complete", []string{"answer", "matrix"}},
			{number(status.Complete), "answer_complete", []string{"answer", "status"}},
			{number(overridden.Complete), "answer_complete", []string{"answer", "overridden"}},
			{1, "cluster_answered", nil},
		} {
			sum := got.sum("dopolicy_"+c.metric, c.labels...)
			if sum != c.want {
				t.Errorf("%s: %s%q is %d, in JSON %d", input, c.metric, c.labels, sum, c.want)
			}
			for _, word := range append([]string{c.metric}, c.labels...) {
				total[word] += sum
			}
		}
		compareStates(t, input, got, status)
		compareMatrix(t, input, got, in, matrix)
		for _, name := range []string{"check", "matrix", "status", "overridden"} {
			complete := got.sum("dopolicy_answer_complete", "answer", name) == 1
			if reasons := got.sum("dopolicy_incomplete_reasons", "answer", name); complete != (reasons == 0) {
				t.Errorf("%s: complete is %v of %s, for %d reasons", input, complete, name, reasons)
			}
		}
		for metric, samples := range got {
			if len(samples) == 0 {
				t.Errorf("%s: %s has no series", input, metric)
			}
		}
	}
	for _, word := range []string{"error", "warning", "info", "suppressed_findings", "authenticated", "open", "undecided", "no_backend", "no_traffic",
		"ingress_paths", "policies", "overridden_settings"} {
		if total[word] == 0 {
			t.Errorf("no input has %s: nothing was compared", word)
		}
	}
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// isPolicy reports whether an item of a status is a policy: the others are routes, listeners and the objects above them.
func isPolicy(item map[string]any) bool {
	kind := item["object"].(map[string]any)["kind"].(string)
	return item["inForce"] != nil || !strings.HasSuffix(kind, "Route") && !slices.Contains([]string{"Gateway", "Listener", "ListenerSet",
		"XListenerSet", "GatewayClass"}, kind)
}

// compareStates: a policy that is counted as in force is so by the status, and accepted.
func compareStates(t *testing.T, input string, got exposition, status answer) {
	t.Helper()
	want := map[string]int{}
	for _, item := range status.Items {
		state := "not_applicable"
		if force, ok := item["inForce"].(map[string]any); ok {
			state = map[any]string{"Everywhere": "in_force", "Partly": "partly_in_force", "Nowhere": "not_in_force",
				"Unknown": "undecided"}[force["state"]]
		}
		if state == "not_in_force" { // also those that the API server refuses, which the JSON does not say
			state = "error"
		}
		for _, a := range item["ancestors"].([]any) {
			for _, c := range a.(map[string]any)["conditions"].([]any) {
				if c := c.(map[string]any); c["type"] == "Accepted" && c["status"] == "False" {
					state = "error"
				}
			}
		}
		want[state]++
	}
	for _, state := range []string{"in_force", "partly_in_force", "not_applicable", "undecided", "error"} {
		sum := got.sum("dopolicy_policies", "state", state)
		if state == "error" {
			sum += got.sum("dopolicy_policies", "state", "not_in_force")
		}
		if sum != want[state] {
			t.Errorf("%s: %d policies are %s, by the status %d", input, sum, state, want[state])
		}
	}
}

// compareMatrix: what `matrix` counts is a part of what `check` counts, and agrees with its JSON by kind; with --missing by what is required.
func compareMatrix(t *testing.T, input string, got exposition, in []string, matrix answer) {
	t.Helper()
	alone, _ := countMetrics(t, append([]string{"matrix"}, in...)...)
	for metric, samples := range alone {
		for _, s := range samples {
			if n := got.sum(metric, pairs(s)...); metric != "dopolicy_incomplete_reasons" && n != int(s.value) {
				t.Errorf("%s: %s is %d in check", input, s.labels, n)
			}
		}
	}
	for _, c := range matrix.Counts {
		compareCount(t, input, alone, "dopolicy_route_rule_policies", "kind", "in_force", c)
	}
	ask, code := ask(t, append([]string{"matrix", "--missing", "rateLimit,tlsIn"}, in...)...)
	required, requiredCode := countMetrics(t, append([]string{"matrix", "--missing", "rateLimit,tlsIn"}, in...)...)
	if code != requiredCode {
		t.Errorf("%s: exit code %d, in JSON %d", input, requiredCode, code)
	}
	for _, c := range ask.Counts {
		compareCount(t, input, required, "dopolicy_route_rule_requirements", "requirement", "met", c)
	}
	if len(required["dopolicy_ingress_paths"]) > 0 {
		t.Errorf("%s: paths of Ingresses are counted, which --missing does not look at", input)
	}
}

func compareCount(t *testing.T, input string, got exposition, metric, label, met string, c count) {
	t.Helper()
	for state, want := range map[string]int{met: c.InForce, "missing": c.Missing, "undecided": c.Unknown, "not_applicable": c.NotApplicable} {
		if sum := got.sum(metric, label, c.PolicyKind, "state", state); sum != want {
			t.Errorf("%s: %s of %s: %s is %d, in JSON %d", input, metric, c.PolicyKind, state, sum, want)
		}
	}
}

// pairs are the labels of a sample, without its name, as sum takes them; a label that it does not have must be empty.
func pairs(s sample) []string {
	var out []string
	for _, name := range []string{"namespace", "kind", "state", "protection", "answer", "version", "id", "requirement"} {
		out = append(out, name, s.labels.Get(name))
	}
	return out
}
