package vectortest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestAudit writes what is predicted of the objects of every vector into their statuses, as
// controllers do: an audit finds nothing then. With one condition of every object turned over, it
// finds one difference in each.
func TestAudit(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	found := 0
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "base") {
			continue
		}
		v, manifests := read(t, file)
		if len(v.Status) == 0 || v.Bug != "" {
			continue
		}
		name, _ := filepath.Rel(root, file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			var predicted status.StatusList
			v.ask(t, file, manifests, &predicted, "status", "-A")
			objects := v.objects(t, file, manifests)
			deleteRefused(objects, predicted)
			found += auditPlain(t, v, objects, predicted)
			auditTurned(t, v, objects, predicted)
		})
	}
	if found < 100 {
		t.Errorf("only %d objects report what is predicted: most vectors are not compared at all", found)
	}
}

// deleteRefused deletes the objects that the API server refuses: a cluster does not have them.
func deleteRefused(objects map[model.Ref]map[string]any, predicted status.StatusList) {
	for _, p := range predicted.Problems {
		about := func(item status.ObjectStatus) bool { return item.Object.WithoutSection() == *p.Ref }
		switch p.Code {
		case model.SchemaViolation, model.UnknownField, model.RefusedByOperator, model.PrunedByOperator:
			if !slices.ContainsFunc(predicted.Items, about) {
				delete(objects, *p.Ref)
			}
		}
	}
}

// auditPlain audits what is reported as predicted, and counts the objects that agree.
func auditPlain(t *testing.T, v vector, objects map[model.Ref]map[string]any, predicted status.StatusList) int {
	t.Helper()
	list, _ := v.audit(t, objects, predicted, -1)
	for _, item := range list.Items {
		for _, d := range item.Differences {
			// predicted with a word in the message alone
			dangling := d.Kind == "DanglingTarget" && d.Reported.Status == "True"
			if !dangling && !(d.Kind == "Truncated" && len(item.Ancestors) > 16) {
				t.Errorf("%s: %+v %+v %+v", item.Object, d, d.Predicted, d.Reported)
			}
		}
		for _, d := range item.Remarks {
			if d.Kind != "Unpredictable" && d.Kind != "Truncated" { // by the controller's own word
				t.Errorf("%s: remark %+v", item.Object, d)
			}
		}
	}
	return list.Summary.Agree
}

// auditTurned audits with the first condition of every object turned over, then with the second.
func auditTurned(t *testing.T, v vector, objects map[model.Ref]map[string]any, predicted status.StatusList) {
	t.Helper()
	most := 0
	for _, item := range predicted.Items {
		most = max(most, len(known(item)))
	}
	for n := range min(most, 2) {
		list, turned := v.audit(t, objects, predicted, n)
		for _, item := range list.Items {
			one, ok := turned[item.Object]
			if !ok || len(item.Ancestors) > 16 {
				continue
			}
			kind := one.Type
			about := func(d status.Difference) bool {
				return d.Type == kind && d.Kind != "DanglingTarget" && (one.of == nil) == (d.AncestorRef == nil) &&
					(one.of == nil || *one.of == *d.AncestorRef)
			}
			counted := len(slices.DeleteFunc(slices.Clone(item.Differences),
				func(d status.Difference) bool { return !about(d) }))
			noted := len(slices.DeleteFunc(slices.Clone(item.Remarks),
				func(d status.Difference) bool { return !about(d) }))
			minor := kind == "Warning" || kind == "Aggregated" || kind == "Programmed" || !list.Complete
			if counted+noted != 1 || counted != 1 && !minor {
				t.Errorf("%s with %s turned over: %d differences and %d remarks about it: %+v %+v", item.Object, kind,
					counted, noted, item.Differences, item.Remarks)
			}
		}
	}
}

// told is a predicted condition and what it is about.
type told struct {
	status.Condition
	of *status.AncestorRef
}

// known are the predicted conditions of an item that are not Unknown.
func known(item status.ObjectStatus) []told {
	var out []told
	for _, a := range item.Ancestors {
		for _, c := range a.Conditions {
			if c.Status != "Unknown" {
				out = append(out, told{c, a.AncestorRef})
			}
		}
	}
	return out
}

