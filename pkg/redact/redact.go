package redact

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

const redacted = model.Redacted

// Policy is the content of the policy's object without the values of its settings: their names
// stay, and so do references to targets, strategies and deactivated names. Whatever else is in the
// spec is left out.
func (r *Redactor) Policy(p *policy.Policy) any {
	if p.Kind.Scopes != nil {
		return r.redactParts(p)
	}
	whole, _ := p.Object.Body.Value().(map[string]any)
	out := r.Object(p.Object)
	keep := func(path ...string) {
		if v := keepWords(model.Get(whole, path...)); v != nil {
			putAt(out, path, v)
		}
	}
	for _, ref := range p.Kind.Refs {
		if len(ref.At) == 0 {
			continue // a function finds the targets
		}
		if v := keepReferences(model.Get(whole, ref.At...)); v != nil {
			putAt(out, ref.At, v)
		}
	}
	words := slices.Concat(p.Kind.Strategy.Fields(), p.Kind.Content.Unset)
	for _, b := range p.Blocks {
		at := p.Kind.Content.BlockPath(b.Kind)
		if model.Get(out, at...) == nil {
			putAt(out, at, map[string]any{})
		}
		for _, word := range words {
			keep(append(slices.Clone(at), word)...)
		}
		if c := p.Kind.Content.Condition; c != "" && model.Get(whole, append(slices.Clone(at), c)...) != nil {
			putAt(out, append(slices.Clone(at), c), redacted)
		}
		for _, u := range b.Units {
			putSetting(p.Kind, whole, out, at, u.Path)
		}
	}
	for _, word := range words {
		keep(append(slices.Clone(p.Kind.Content.At), word)...)
	}
	return out
}

// keepReferences returns references to targets, without anything else that stands beside their
// fields.
func keepReferences(v any) any {
	fields := []string{"group", "kind", "namespace", "name", "sectionName", "matchLabels", "matchExpressions",
		"labels", "tags", "mesh", "proxyTypes"}
	switch v.(type) {
	case []any:
		return selectFields(v, fields...)
	case map[string]any:
		return selectFields([]any{v}, fields...)[0]
	}
	return nil
}

// selectFields returns a list of objects with some of their fields; nil if v is none.
func selectFields(v any, fields ...string) []any {
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

// keepWords returns a word or a list of words, nil if v is anything else.
func keepWords(v any) any {
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

// putSetting puts a setting without its value into the block at a path. Of the entries of a keyed
// list only the keys stay.
func putSetting(k *policy.Kind, whole, out map[string]any, at []string, where merge.Path) {
	path := slices.Clone(at)
	for _, seg := range where {
		if seg.Form != merge.Key {
			putAt(out, path, selectKeys(k, model.Get(whole, path...)))
			return
		}
		path = append(path, seg.Name)
	}
	if len(where) == 0 {
		path = append(path, "redacted")
	}
	putAt(out, path, redacted)
}

// selectKeys returns a list whose entries have nothing but what tells them apart.
func selectKeys(k *policy.Kind, v any) any {
	keys := []string{"name"}
	for _, pattern := range k.Rules {
		keys = append(keys, pattern.Keys...)
	}
	if _, one := v.(map[string]any); one {
		v = []any{v}
	}
	return selectFields(v, keys...)
}

// putAt sets the value at a path of maps, which it makes where they are missing.
func putAt(m map[string]any, path []string, v any) {
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

// redactParts returns the content of a policy whose settings are in parts: every value is taken out
// but for references to targets and what rules match, which tells them apart. Lists keep their
// lengths.
func (r *Redactor) redactParts(p *policy.Policy) any {
	out := r.Object(p.Object)
	roots := map[string]bool{}
	for _, part := range p.Kind.Parts {
		for _, path := range [][]string{part.List, part.At} {
			if len(path) > 0 {
				roots[path[0]] = true
			}
		}
	}
	for root := range roots {
		if v := p.Object.Body.Field(root); !v.IsNull() {
			out[root] = r.removeValues(v)
		}
	}
	return out
}

// matchPatterns is what stays of the matches of rules, which tell these apart.
var matchPatterns = parsePatterns(Row{Paths: []string{"**.{headers,queryParams}.{name,type,value#}",
	"**.{path,method,service}", "**.{path,method}.{type,value,service,method}"}})

// selectorPatterns is what stays of selectors.
var selectorPatterns = parsePatterns(Row{Paths: []string{"**.{matchLabels,labels}.*",
	"**.{matchExpressions}.{key,operator,values}"}})

// removeValues returns v with every scalar taken out but those of targets and matches.
func (r *Redactor) removeValues(v model.Body) any {
	switch {
	case v.IsObject():
		out := make(map[string]any, v.Len())
		for key, inner := range v.Fields {
			switch key {
			case "targetRef", "targetRefs", "serverRef":
				out[key] = keepReferences(inner.Value())
			case "selector", "podSelector", "namespaceSelector", "workloadSelector", "externalWorkloadSelector":
				c := objectCopier{Redactor: r}
				out[key] = c.copyValue(inner, selectorPatterns, "")
			case "matches":
				c := objectCopier{Redactor: r}
				out[key] = c.copyValue(inner, matchPatterns, "")
			default:
				out[key] = r.removeValues(inner)
			}
		}
		return out
	case v.IsList():
		out := make([]any, 0, v.Len())
		for _, inner := range v.Items {
			out = append(out, r.removeValues(inner))
		}
		return out
	case v.IsNull():
		return nil
	}
	return redacted
}
