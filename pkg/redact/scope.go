package redact

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

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
