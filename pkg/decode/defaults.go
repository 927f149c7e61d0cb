package decode

import (
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// prepareBody makes the body what the controller sees: normalised, with the API's defaults.
func (d *decoder) prepareBody() {
	k := d.kind
	if written := d.policy.Object.Written; written != nil {
		d.filled = addedPaths(d.policy.Object.Body, *written, nil)
	}
	if k.Normalize == nil && k.Defaults == nil {
		return
	}
	body := d.body.Value()
	if k.Normalize != nil {
		body = k.Normalize(d.policy.Object, body, k.Settings)
	}
	f := defaultFiller{}
	for _, def := range k.Defaults {
		body = f.fillDefault(body, def.Path, nil, def.Value)
	}
	d.body, d.filled = model.Pack(body, nil), append(d.filled, f.filled...)
}

// addedPaths lists the paths of the values below a path that one body has and another has not.
func addedPaths(now, before model.Body, at []string) [][]string {
	var out [][]string
	for key, inner := range now.Fields {
		path := append(slices.Clip(at), key)
		if old := before.Field(key); old.IsNull() && !inner.IsNull() {
			out = append(out, path)
		} else {
			out = append(out, addedPaths(inner, old, path)...)
		}
	}
	for i, inner := range now.Items {
		out = append(out, addedPaths(inner, before.At(strconv.Itoa(i)), append(slices.Clip(at), strconv.Itoa(i)))...)
	}
	return out
}

// defaultFiller fills in defaults and remembers where.
type defaultFiller struct {
	filled [][]string
}

// fillDefault returns v, which stands at a path, with the default filled in; v itself is not
// changed.
func (f *defaultFiller) fillDefault(v any, path, at []string, value any) any {
	step := path[0]
	below := func(key string) []string { return append(slices.Clip(at), key) }
	switch t := v.(type) {
	case map[string]any:
		if len(path) == 1 {
			if t[step] != nil || step == "*" { // the API server drops null before it fills in
				return v
			}
			f.filled = append(f.filled, below(step))
			out := maps.Clone(t)
			out[step] = value
			return out
		}
		var out map[string]any
		for _, key := range slices.Sorted(maps.Keys(t)) {
			if key != step && step != "*" {
				continue
			}
			if out == nil {
				out = maps.Clone(t)
			}
			out[key] = f.fillDefault(t[key], path[1:], below(key), value)
		}
		if out != nil {
			return out
		}
	case []any:
		if step != "*" || len(path) == 1 {
			return v
		}
		out := slices.Clone(t)
		for i := range out {
			out[i] = f.fillDefault(out[i], path[1:], below(strconv.Itoa(i)), value)
		}
		return out
	}
	return v
}

// markFilled marks the units whose whole value the API server filled in.
func (d *decoder) markFilled(units []merge.Unit, at []string) {
	if d.filled == nil {
		return
	}
	for i := range units {
		path := slices.Clone(at)
		for _, seg := range units[i].Path {
			path = append(path, seg.Name)
		}
		units[i].Filled = slices.ContainsFunc(d.filled, func(f []string) bool {
			return len(f) <= len(path) &&
				slices.Equal(f, path[:len(f)])
		})
	}
}
