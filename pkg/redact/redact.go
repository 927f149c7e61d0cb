package redact

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// redacted stands for a value that was taken out.
const redacted = "REDACTED"

// Policy is the content of the policy's object without the values of its settings: their names stay, and so do references to targets,
// strategies and deactivated names. Whatever else is in the spec is left out, and so are annotations and the messages of conditions.
func Policy(p *policy.Policy) any {
	if p.Kind.Scopes != nil {
		return parts(p)
	}
	whole, _ := p.Object.Body.Value().(map[string]any)
	out := Object(p.Object)
	keep := func(path ...string) {
		if v := names(model.Get(whole, path...)); v != nil {
			put(out, path, v)
		}
	}
	for _, ref := range p.Kind.Refs {
		if v := references(model.Get(whole, ref.At...)); v != nil {
			put(out, ref.At, v)
		}
	}
	words := slices.Concat(p.Kind.Strategy.Fields(), p.Kind.Content.Unset)
	for _, b := range p.Blocks {
		at := p.Kind.Content.BlockPath(b.Kind)
		if model.Get(out, at...) == nil {
			put(out, at, map[string]any{})
		}
		for _, word := range words {
			keep(append(slices.Clone(at), word)...)
		}
		if c := p.Kind.Content.Condition; c != "" && model.Get(whole, append(slices.Clone(at), c)...) != nil {
			put(out, append(slices.Clone(at), c), redacted)
		}
		for _, u := range b.Units {
			setting(p.Kind, whole, out, at, u.Path)
		}
	}
	for _, word := range words {
		keep(append(slices.Clone(p.Kind.Content.At), word)...)
	}
	return out
}

// Object is as much of an object as may be shown of one that is not known to be harmless: its identity, labels and age, and its
// conditions, its own and those by ancestor, without their messages, which may repeat what the policy sets.
func Object(o *model.Object) map[string]any {
	out := map[string]any{}
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "labels"},
		{"metadata", "creationTimestamp"}, {"metadata", "generation"}, {"metadata", "ownerReferences"}} {
		if v := o.Get(path...); v != nil {
			put(out, path, v)
		}
	}
	if conditions := conditionsOnly(o.Get("status", "conditions")); conditions != nil {
		put(out, []string{"status", "conditions"}, conditions)
	}
	if ancestors := onlyFields(o.Get("status", "ancestors"), "ancestorRef", "controllerName", "conditions"); ancestors != nil {
		for _, a := range ancestors {
			entry, _ := a.(map[string]any)
			if ref := onlyFields([]any{entry["ancestorRef"]}, "group", "kind", "namespace", "name", "sectionName", "port"); entry["ancestorRef"] != nil {
				entry["ancestorRef"] = ref[0]
			}
			if entry["conditions"] != nil {
				entry["conditions"] = conditionsOnly(entry["conditions"])
			}
		}
		put(out, []string{"status", "ancestors"}, ancestors)
	}
	return out
}

// conditionsOnly are conditions without their messages.
func conditionsOnly(v any) []any {
	return onlyFields(v, "type", "status", "reason", "observedGeneration")
}

// references are references to targets, without anything else that stands beside their fields.
func references(v any) any {
	fields := []string{"group", "kind", "namespace", "name", "sectionName", "matchLabels", "matchExpressions"}
	switch v.(type) {
	case []any:
		return onlyFields(v, fields...)
	case map[string]any:
		return onlyFields([]any{v}, fields...)[0]
	}
	return nil
}

// onlyFields is a list of objects with some of their fields; nil if v is none.
func onlyFields(v any, fields ...string) []any {
	list, _ := v.([]any)
	var out []any
	for _, e := range list {
		entry := map[string]any{}
		for _, f := range fields {
			if value := model.Get(e, f); value != nil {
				entry[f] = value
			}
		}
		out = append(out, entry)
	}
	return out
}

// names are a word or a list of words, nil if v is anything else.
func names(v any) any {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		for _, e := range v {
			if _, ok := e.(string); !ok {
				return nil
			}
		}
		return v
	}
	return nil
}

// setting puts a setting without its value into the block at a path. Of the entries of a keyed list only the keys stay.
func setting(k *policy.Kind, whole, out map[string]any, at []string, where merge.Path) {
	path := slices.Clone(at)
	for _, seg := range where {
		if seg.Form != merge.Key {
			put(out, path, keysOnly(k, model.Get(whole, path...)))
			return
		}
		path = append(path, seg.Name)
	}
	if len(where) == 0 {
		path = append(path, "redacted")
	}
	put(out, path, redacted)
}

// keysOnly is a list whose entries have nothing but what tells them apart.
func keysOnly(k *policy.Kind, v any) any {
	keys := []string{"name"}
	for _, pattern := range k.Rules {
		keys = append(keys, pattern.Keys...)
	}
	if _, one := v.(map[string]any); one {
		v = []any{v}
	}
	return onlyFields(v, keys...)
}

// put sets the value at a path of maps, which it makes where they are missing.
func put(m map[string]any, path []string, v any) {
	for _, key := range path[:len(path)-1] {
		inner, ok := m[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			m[key] = inner
		}
		m = inner
	}
	m[path[len(path)-1]] = v
}

// parts is the content of a policy whose settings are in parts: every value is taken out but for references to targets and what rules
// match, which tells them apart. Lists keep their lengths.
func parts(p *policy.Policy) any {
	out := Object(p.Object)
	roots := map[string]bool{}
	for _, part := range p.Kind.Parts {
		for _, path := range [][]string{part.Each, part.At} {
			if len(path) > 0 {
				roots[path[0]] = true
			}
		}
	}
	for root := range roots {
		if v := p.Object.Get(root); v != nil {
			out[root] = withoutValues(v)
		}
	}
	return out
}

// withoutValues is v with every scalar taken out.
func withoutValues(v any) any {
	return rewritten(v, func(key string, inner any) (any, bool) { return inner, key == "targetRef" || key == "matches" }, func(scalar any) any {
		if scalar == nil {
			return nil
		}
		return redacted
	})
}

// WithoutInline is the content of an object that is no policy, without data that stands in it instead of in a Secret.
func WithoutInline(o *model.Object) any {
	return rewritten(o.Body.Value(), func(key string, _ any) (any, bool) { return redacted, strings.HasPrefix(key, "inline") }, func(scalar any) any { return scalar })
}

// rewritten is a copy of v: what field returns of fields that it knows, and all other scalars as scalar returns them.
func rewritten(v any, field func(key string, inner any) (out any, known bool), scalar func(any) any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for key, inner := range t {
			value, known := field(key, inner)
			if !known {
				value = rewritten(inner, field, scalar)
			}
			out[key] = value
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, inner := range t {
			out[i] = rewritten(inner, field, scalar)
		}
		return out
	}
	return scalar(v)
}
