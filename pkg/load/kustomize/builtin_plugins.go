package kustomize

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// checkPluginConfigs checks what configures generators, transformers or validators, which e names.
// Those that are built into the library run, and what they read is followed; others would be
// programs. The documents stand at the given place, or each on its line of that file.
func (w *Walk) checkPluginConfigs(ctx context.Context, e entry, at model.Origin, docs []document.Manifest) error {
	of := entry{kustomization: cmp.Or(e.kustomization.pluginsOf, e.kustomization), origin: at, field: e.field}
	for _, doc := range docs {
		if at.Line == 0 {
			of.origin.Line = doc.LineOf()
		}
		if doc.HasMergeKey() {
			// The library merges in another order.
			return of.newRefusal("write out what is merged", "<< cannot be used here")
		}
		for _, v := range document.FlattenList(doc.Value) {
			if err := w.checkPluginConfig(ctx, of, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// The groups of what configures programs that decrypt the files they name, of which the kinds can be
// read, and of those that make Secrets.
const (
	decryptingGroup    = "viaduct.ai"
	secretsMakingGroup = "goabout.com"
)

// findMadeKinds returns the kinds of the objects that a program makes; nil if they are not known.
func (w *Walk) findMadeKinds(ctx context.Context, of entry, v any) []model.GroupKind {
	group, _ := resid.ParseGroupVersion(model.Text(v, "apiVersion"))
	if group == secretsMakingGroup {
		return []model.GroupKind{{Kind: "Secret"}}
	}
	files := model.Texts(v, "files")
	if group != decryptingGroup || len(files) == 0 || model.Get(v, "secretFrom") != nil {
		return nil
	}
	var out []model.GroupKind
	for _, file := range files {
		at, err := w.locateEntry(entry{kustomization: of.kustomization, origin: of.origin, text: file})
		if err != nil || at.File == "" {
			return nil
		}
		docs, err := w.ReadManifests(ctx, at)
		if err != nil {
			return nil
		}
		for _, doc := range docs {
			for _, object := range document.FlattenList(doc.Value) {
				group, _ := resid.ParseGroupVersion(model.Text(object, "apiVersion"))
				kind := model.Text(object, "kind")
				if kind == "" || strings.HasPrefix(kind, "ENC[") {
					return nil
				}
				out = append(out, model.GroupKind{Group: group, Kind: kind})
			}
		}
	}
	return out
}

// checkPluginConfig checks one configuration; of is where it stands.
func (w *Walk) checkPluginConfig(ctx context.Context, of entry, v any) error {
	kind, version := model.Text(v, "kind"), model.Text(v, "apiVersion")
	switch {
	case v == nil:
		return nil
	case version != "builtin":
		err := of.newNotDone(BuildHint, "%s of %q is not built into kustomize, and programs are not run",
			cmp.Or(kind, "something"), version)
		var program *notDoneError
		if errors.As(err, &program) {
			program.kinds = w.findMadeKinds(ctx, of, v)
		}
		return err
	case strings.HasPrefix(kind, "Helm"):
		return of.newChartRefusal()
	}
	of.kustomization.cost.addPluginConfig(v)
	for _, e := range listConfigEntries(of, v) {
		if err := w.followEntry(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// listConfigEntries lists what the fields of a built-in generator or transformer make it read. Each
// name means the same to all of them; to the library the case of letters does not matter.
func listConfigEntries(of entry, v any) []entry {
	fields := []struct {
		name string
		role entryRole
	}{{"path", asConfig}, {"targetFilePath", asData}, {"paths", asPatch}, {"patch", asInline}, {"patches",
		asInline}, {"jsonOp", asInline},
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
				out = append(out, listConfigEntries(of, v)...)
			}
			for _, f := range fields {
				if text, ok := v.(string); ok && text != "" && strings.EqualFold(f.name, key) {
					out = append(out, entry{role: f.role, kustomization: of.kustomization, origin: of.origin,
						field: f.name, text: text})
				}
			}
		}
	}
	return out
}
