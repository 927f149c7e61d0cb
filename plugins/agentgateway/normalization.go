package agentgateway

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

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
	if backend := objectField(spec, "backend"); backend != nil {
		spec["backend"] = translateBackend(backend)
	}
	out := maps.Clone(body.(map[string]any))
	out["spec"] = spec
	return out
}

// translateBackend is what becomes of the settings of a policy for backends.
func translateBackend(backend map[string]any) map[string]any {
	out := maps.Clone(backend)
	if ai := objectField(out, "ai"); ai != nil {
		ai = maps.Clone(ai)
		for _, field := range []string{"modelAliases", "routes"} {
			if m := objectField(ai, field); m != nil && len(m) == 0 {
				delete(ai, field)
			}
		}
		out["ai"] = ai
	}
	if auth := objectField(out, "auth"); auth != nil && auth["credentials"] == nil &&
		findPrimaryAuth(func(field string) bool { return auth[field] != nil && auth[field] != "" }) == "" {
		delete(out, "auth")
	}
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
	if m := objectField(out, "delay"); m != nil {
		if text, _ := m["duration"].(string); !isDelay(text) {
			delete(out, "delay")
		}
	}
	if m := objectField(out, "transformation"); m != nil && m["conditional"] == nil && !transforms(m["request"]) &&
		!transforms(m["response"]) {
		delete(out, "transformation")
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

// transforms reports whether one side of a transformation does something.
func transforms(v any) bool {
	m, _ := v.(map[string]any)
	for _, field := range []string{"set", "add", "metadata"} {
		switch v := m[field].(type) {
		case []any:
			if len(v) > 0 {
				return true
			}
		case map[string]any:
			if len(v) > 0 {
				return true
			}
		}
	}
	return m["remove"] != nil || m["body"] != nil
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
