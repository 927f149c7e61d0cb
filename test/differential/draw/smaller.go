package draw

import "slices"

// Places are the paths of all fields and entries, the upper ones first.
func Places(v any, at []any) [][]any {
	var out [][]any
	add := func(key, inner any) {
		path := append(slices.Clone(at), key)
		out = append(out, path)
		out = append(out, Places(inner, path)...)
	}
	switch v := v.(type) {
	case map[string]any:
		var keys []string
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			add(key, v[key])
		}
	case []any:
		for i, inner := range v {
			add(i, inner)
		}
	}
	slices.SortStableFunc(out, func(a, b []any) int { return len(a) - len(b) })
	return out
}

// Without takes what is at a path out of a tree.
func Without(v any, path []any) (any, bool) {
	changed := false
	switch v := v.(type) {
	case map[string]any:
		key, ok := path[0].(string)
		if !ok {
			return v, false
		}
		inner, has := v[key]
		if !has {
			return v, false
		}
		if len(path) == 1 {
			delete(v, key)
			return v, true
		}
		v[key], changed = Without(inner, path[1:])
	case []any:
		i, ok := path[0].(int)
		if !ok || i >= len(v) {
			return v, false
		}
		if len(path) == 1 {
			return slices.Delete(v, i, i+1), true
		}
		v[i], changed = Without(v[i], path[1:])
	}
	return v, changed
}
