package policy

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// Nested is settings as they stand below the spec of a policy: where the settings root is deeper, with the objects around it.
func (k *Kind) Nested(settings any) any {
	if at := k.Content.At; k.Scope == nil && len(at) > 1 && at[0] == "spec" {
		for _, name := range slices.Backward(at[1:]) {
			settings = map[string]any{name: settings}
		}
	}
	return settings
}

// Render makes the document that conditions read: the policy bare, with its containers always there (engine E6).
func (p *Policy) Render(settings any) any {
	spec := map[string]any{}
	for _, pt := range p.Kind.Rules {
		if len(pt.Path) > 1 && pt.Path[0].Form == merge.Key && !pt.Filler && pt.Keys == nil && !pt.Numbers {
			spec[pt.Path[0].Name] = map[string]any{}
		}
	}
	if m, ok := settings.(map[string]any); ok {
		maps.Copy(spec, m)
	}
	o := p.Object
	return map[string]any{
		"apiVersion": o.Text("apiVersion"), "kind": o.Ref.Kind, "spec": spec,
		"metadata": map[string]any{"name": o.Ref.Name, "namespace": o.Ref.Namespace, "labels": texts(o.Labels), "annotations": texts(o.Annotations)},
	}
}

func texts(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
