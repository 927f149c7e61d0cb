package policy

import (
	"maps"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"go.yaml.in/yaml/v3"
)

// Normalizer rewrites the body of a policy (JSON values) as its controller sees it. It returns a new value where it changes something.
type Normalizer func(o *model.Object, body any, s model.Settings) any

// Default is a value that the API server fills in where the object around it is there and the field is not.
type Default struct {
	Path  []string // from the object's root; * is every entry of a list or a map
	Value any
}

// prepare makes the body what the controller sees: normalised, with the API's defaults.
func (d *decoder) prepare() {
	k := d.kind
	if k.Normalize == nil && k.Defaults == nil {
		return
	}
	body := d.body.Value()
	if k.Normalize != nil {
		body = k.Normalize(d.policy.Object, body, k.settings)
	}
	f := filler{}
	for _, def := range k.Defaults {
		body = f.fill(body, def.Path, nil, def.Value)
	}
	d.body, d.filled = model.Pack(body, nil), f.filled
}

// filler fills in defaults and remembers where.
type filler struct {
	filled [][]string
}

// fill is v, which stands at a path, with the default filled in; v itself is not changed.
func (f *filler) fill(v any, path, at []string, value any) any {
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
			out[key] = f.fill(t[key], path[1:], below(key), value)
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
			out[i] = f.fill(out[i], path[1:], below(strconv.Itoa(i)), value)
		}
		return out
	}
	return v
}

// marked marks the units that are wholly the API's: what they hold was filled in.
func (d *decoder) marked(units []merge.Unit, at []string) {
	if d.filled == nil {
		return
	}
	for i := range units {
		path := slices.Clone(at)
		for _, seg := range units[i].Path {
			path = append(path, seg.Name)
		}
		units[i].Filled = slices.ContainsFunc(d.filled, func(f []string) bool { return len(f) <= len(path) && slices.Equal(f, path[:len(f)]) })
	}
}

func (r *kindReader) normalize(n *yaml.Node) {
	var name string
	r.object(n, map[string]field{"func": r.text(&name)})
	if r.kind.Normalize = r.funcs.Normalize[name]; r.kind.Normalize == nil {
		r.fail(n, "there is no function %q to normalise policies", name)
	}
}

func (r *kindReader) defaults(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		var d Default
		r.object(e, map[string]field{"path": r.path(&d.Path), "value": func(n *yaml.Node) {
			if err := n.Decode(&d.Value); err != nil {
				r.fail(n, "this is no value: %v", err)
			}
			d.Value = plain(d.Value)
		}})
		if d.Path == nil || d.Value == nil {
			r.fail(e, "a default needs \"path\" and \"value\"")
			return
		}
		r.kind.Defaults = append(r.kind.Defaults, d)
	})
}

// plain is what the YAML reader made of a value, in the types that objects hold.
func plain(v any) any {
	switch t := v.(type) {
	case int:
		return int64(t)
	case []any:
		for i := range t {
			t[i] = plain(t[i])
		}
	case map[string]any:
		for key := range t {
			t[key] = plain(t[key])
		}
	}
	return v
}
