package ocm

import (
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// replicaFields are the fields of a policy that its replicas have. The others say where it goes, or
// are the hub's business.
var replicaFields = []string{"remediationAction", "dependencies", "hubTemplateOptions"}

// toReplica makes of a policy what it brings to a cluster: below the name of its replicas, so that
// all policies of a cluster have room in one document, with the templates by name. A replica itself
// brings nothing.
func toReplica(o *model.Object, body any, _ model.Settings) any {
	root, _ := body.(map[string]any)
	spec, ok := root["spec"].(map[string]any)
	if isReplica(o) || !ok {
		if ok {
			root["spec"] = map[string]any{}
		}
		return body
	}
	one := map[string]any{}
	for _, field := range replicaFields {
		if v := spec[field]; v != nil {
			one[field] = v
		}
	}
	if list, ok := spec["policy-templates"].([]any); ok && len(list) > 0 {
		named := make(map[string]any, len(list))
		for i, name := range nameTemplates(list) {
			named[name] = list[i]
		}
		one["policy-templates"] = named
	}
	root["spec"] = map[string]any{"policies": map[string]any{o.Ref.Namespace + "." + o.Ref.Name: one}}
	return root
}

// nameTemplates are the names of the objects in templates; where several have one name, the kind
// tells them apart, and then a number.
func nameTemplates(list []any) []string {
	names, count := make([]string, len(list)), map[string]int{}
	for i, t := range list {
		object, _ := valueAt(t, "objectDefinition").(map[string]any)
		name, _ := valueAt(object, "metadata", "name").(string)
		if name == "" {
			name = "template-" + strconv.Itoa(i+1)
		}
		names[i] = name
		count[name]++
	}
	seen := map[string]int{}
	for i, t := range list {
		if count[names[i]] > 1 {
			if kind, _ := valueAt(t, "objectDefinition", "kind").(string); kind != "" {
				names[i] += "." + kind
			}
		}
		if seen[names[i]]++; seen[names[i]] > 1 {
			names[i] = fmt.Sprintf("%s-%d", names[i], seen[names[i]])
		}
	}
	return names
}

// valueAt is the value at a path below objects; nil where there is none.
func valueAt(v any, path ...string) any {
	for _, key := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[key]
	}
	return v
}
