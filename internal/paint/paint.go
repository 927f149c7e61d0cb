// Package paint writes and reads manifests of a made-up policy kind, Paint.x.io, for tests.
package paint

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ToGateway is a reference to a Gateway, in flow style.
const ToGateway = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}"

// GroupKind is that of the policies.
var GroupKind = model.GroupKind{Group: "x.io", Kind: "Paint"}

// Limits are the lines of a descriptor with named rules, fillers, conditions and deactivation
// lists.
func Limits() []string {
	return []string{"content: {fields: [limits, when], condition: when, unset: [unset, remove]}",
		"rules: [limits.*, {path: when, filler: true}]",
		"strategy: {read: [block.strategy, spec.strategy], values: {atomic: atomic, merge: merge}, default: atomic}"}
}

// Kind is a descriptor with the given lines.
func Kind(lines ...string) string {
	return "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\n" + strings.Join(lines, "\n") + "\n"
}

// CRD is a CustomResourceDefinition with the label value and, in flow style, the properties of its
// spec.
func CRD(label, properties string) string {
	labels := ""
	if label != "" {
		labels = `, labels: {gateway.networking.k8s.io/policy: "` + label + `"}`
	}
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: paints.x.io" +
		labels + "}\n" +
		"spec: {group: x.io, scope: Namespaced, names: {kind: Paint, plural: paintz, shortNames: [pt]}, versions: [{name: v1, storage: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {" + properties + "}}}}}}]}\n---\n"
}

// Policy is a policy with the given spec, in flow style.
func Policy(spec string) string {
	return "apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: p, namespace: demo}\nspec: " + spec + "\n---\n"
}

// Objects reads manifests, up to the first that is no object.
func Objects(manifests string) []*model.Object {
	var out []*model.Object
	dec := yaml.NewDecoder(strings.NewReader(manifests))
	for {
		var body map[string]any
		if dec.Decode(&body) != nil {
			return out
		}
		if body != nil {
			out = append(out, Object(Values(body).(map[string]any)))
		}
	}
}

// Read reads one manifest.
func Read(t testing.TB, manifest string) *model.Object {
	t.Helper()
	objects := Objects(manifest)
	if len(objects) != 1 {
		t.Fatalf("%d objects in %s", len(objects), manifest)
	}
	return objects[0]
}

// Object is an object with the body.
func Object(body map[string]any) *model.Object {
	group, version, found := strings.Cut(model.Text(body, "apiVersion"), "/")
	if !found {
		group, version = "", group
	}
	o := &model.Object{Version: version, Body: model.Pack(body, nil), Labels: map[string]string{},
		Origin: model.Origin{File: "in.yaml", Line: 1},
		Ref: model.Ref{Group: group, Kind: model.Text(body, "kind"), Namespace: model.Text(body, "metadata",
			"namespace"), Name: model.Text(body, "metadata", "name")}}
	labels, _ := model.Get(body, "metadata", "labels").(map[string]any)
	for key := range labels {
		o.Labels[key] = model.Text(labels, key)
	}
	return o
}

// Values turns what the YAML decoder makes of numbers into what objects hold.
func Values(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = Values(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = Values(v[key])
		}
	}
	return v
}
