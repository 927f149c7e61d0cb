package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// foreignReferences reports rules that come from a policy in another namespace than the target's and name an object without a
// namespace: the name means an object of the policy's namespace, which the target's owner may not see.
func foreignReferences(item *EffectivePolicy) []model.Problem {
	var out []model.Problem
	for _, r := range item.Rules {
		for _, s := range r.Sources {
			if s.Policy == nil || s.Policy.Namespace == item.Target.Namespace || s.Policy.Namespace == "" {
				continue
			}
			if name := bareReference(r.Value); name != "" {
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
		for _, key := range slices.Sorted(maps.Keys(t)) {
			ref, _ := t[key].(map[string]any)
			if name := model.Text(ref, "name"); strings.HasSuffix(key, "Ref") && name != "" && ref["namespace"] == nil {
				return name
			}
			if name := bareReference(t[key]); name != "" {
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
