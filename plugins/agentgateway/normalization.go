package agentgateway

import (
	"maps"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// isDelay reports whether a text is a duration or an expression.
func isDelay(text string) bool {
	_, err := time.ParseDuration(text)
	return err == nil || expression.CheckSyntax(text) == nil
}

// normalizePolicy rewrites a policy as the controller cuts it: conditional rate limits are a local
// and a global one as well; what is not translated, and maps without entries, do not count; and an
// InferencePool has no sections.
func normalizePolicy(_ *model.Object, body any, _ model.Settings) any {
	spec := objectField(body, "spec")
	if spec == nil {
		return body
	}
	spec = maps.Clone(spec)
	for _, refs := range []string{"targetRefs", "targetSelectors"} {
		if list, ok := spec[refs].([]any); ok {
			spec[refs] = dropPoolSections(list)
		}
	}
	if traffic := objectField(spec, "traffic"); traffic != nil {
		spec["traffic"] = translateTraffic(traffic)
	}
	if ai := objectField(objectField(spec, "backend"), "ai"); ai != nil {
		ai = maps.Clone(ai)
		for _, field := range []string{"modelAliases", "routes"} {
			if m := objectField(ai, field); m != nil && len(m) == 0 {
				delete(ai, field)
			}
		}
		backend := maps.Clone(objectField(spec, "backend"))
		backend["ai"] = ai
		spec["backend"] = backend
	}
	out := maps.Clone(body.(map[string]any))
	out["spec"] = spec
	return out
}

// translateTraffic is what becomes of the traffic settings of a policy.
func translateTraffic(traffic map[string]any) map[string]any {
	out := maps.Clone(traffic)
	if m := objectField(out, "timeouts"); m != nil && m["request"] == nil {
		delete(out, "timeouts")
	}
	if m := objectField(out, "directResponse"); m != nil && m["status"] == nil && m["conditional"] == nil {
		delete(out, "directResponse")
	}
	if text, ok := objectField(out, "delay")["duration"].(string); ok && !isDelay(text) {
		delete(out, "delay")
	}
	if limits := objectField(out, "rateLimit"); limits != nil && limits["conditional"] != nil {
		limits = maps.Clone(limits)
		list, _ := limits["conditional"].([]any)
		for _, field := range []string{"local", "global"} {
			if entries := filterEntries(list, field); entries != nil {
				limits[field] = map[string]any{"conditional": entries}
			}
		}
		out["rateLimit"] = limits
	}
	return out
}

// filterEntries are the conditional entries that set a field, with that field alone.
func filterEntries(list []any, field string) []any {
	var out []any
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		set := objectField(m, "policy")
		if set[field] == nil {
			continue
		}
		entry := maps.Clone(m)
		entry["policy"] = map[string]any{field: set[field]}
		out = append(out, entry)
	}
	return out
}

// dropPoolSections takes the sections off references to InferencePools.
func dropPoolSections(list []any) []any {
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

// objectField is a field that is an object; nil if it is not there.
func objectField(v any, field string) map[string]any {
	m, _ := v.(map[string]any)
	out, _ := m[field].(map[string]any)
	return out
}
