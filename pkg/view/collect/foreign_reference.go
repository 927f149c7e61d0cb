package collect

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// reportForeignReferences reports rules that come from a policy in another namespace than the
// target's and refer to an object without a namespace: the name means an object of the policy's
// namespace, which the target's owner may not see.
func reportForeignReferences(item *view.EffectivePolicy) []model.Problem {
	if item.Target.Namespace == "" { // the name cannot be mistaken for one in the target's namespace
		return nil
	}
	var out []model.Problem
	for _, r := range item.Rules {
		for _, s := range r.Sources {
			if s.Policy == nil || s.Policy.Namespace == item.Target.Namespace || s.Policy.Namespace == "" {
				continue
			}
			if name := findBareReference(merge.Unpack(r.Value)); name != "" {
				out = append(out, model.Problem{Severity: model.Warning, Code: model.ForeignReference, Ref: s.Policy,
					Origin: s.Origin,
					Message: fmt.Sprintf(
						"%s is in force in namespace %s and refers to %q without a namespace: it means one in %s",
						r.Name, item.Target.Namespace, name, s.Policy.Namespace)})
			}
		}
	}
	return out
}

// findBareReference returns the name in the first field called …Ref that has a name and no
// namespace; "" if there is none.
func findBareReference(v any) string {
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range sortedEntries(t) {
			if name := bareReferenceName(key, inner); name != "" {
				return name
			}
			if name := findBareReference(inner); name != "" {
				return name
			}
		}
	case []any:
		for _, entry := range t {
			if name := findBareReference(entry); name != "" {
				return name
			}
		}
	}
	return ""
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

// hasBareReference reports whether findBareReference finds a name.
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
