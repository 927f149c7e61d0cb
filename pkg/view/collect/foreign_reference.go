package collect

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// reportForeignReferences reports rules that come from a policy in another namespace than the
// target's and refer to an object without a namespace, where one could be written: the name means an
// object of the policy's namespace. Where that is there, it is what is meant.
func reportForeignReferences(in *model.Snapshot, k *resolve.Kind, item *view.EffectivePolicy) []model.Problem {
	if item.Target.Namespace == "" { // the name cannot be mistaken for one in the target's namespace
		return nil
	}
	var out []model.Problem
	for _, r := range item.Rules {
		for _, s := range r.Sources {
			if s.Policy == nil || s.Policy.Namespace == item.Target.Namespace || s.Policy.Namespace == "" {
				continue
			}
			for _, ref := range findBareReferences(merge.Unpack(r.Value)) {
				if !slices.Contains(k.NamespacedRefs, ref.field) || !ref.isAbsent(in, s.Policy.Namespace) {
					continue
				}
				out = append(out, model.Problem{Severity: model.Warning, Code: model.ForeignReference, Ref: s.Policy,
					Origin: s.Origin,
					Message: fmt.Sprintf(
						"%s is in force in namespace %s and refers to %q without a namespace: it means one in %s, where none is",
						r.Name, item.Target.Namespace, ref.name, s.Policy.Namespace)})
				break
			}
		}
	}
	return out
}

// bareReference is a reference without a namespace.
type bareReference struct{ field, group, kind, name string }

// isAbsent reports whether nothing that is known makes the object be in a namespace. Without a kind
// it may be of any.
func (b bareReference) isAbsent(in *model.Snapshot, namespace string) bool {
	ref := model.Ref{Group: b.group, Kind: b.kind, Namespace: namespace, Name: b.name}
	switch {
	case ref.Kind != "":
	case strings.HasSuffix(strings.ToLower(b.field), "secretref"):
		ref.Kind = "Secret"
	case b.field == "backendRef":
		ref.Kind = "Service"
	default:
		if in.FindOmission(model.GroupKind{}, namespace) != nil {
			return false
		}
		return !slices.ContainsFunc(in.Kinds(), func(gk model.GroupKind) bool {
			ref.Group, ref.Kind = gk.Group, gk.Kind
			return in.Get(ref) != nil
		})
	}
	return in.FindExistence(ref).IsAbsent()
}

// findBareReferences returns the fields called …Ref that have a name and no namespace.
func findBareReferences(v any) []bareReference {
	var out []bareReference
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range sortedEntries(t) {
			if name := bareReferenceName(key, inner); name != "" {
				out = append(out, bareReference{key, model.Text(inner, "group"), model.Text(inner, "kind"), name})
			}
			out = append(out, findBareReferences(inner)...)
		}
	case []any:
		for _, entry := range t {
			out = append(out, findBareReferences(entry)...)
		}
	}
	return out
}

// bareReferenceName returns the name in a field if the field is a reference without a namespace.
func bareReferenceName(key string, v any) string {
	if !strings.HasSuffix(key, "Ref") {
		return ""
	}
	switch ref := v.(type) {
	case model.Body:
		if ref.Field("namespace").IsNull() {
			return ref.Text("name")
		}
	case map[string]any:
		if ref["namespace"] == nil {
			return model.Text(ref, "name")
		}
	}
	return ""
}

// hasBareReference reports whether findBareReferences finds any.
func hasBareReference(v any) bool {
	switch t := v.(type) {
	case model.Body:
		return bodyHasBareReference(t)
	case map[string]any:
		for key, inner := range t {
			if bareReferenceName(key, inner) != "" || hasBareReference(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(t, hasBareReference)
	}
	return false
}

func bodyHasBareReference(b model.Body) bool {
	for key, inner := range b.Fields {
		if bareReferenceName(key, inner) != "" || bodyHasBareReference(inner) {
			return true
		}
	}
	for _, inner := range b.Items {
		if bodyHasBareReference(inner) {
			return true
		}
	}
	return false
}

// sortedEntries iterates over the entries of a map by key.
func sortedEntries(m map[string]any) iter.Seq2[string, any] {
	if len(m) < 2 {
		return maps.All(m)
	}
	return func(yield func(string, any) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
