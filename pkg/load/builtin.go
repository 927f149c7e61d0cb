package load

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// configs checks what configures generators, transformers or validators, which e names. Those that are built into the library run, and
// what they read is followed; others would be programs. The documents stand at the given place, or each on its line of that file.
func (w *walk) configs(ctx context.Context, e entry, at model.Origin, docs []manifest) error {
	of := entry{in: cmp.Or(e.in.plugins, e.in), at: at, field: e.field}
	for _, doc := range docs {
		if at.Line == 0 {
			of.at.Line = doc.lineOf()
		}
		if merges(doc.node) {
			// The library merges in another order.
			return of.refuse("write out what is merged", "<< cannot be used here")
		}
		for _, v := range items(doc.value) {
			if err := w.config(ctx, of, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// config checks one configuration; of is where it stands.
func (w *walk) config(ctx context.Context, of entry, v any) error {
	kind, version := model.Text(v, "kind"), model.Text(v, "apiVersion")
	switch {
	case v == nil:
		return nil
	case version != "builtin":
		return of.refuse(buildHint, "%s of %q is not built into kustomize, and programs are not run", cmp.Or(kind, "something"), version)
	case strings.HasPrefix(kind, "Helm"):
		of.role = asChart
		return w.follow(ctx, of)
	}
	for _, e := range readBy(of, v) {
		if err := w.follow(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// readBy lists what the fields of a built-in generator or transformer make it read. Each name means the same to all of them; to the
// library the case of letters does not matter.
func readBy(of entry, v any) []entry {
	fields := []struct {
		name string
		role role
	}{{"path", asConfig}, {"targetFilePath", asData}, {"paths", asPatch}, {"patch", asInline}, {"patches", asInline}, {"jsonOp", asInline},
		{"files", asData}, {"envs", asEnv}, {"env", asEnv}, {"literals", asLiteral}}
	var out []entry
	m, _ := v.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		values, isList := m[key].([]any)
		if !isList {
			values = []any{m[key]}
		}
		for _, v := range values {
			if strings.EqualFold(key, "replacements") {
				out = append(out, readBy(of, v)...)
			}
			for _, f := range fields {
				if text, ok := v.(string); ok && text != "" && strings.EqualFold(f.name, key) {
					out = append(out, entry{role: f.role, in: of.in, at: of.at, field: f.name, text: text})
				}
			}
		}
	}
	return out
}

// merges reports whether a map in n merges another.
func merges(n *yaml.Node) bool {
	return isMerge(n) || slices.ContainsFunc(n.Content, merges)
}
