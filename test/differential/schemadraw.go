package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// words are texts that many patterns of definitions take.
var words = []string{"a", "b", "web", "shop.example.com", "*.example.com", "/x", "10s", "5m", "1h", "1Mi", "10%", "80", "GET", "https://example.com", "10.0.0.0/8", "192.0.2.1",
	"x-a", "request.path == '/'", "HTTPRoute", "gateway.networking.k8s.io", "2024-01-01T00:00:00Z", "", "not a name", "UPPER"}

// schemaSource draws values that schemas describe.
type schemaSource struct {
	draw.Source
	more int // in so many of a hundred cases an optional field is there
	bad  int // in so many of a thousand cases a value is anything
}

// value draws a value of a schema. Optional fields become rarer further down.
func (g schemaSource) value(schema object, depth int) any {
	if g.IntN(1000) < g.bad {
		return draw.Pick[any](g.Source, nil, "", "a b", -1, 70000, 1.5, true, []any{}, object{}, []any{"a", "a"}, object{"a": "b"})
	}
	if values, ok := schema["enum"].([]any); ok {
		return draw.Pick(g.Source, values...)
	}
	if schema["x-kubernetes-int-or-string"] == true {
		return draw.Pick[any](g.Source, 80, "10%", "http")
	}
	switch schema["type"] {
	case "object":
		return g.object(schema, depth)
	case "array":
		return g.list(schema, depth)
	case "string":
		return g.text(schema)
	case "integer":
		return g.number(schema)
	case "number":
		return draw.Pick[any](g.Source, 1, 0.5, 2)
	case "boolean":
		return g.Chance(50)
	}
	return object{"a": "b"}
}

// object draws the fields of an object: those that are required, one of alternatives, and some of the others.
func (g schemaSource) object(schema object, depth int) any {
	out := object{}
	fields, _ := schema["properties"].(object)
	required, _ := schema["required"].([]any)
	if alternatives, ok := schema["oneOf"].([]any); ok {
		if one, ok := draw.Pick(g.Source, alternatives...).(object); ok {
			more, _ := one["required"].([]any)
			required = append(slices.Clone(required), more...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, _ := fields[name].(object)
		if name == "status" && depth == 0 || !slices.Contains(required, any(name)) && !g.Chance(g.more/(depth+1)) {
			continue
		}
		out[name] = g.value(field, depth+1)
	}
	if entries, ok := schema["additionalProperties"].(object); ok {
		for _, key := range draw.Some(g.Source, 30, "a", "b") {
			out[key] = g.value(entries, depth+1)
		}
	}
	if g.IntN(1000) < g.bad {
		out["unknown"] = 1
	}
	return out
}

func (g schemaSource) list(schema object, depth int) any {
	low, _ := schema["minItems"].(float64)
	items, _ := schema["items"].(object)
	var out []any
	for range g.Between(max(1, int(low)), max(2, int(low))) {
		out = append(out, g.value(items, depth+1))
	}
	return out
}

func (g schemaSource) text(schema object) any {
	low, _ := schema["minLength"].(float64)
	pattern, _ := schema["pattern"].(string)
	fits, err := regexp.Compile(pattern)
	var good []string
	for _, word := range words {
		if err == nil && fits.MatchString(word) && len(word) >= int(low) && !strings.Contains(word, " ") {
			good = append(good, word)
		}
	}
	if len(good) == 0 {
		good = words
	}
	return draw.Pick(g.Source, good...)
}

func (g schemaSource) number(schema object) any {
	low, hasLow := schema["minimum"].(float64)
	high, hasHigh := schema["maximum"].(float64)
	if !hasLow {
		low = 1
	}
	if !hasHigh {
		high = low + 100
	}
	return int(low) + g.IntN(int(high-low)%1000+1)
}