// audit asks about the objects with what is predicted as their status; of every object the
// condition of that number is turned over.
func (v vector) audit(t *testing.T, objects map[model.Ref]map[string]any, predicted status.StatusList,
	turn int) (list status.StatusList, turned map[model.Ref]told) {
	t.Helper()
	turned = map[model.Ref]told{}
	addressed := map[string]bool{} // Gateways have an address, unless the vector says otherwise
	for _, o := range objects {
		have, reported := o["status"].(map[string]any)
		if o["kind"] == "Gateway" && (!reported || have["addresses"] != nil) {
			addressed[fmt.Sprint(o["metadata"])] = true
		}
		delete(o, "status")
	}
	for _, item := range predicted.Items {
		o := objects[item.Object.WithoutSection()]
		if o == nil {
			generated := func(p model.Problem) bool {
				return p.Ref != nil && *p.Ref == item.Object.WithoutSection() &&
					strings.Contains(p.Message, "is not in the input: it stands for what the controller makes of")
			}
			if !slices.ContainsFunc(predicted.Problems, generated) {
				t.Fatalf("no object %s", item.Object)
			}
			continue // a cluster has it, and the input does not
		}
		if o["status"] == nil {
			o["status"] = map[string]any{"observed": true}
			if addressed[fmt.Sprint(o["metadata"])] {
				o["status"].(map[string]any)["addresses"] = []any{map[string]any{"value": "192.0.2.1"}}
			}
		}
		if conditions := known(item); turn >= 0 && turn < len(conditions) {
			turned[item.Object] = conditions[turn]
		}
		write(o["status"].(map[string]any), item, turn)
	}
	for _, o := range objects { // as a server has them
		o["metadata"].(map[string]any)["resourceVersion"] = "1"
	}
	var in bytes.Buffer
	encoder := json.NewEncoder(&in)
	for _, ref := range slices.SortedFunc(keysOf(objects), model.Ref.Compare) {
		in.WriteString("---\n")
		if err := encoder.Encode(objects[ref]); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"status", "-A", "--audit", "-o", "json", "-f", "-"}
	for name, value := range v.Settings {
		args = append(args, "--vendor-setting", fmt.Sprintf("%s=%v", name, value))
	}
	var out, errs bytes.Buffer
	app := cli.App{Plugins: plugins.All()}
	code := app.Run(context.Background(), args, cli.Streams{In: &in, Out: &out, Err: &errs, LookupEnv: os.LookupEnv})
	if code > 1 {
		// nothing is reported at all
		if turn < 0 && len(known(status.ObjectStatus{Ancestors: allAncestors(predicted)})) == 0 {
			return status.StatusList{Summary: &status.AuditSummary{}}, turned
		}
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	if differs := list.Summary.Differ > 0; differs != (code == 1) {
		t.Errorf("exit %d, and %d objects differ", code, list.Summary.Differ)
	}
	return list, turned
}

func allAncestors(list status.StatusList) []status.AncestorStatus {
	var out []status.AncestorStatus
	for _, item := range list.Items {
		out = append(out, item.Ancestors...)
	}
	return out
}

func keysOf(objects map[model.Ref]map[string]any) func(func(model.Ref) bool) {
	return func(yield func(model.Ref) bool) {
		for ref := range objects {
			if !yield(ref) {
				return
			}
		}
	}
}

// write writes a prediction into the status of its object, in the shape that its kind has.
func write(status map[string]any, item status.ObjectStatus, turn int) {
	n := -1
	for _, a := range item.Ancestors {
		conditions := []any{}
		for _, c := range a.Conditions {
			if c.Status == "Unknown" {
				continue
			}
			n++
			if at := wordPlace(item.Object); at != nil {
				if n == turn {
					c.Status = "TurnedOver"
				}
				set(status, at, c.Status)
				continue
			}
			if n == turn {
				c.Status, c.Reason = map[string]string{"True": "False", "False": "True"}[c.Status], "TurnedOver"
			}
			conditions = append([]any{map[string]any{"type": c.Type, "status": c.Status, "reason": c.Reason,
				"message": "in other words", "lastTransitionTime": "2025-01-01T00:00:00Z"}}, conditions...)
		}
		if len(conditions) == 0 {
			continue
		}
		controller := a.ControllerName
		if controller == "" {
			controller = "example.com/some"
		}
		entry := map[string]any{"conditions": conditions, "controllerName": controller}
		list := ""
		switch {
		case item.Object.Section != "":
			entry["name"], list = item.Object.Section, "listeners"
			if item.AttachedRoutes != nil {
				entry["attachedRoutes"] = *item.AttachedRoutes
			}
		case a.AncestorRef == nil:
			status["conditions"] = conditions
			continue
		case strings.HasSuffix(item.Object.Kind, "Route"):
			entry["parentRef"], list = reference(*a.AncestorRef, item.Object.Namespace), "parents"
		default:
			entry["ancestorRef"], list = reference(*a.AncestorRef, item.Object.Namespace), "ancestors"
			if have, _ := status[list].([]any); len(have) == 16 {
				continue
			}
		}
		have, _ := status[list].([]any)
		status[list] = append([]any{entry}, have...)
	}
}

// reference is a reference without what the API would fill in.
func reference(ref status.AncestorRef, namespace string) map[string]any {
	out := map[string]any{"name": ref.Name}
	for key, v := range map[string][2]string{"group": {ref.Group, "gateway.networking.k8s.io"},
		"kind": {ref.Kind, "Gateway"}, "namespace": {ref.Namespace, namespace}} {
		if v[0] != v[1] {
			out[key] = v[0]
		}
	}
	if ref.Section != "" {
		out["sectionName"] = ref.Section
	}
	if ref.Port != 0 {
		out["port"] = ref.Port
	}
	return out
}

// objects are the manifests of a vector and its base, by reference.
func (v vector) objects(t *testing.T, file string, manifests []byte) map[model.Ref]map[string]any {
	t.Helper()
	texts := [][]byte{manifests}
	if v.Base != "" {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(file), v.Base))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	out := map[model.Ref]map[string]any{}
	for _, text := range texts {
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		for {
			var o map[string]any
			err := decoder.Decode(&o)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if o == nil {
				continue
			}
			group, _, found := strings.Cut(fmt.Sprint(o["apiVersion"]), "/")
			if !found {
				group = ""
			}
			ref := model.Ref{Group: group, Kind: fmt.Sprint(o["kind"]), Namespace: model.Text(o, "metadata",
				"namespace"), Name: model.Text(o, "metadata", "name")}
			out[ref] = o
		}
	}
	return out
}

// wordPlace is where the status of an object has a word in the place of conditions, nil if it has
// conditions.
func wordPlace(object model.Ref) []string {
	if object.Group == "gateway.solo.io" {
		return []string{"statuses", "gloo-system", "state"}
	}
	return nil
}

func set(in map[string]any, at []string, value any) {
	for _, key := range at[:len(at)-1] {
		below, _ := in[key].(map[string]any)
		if below == nil {
			below = map[string]any{}
			in[key] = below
		}
		in = below
	}
	in[at[len(at)-1]] = value
}
