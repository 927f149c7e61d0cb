package agentgateway

import (
	"maps"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// readsDelay reports whether a text is a duration or an expression.
func readsDelay(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil || expression.Syntax(text) == nil
}

// units rewrites a policy as the controller cuts it: conditional rate limits are a local and a global one as well; what is not translated, and
// maps without entries, do not count; and an InferencePool has no sections.
func units(_ *model.Object, body any, _ model.Settings) any {
	spec := child(body, "spec")
	if spec == nil {
		return body
	}
	spec = maps.Clone(spec)
	for _, refs := range []string{"targetRefs", "targetSelectors"} {
		if list, ok := spec[refs].([]any); ok {
			spec[refs] = wholePools(list)
		}
	}
	if traffic := child(spec, "traffic"); traffic != nil {
		spec["traffic"] = translated(traffic)
	}
	if ai := child(child(spec, "backend"), "ai"); ai != nil {
		ai = maps.Clone(ai)
		for _, field := range []string{"modelAliases", "routes"} {
			if m := child(ai, field); m != nil && len(m) == 0 {
				delete(ai, field)
			}
		}
		backend := maps.Clone(child(spec, "backend"))
		backend["ai"] = ai
		spec["backend"] = backend
	}
	out := maps.Clone(body.(map[string]any))
	out["spec"] = spec
	return out
}

// translated is what becomes of the traffic settings of a policy.
func translated(traffic map[string]any) map[string]any {
	out := maps.Clone(traffic)
	if m := child(out, "timeouts"); m != nil && m["request"] == nil {
		delete(out, "timeouts")
	}
	if m := child(out, "directResponse"); m != nil && m["status"] == nil && m["conditional"] == nil {
		delete(out, "directResponse")
	}
	if text, ok := child(out, "delay")["duration"].(string); ok && !readsDelay(text) {
		delete(out, "delay")
	}
	if limits := child(out, "rateLimit"); limits != nil && limits["conditional"] != nil {
		limits = maps.Clone(limits)
		list, _ := limits["conditional"].([]any)
		for _, field := range []string{"local", "global"} {
			if entries := entriesWith(list, field); entries != nil {
				limits[field] = map[string]any{"conditional": entries}
			}
		}
		out["rateLimit"] = limits
	}
	return out
}

// entriesWith are the conditional entries that set a field, with that field alone.
func entriesWith(list []any, field string) []any {
	var out []any
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		set := child(m, "policy")
		if set[field] == nil {
			continue
		}
		entry := maps.Clone(m)
		entry["policy"] = map[string]any{field: set[field]}
		out = append(out, entry)
	}
	return out
}

// wholePools takes the sections off references to InferencePools.
func wholePools(list []any) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e
		if m, ok := e.(map[string]any); ok && m["kind"] == "InferencePool" && m["sectionName"] != nil {
			m = maps.Clone(m)
			delete(m, "sectionName")
			out[i] = m
		}
	}
	return out
}

// child is a field that is an object; nil if it is not there.
func child(v any, field string) map[string]any {
	m, _ := v.(map[string]any)
	out, _ := m[field].(map[string]any)
	return out
}
