package policy

import (
	"maps"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// redactParts is the content of a policy whose settings are in parts: every value is taken out but for references to targets and what rules
// match, which tells them apart. Lists keep their lengths.
func (p *Policy) redactParts() any {
	out := RedactedObject(p.Object)
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
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for key, inner := range t {
			if key == "targetRef" || key == "matches" {
				out[key] = inner
			} else {
				out[key] = withoutValues(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, inner := range t {
			out[i] = withoutValues(inner)
		}
		return out
	case nil:
		return nil
	}
	return redacted
}

// WithoutInline is the content of an object that is no policy, without data that stands in it instead of in a Secret.
func WithoutInline(o *model.Object) any { return withoutInline(o.Body.Value()) }

func withoutInline(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := maps.Clone(t)
		for key, inner := range t {
			if strings.HasPrefix(key, "inline") {
				out[key] = redacted
			} else {
				out[key] = withoutInline(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, inner := range t {
			out[i] = withoutInline(inner)
		}
		return out
	}
	return v
}
