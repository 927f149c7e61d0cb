package view

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// foreignReferences reports rules that come from a policy in another namespace than the target's and name an object without a
// namespace: the name means an object of the policy's namespace, which the target's owner may not see.
func foreignReferences(item *EffectivePolicy) []model.Problem {
	if item.Target.Namespace == "" { // there is no namespace that the name could be taken to be in
		return nil
	}
	var out []model.Problem
	for _, r := range item.Rules {
		for _, s := range r.Sources {
			if s.Policy == nil || s.Policy.Namespace == item.Target.Namespace || s.Policy.Namespace == "" {
				continue
			}
			if name := bareReference(merge.Plain(r.Value)); name != "" {
				out = append(out, model.Problem{Severity: model.Warning, Code: model.ForeignReference, Ref: s.Policy, Origin: s.Origin,
					Message: fmt.Sprintf("%s is in force in namespace %s and refers to %q without a namespace: it means one in %s", r.Name, item.Target.Namespace, name, s.Policy.Namespace)})
			}
		}
	}
	return out
}

// bareReference finds the name in the first field called …Ref that has a name and no namespace.
func bareReference(v any) string {
	switch t := v.(type) {
	case map[string]any:
		for key, inner := range ordered(t) {
			if name := bareName(key, inner); name != "" {
				return name
			}
			if name := bareReference(inner); name != "" {
				return name
			}
		}
	case []any:
		for _, entry := range t {
			if name := bareReference(entry); name != "" {
				return name
			}
		}
	}
	return ""
}

// bareName is the name in a field if it is a reference without a namespace.
func bareName(key string, v any) string {
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

// refersBarely reports whether bareReference finds a name.
func refersBarely(v any) bool {
	switch t := v.(type) {
	case model.Body:
		return bodyRefersBarely(t)
	case map[string]any:
		for key, inner := range t {
			if bareName(key, inner) != "" || refersBarely(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(t, refersBarely)
	}
	return false
}

func bodyRefersBarely(b model.Body) bool {
	for key, inner := range b.Fields {
		if bareName(key, inner) != "" || bodyRefersBarely(inner) {
			return true
		}
	}
	for _, inner := range b.Items {
		if bodyRefersBarely(inner) {
			return true
		}
	}
	return false
}

// ordered are the entries of a map by key.
func ordered(m map[string]any) iter.Seq2[string, any] {
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
