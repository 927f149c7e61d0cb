package main

import (
	"context"
	"slices"
)

// reduce makes an input smaller as long as the difference stays: without objects, then without fields and entries of lists.
func (r *run) reduce(ctx context.Context, f *found) (*input, error) {
	p, err := r.start(ctx)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	still := func(in *input) bool {
		differences, _, err := r.compare(ctx, p, in)
		return err == nil && slices.ContainsFunc(differences, func(d difference) bool { return d.signature() == f.First.signature() })
	}
	best, err := f.Input.clone()
	if err != nil {
		return nil, err
	}
	for smaller := true; smaller && ctx.Err() == nil; {
		smaller = false
		for _, step := range steps(best) {
			try, err := best.clone()
			if err != nil {
				return nil, err
			}
			if step(try) && still(try) {
				best, smaller = try, true
				break
			}
		}
	}
	return best, nil
}

// steps are all ways to leave out one thing, the largest first.
func steps(in *input) []func(*input) bool {
	var out []func(*input) bool
	for i := range in.Objects {
		out = append(out, func(in *input) bool {
			in.Objects = slices.Delete(in.Objects, i, i+1)
			return true
		})
	}
	for i := range in.Questions {
		if len(in.Questions) > 1 {
			out = append(out, func(in *input) bool {
				in.Questions = []question{in.Questions[i]}
				return true
			})
		}
	}
	for i, o := range in.Objects {
		for _, path := range places(o["spec"], nil) {
			out = append(out, func(in *input) bool {
				spec, changed := without(in.Objects[i]["spec"], path)
				in.Objects[i]["spec"] = spec
				return changed
			})
		}
	}
	return out
}

// places are the paths of all fields and entries, the upper ones first.
func places(v any, at []any) [][]any {
	var out [][]any
	add := func(key, inner any) {
		path := append(slices.Clone(at), key)
		out = append(out, path)
		out = append(out, places(inner, path)...)
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

// without takes what is at a path out of a tree.
func without(v any, path []any) (any, bool) {
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
		v[key], changed = without(inner, path[1:])
	case []any:
		i, ok := path[0].(int)
		if !ok || i >= len(v) {
			return v, false
		}
		if len(path) == 1 {
			return slices.Delete(v, i, i+1), true
		}
		v[i], changed = without(v[i], path[1:])
	}
	return v, changed
}
