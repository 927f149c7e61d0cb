package mcp

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/docs/schema"
)

// buildOutputSchema returns the schema of a result: the answers of some kinds, with page. It has no descriptions, which
// clients would hand to a model with every list of the tools; formatSchemaAddress says where they are.
func buildOutputSchema(kinds []string) (map[string]any, error) {
	defs, choices := map[string]any{}, []any{}
	for _, kind := range kinds {
		one, err := readSchema(kind)
		if err != nil {
			return nil, err
		}
		if inner, is := one["$defs"].(map[string]any); is {
			maps.Copy(defs, inner)
		}
		delete(one, "$defs")
		delete(one, "$schema")
		defs[kind] = one
		choices = append(choices, map[string]any{"$ref": "#/$defs/" + kind})
	}
	out := map[string]any{"type": "object", "$defs": defs, "anyOf": choices,
		"properties": map[string]any{"complete": map[string]any{"type": "boolean"}, "page": buildPageSchema()},
		"required":   []any{"complete", "page"}}
	removeDescriptions(out)
	return out, nil
}

// buildPageSchema returns the schema of the part of a result that says which part of the answer it is.
func buildPageSchema() map[string]any {
	number := map[string]any{"type": "integer"}
	return map[string]any{"type": "object", "required": []any{"offset", "count", "total"},
		"properties": map[string]any{"offset": number, "count": number, "total": number,
			"continue":  map[string]any{"type": "string"},
			"shortened": map[string]any{"type": "array", "items": map[string]any{"type": "object"}}}}
}

// readSchema reads the schema of the answers of a kind.
func readSchema(kind string) (map[string]any, error) {
	text, err := schema.Read(kind)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", kind, err)
	}
	return out, nil
}

// removeDescriptions removes the texts for people from a schema, at every depth.
func removeDescriptions(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if _, text := inner.(string); text && (key == "description" || key == "title") {
				delete(v, key)
				continue
			}
			removeDescriptions(inner)
		}
	case []any:
		for _, inner := range v {
			removeDescriptions(inner)
		}
	}
}

// formatSchemaAddress returns the address of the resource with the schema of a kind, with descriptions.
func formatSchemaAddress(kind string) string { return "dopolicy://schema/" + kind }
