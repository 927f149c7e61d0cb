package schema

// RemoveDescriptions removes what is for people from a schema and from everything in it. A property
// may be called so: its value is an object.
func RemoveDescriptions(v any) {
	switch t := v.(type) {
	case map[string]any:
		for _, key := range []string{"description", "title", "externalDocs"} {
			if _, isText := t[key].(string); isText {
				delete(t, key)
			}
		}
		for _, inner := range t {
			RemoveDescriptions(inner)
		}
	case []any:
		for _, inner := range t {
			RemoveDescriptions(inner)
		}
	}
}
