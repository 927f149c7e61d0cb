// Package health runs the health checks that the program writes: the Lua as Argo CD does, and the CEL
// as Flux does. Both must say what the conditions mean, and so the same.
package health

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
)

// prediction is an item of `status -o json`.
type prediction struct {
	Object struct{ Group, Kind, Namespace, Name, Section string }

	Ancestors []struct {
		AncestorRef    map[string]any
		ControllerName string
		Conditions     []map[string]any
	}
}

// toObject is the policy as a controller leaves it that reports what is predicted.
func (p prediction) toObject() map[string]any {
	status := map[string]any{}
	for _, a := range p.Ancestors {
		var conditions []any
		for _, c := range a.Conditions {
			if c["type"] == "state" {
				word := map[string]any{"state": c["status"], "reason": c["message"]}
				status["statuses"] = map[string]any{"system": word}
				continue
			}
			conditions = append(conditions, maps.Clone(c))
		}
		switch {
		case a.AncestorRef == nil && conditions != nil:
			status["conditions"] = conditions
		case a.AncestorRef != nil:
			list, _ := status["ancestors"].([]any)
			status["ancestors"] = append(list, map[string]any{"ancestorRef": a.AncestorRef,
				"controllerName": a.ControllerName, "conditions": conditions})
		}
	}
	return newPolicy(p.Object.Group, p.Object.Kind, status)
}

// newPolicy is an object with a status; without any if it is empty.
func newPolicy(group, kind string, status map[string]any) map[string]any {
	out := map[string]any{"apiVersion": group + "/v1", "kind": kind, "metadata": map[string]any{"name": "a",
		"namespace": "b", "generation": int64(3)}}
	if len(status) > 0 {
		out["status"] = status
	}
	return out
}

// tally counts what was judged.
type tally map[string]int

// checkObject holds the answers of both checks against what the conditions mean.
func checkObject(t *testing.T, all checks, what string, object map[string]any, counted tally) {
	t.Helper()
	kind := kindName(object)
	script, hasLua := all.lua[kind]
	exprs, hasCEL := all.cel[kind]
	if !hasLua {
		if hasCEL {
			t.Errorf("%s has a check for Flux alone", kind)
		}
		return
	}
	want, because, err := judgeObject(object, !hasCEL)
	if err != nil {
		t.Errorf("%s: %s: %v", what, kind, err)
		return
	}
	counted[want]++
	said, err := runLua(script, object)
	if err != nil {
		t.Errorf("%s: %s: Lua: %v", what, kind, err)
		return
	}
	if said.Health != want {
		t.Errorf("%s: %s: Lua says %s (%s), want %s\n%v", what, kind, said.Health, said.Message, want, object["status"])
	}
	if want != healthy && said.Message == "" {
		t.Errorf("%s: %s: %s without a message", what, kind, want)
	}
	if because != "" && !strings.Contains(said.Message, because) {
		t.Errorf("%s: %s: the message %q does not name %s", what, kind, said.Message, because)
	}
	if !hasCEL {
		return
	}
	health, err := runCEL(exprs, object)
	if err != nil && object["status"] == nil { // the answer of Flux is that it does not know, and it waits
		health, err = progressing, nil
	}
	if err != nil || health != want {
		t.Errorf("%s: %s: CEL says %s, want %s: %v\n%v", what, kind, health, want, err, object["status"])
	}
}

// checkVariants checks an object as it is; about its generation; about another one; and without a
// status.
func checkVariants(t *testing.T, all checks, what string, object map[string]any, counted tally) {
	t.Helper()
	checkObject(t, all, what, object, counted)
	for _, seen := range []any{int64(3), "3", int64(2), "2", int64(0)} {
		checkObject(t, all, fmt.Sprintf("%s seen at %v", what, seen), withGeneration(object, seen), counted)
	}
	bare := maps.Clone(object)
	bare["metadata"] = map[string]any{"generation": int64(3)}
	delete(bare, "status")
	checkObject(t, all, what+" without status", bare, counted)
	bare["status"] = map[string]any{"ancestors": []any{}}
	if status, _ := object["status"].(map[string]any); status["ancestors"] != nil {
		checkObject(t, all, what+" without ancestors", bare, counted)
	}
}

// withGeneration is an object whose conditions are about a generation.
func withGeneration(object map[string]any, seen any) map[string]any {
	out := copyValue(object).(map[string]any)
	out["metadata"].(map[string]any)["generation"] = int64(3)
	status, _ := out["status"].(map[string]any)
	holders := []any{status}
	if ancestors, ok := status["ancestors"].([]any); ok {
		holders = append(holders, ancestors...)
	}
	for _, h := range holders {
		conditions, _ := h.(map[string]any)["conditions"].([]any)
		for _, c := range conditions {
			c.(map[string]any)["observedGeneration"] = seen
		}
	}
	return out
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = copyValue(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyValue(item)
		}
		return out
	}
	return value
}

// checkInput checks what the objects of an input report, what is predicted of its policies, and what
// an acceptance case expects of them.
func checkInput(t *testing.T, in input, counted tally) {
	t.Helper()
	all := makeChecks(t, in.settings)
	for _, o := range readObjects(t, in.manifests) {
		if o["status"] != nil && o["metadata"] != nil {
			checkVariants(t, all, in.name+": reported", o, counted)
			if _, has := all.lua[kindName(o)]; has {
				counted["reported"]++
			}
		}
	}
	args := append(append([]string{"status", "-A", "-o", "json"}, in.args...), in.settings...)
	var list struct{ Items []prediction }
	if err := json.Unmarshal(runProgram(t, in.manifests, args...), &list); err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		if p.Object.Section == "" && len(p.Ancestors) > 0 {
			checkVariants(t, all, in.name+": predicted", p.toObject(), counted)
		}
	}
	for _, e := range in.expected {
		if e.Policy["kind"] == nil || len(e.Conditions) == 0 {
			continue
		}
		p := prediction{}
		for _, item := range list.Items {
			if item.Object.Kind == e.Policy["kind"] && item.Object.Name == e.Policy["name"] && item.Object.Section == "" {
				p.Object = item.Object
			}
		}
		p.Ancestors = append(p.Ancestors, struct {
			AncestorRef    map[string]any
			ControllerName string
			Conditions     []map[string]any
		}{e.Ancestor, "", e.Conditions})
		checkVariants(t, all, in.name+": expected", p.toObject(), counted)
	}
}

func TestChecksSayWhatConditionsMean(t *testing.T) {
	counted := tally{}
	for _, in := range listVectors(t) {
		checkInput(t, in, counted)
	}
	requireAll(t, counted)
}

func TestChecksSayWhatReportsMean(t *testing.T) {
	counted, all, judged := tally{}, makeChecks(t, nil), 0
	for what, objects := range listReports(t) {
		for _, o := range objects {
			if _, has := all.lua[kindName(o)]; has {
				judged++
				checkVariants(t, all, what, o, counted)
			}
		}
	}
	t.Logf("%d objects: %v", judged, counted)
	if judged < 10 {
		t.Errorf("only %d objects report something", judged)
	}
}

func TestChecksSayWhatAcceptanceCasesMean(t *testing.T) {
	counted := tally{}
	for _, in := range listCases(t) {
		checkInput(t, in, counted)
	}
	requireAll(t, counted)
}

// requireAll sees that every answer was given many times: else the test shows nothing.
func requireAll(t *testing.T, counted tally) {
	t.Helper()
	t.Logf("judged: %v", counted)
	for _, health := range []string{healthy, degraded, progressing} {
		if counted[health] < 100 {
			t.Errorf("%s only %d times", health, counted[health])
		}
	}
}
