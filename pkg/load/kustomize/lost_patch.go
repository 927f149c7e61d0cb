package kustomize

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// How the library says that an object is not there.
const (
	noPatchTarget       = "no matches for Id "
	noReplacementSource = "nothing selected by "
)

// removeLostPatch takes out of k, or of a component of it, the first patch or replacement whose
// object an error of the library names. It reports whether there is one.
func (w *Walk) removeLostPatch(ctx context.Context, k *Kustomization, failure string, isPartial bool) (bool, error) {
	for _, part := range k.parts {
		if found, err := w.removeLostPatch(ctx, part, failure, isPartial); found || err != nil {
			return found, err
		}
	}
	lost := w.takeLostPatch(ctx, k, failure)
	if lost == nil {
		lost = w.takeLostReplacement(ctx, k, failure)
	}
	if lost == nil {
		return false, nil
	}
	w.addLostPatch(k, lost, isPartial)
	return true, w.overrideBuilt(k)
}

// lostPatch is a patch or replacement whose object is not there.
type lostPatch struct {
	what   string // it is
	of     resid.ResId
	origin model.Origin
}

// addLostPatch notes that a build goes without a patch.
func (w *Walk) addLostPatch(k *Kustomization, lost *lostPatch, isPartial bool) {
	object := model.Ref{Group: lost.of.Group, Kind: lost.of.Kind, Namespace: lost.of.Namespace, Name: lost.of.Name}
	missing := MissingPart{Kustomization: kustomizationName(k.Name), Origin: lost.origin, ChangesOnly: true,
		Why:  "a " + lost.what + " is skipped, as " + object.String() + " is not there: it may be in what is left out",
		Hint: "what is left out is said beside it"}
	if !isPartial {
		missing.IsRefused = true
		missing.Why = "kustomize refuses a " + lost.what + ", as " + object.String() + " is not there; the rest is read"
		missing.Hint = "add the object, or remove the " + lost.what
	}
	w.missingParts = append(w.missingParts, missing)
}

// takeLostPatch takes out of k the first patch whose object an error names; nil if there is none.
func (w *Walk) takeLostPatch(ctx context.Context, k *Kustomization, failure string) *lostPatch {
	//lint:ignore SA1019 it is still built
	old := k.PatchesStrategicMerge
	origins := k.originsOf("patchesStrategicMerge", len(old))
	for i, p := range old {
		if rest, lost := w.cutLostPatch(ctx, k, failure, string(p), string(p), origins[i]); lost != nil {
			var by []types.PatchStrategicMerge
			if rest != "" {
				by = append(by, types.PatchStrategicMerge(rest))
			}
			//lint:ignore SA1019 it is still built
			k.PatchesStrategicMerge = replaceEntry(old, i, by)
			k.replaceOrigin("patchesStrategicMerge", i, len(by))
			return lost
		}
	}
	origins = k.originsOf("patches", len(k.Patches))
	for i, p := range k.Patches {
		if p.Target != nil {
			continue
		}
		if rest, lost := w.cutLostPatch(ctx, k, failure, p.Patch, p.Path, origins[i]); lost != nil {
			var by []types.Patch
			if p.Path, p.Patch = "", rest; rest != "" {
				by = append(by, p)
			}
			k.Patches = replaceEntry(k.Patches, i, by)
			k.replaceOrigin("patches", i, len(by))
			return lost
		}
	}
	return nil
}

// replaceEntry returns a copy of a list with other entries in the place of the one at i.
func replaceEntry[T any](list []T, i int, by []T) []T {
	return slices.Concat(list[:i], by, list[i+1:])
}

// originsOf returns where the n entries of a list of k stand, before anything is taken out of it.
// Those that something outside of k's file adds stand nowhere.
func (k *Kustomization) originsOf(field string, n int) []model.Origin {
	if known, ok := k.origins[field]; ok {
		return known
	}
	out := make([]model.Origin, n)
	for i := range min(n, k.entriesInFile[field]) {
		out[i] = model.Origin{File: k.file.Name, Line: k.doc.LineOf(field, strconv.Itoa(i))}
	}
	if k.origins == nil {
		k.origins = map[string][]model.Origin{}
	}
	k.origins[field] = out
	return out
}

// replaceOrigin has n entries stand where the one at i stood.
func (k *Kustomization) replaceOrigin(field string, i, n int) {
	k.origins[field] = replaceEntry(k.origins[field], i, slices.Repeat(k.origins[field][i:i+1], n))
}

// countEntries notes how many patches and replacements the file of k has.
func (k *Kustomization) countEntries() {
	//lint:ignore SA1019 it is still built
	k.entriesInFile = map[string]int{"patchesStrategicMerge": len(k.PatchesStrategicMerge),
		"patches": len(k.Patches), "replacements": len(k.Replacements)}
}

// cutLostPatch returns what is left of the patches in a text, or else in a file, without the first
// whose object an error names. It is nil if there is none.
func (w *Walk) cutLostPatch(ctx context.Context, k *Kustomization, failure, text, file string,
	at model.Origin) (rest string, lost *lostPatch) {
	docs, inFile := w.readPatches(ctx, k, text, file)
	var kept []string
	for _, doc := range docs {
		for _, v := range document.FlattenList(doc.Value) {
			id := patchID(v)
			if lost == nil && strings.Contains(failure, noPatchTarget+id.String()+";") {
				lost = &lostPatch{"patch", id, at}
				if inFile != "" {
					lost.origin = model.Origin{File: inFile, Line: doc.LineOf()}
				}
				continue
			}
			if text, err := json.Marshal(v); err == nil && v != nil {
				kept = append(kept, string(text))
			}
		}
	}
	return strings.Join(kept, "\n---\n"), lost
}

// patchID returns how the library calls the object that a patch is for.
func patchID(v any) resid.ResId {
	group, version := resid.ParseGroupVersion(model.Text(v, "apiVersion"))
	return resid.NewResIdWithNamespace(resid.NewGvk(group, version, model.Text(v, "kind")),
		model.Text(v, "metadata", "name"), model.Text(v, "metadata", "namespace"))
}

// readPatches returns the documents of a text, or else of a file and its name. What cannot be read
// was refused before.
func (w *Walk) readPatches(ctx context.Context, k *Kustomization, text, file string) ([]document.Manifest, string) {
	docs, failed := document.ParseManifests([]byte(text), w.limits)
	if failed == nil && slices.ContainsFunc(docs, document.Manifest.IsMap) {
		return docs, ""
	}
	s, err := w.locateEntry(entry{kustomization: k, text: file})
	if err != nil {
		return nil, ""
	}
	docs, err = w.ReadManifests(ctx, s)
	if err != nil {
		return nil, ""
	}
	return docs, s.Name
}

// takeLostReplacement takes out of k the first replacement whose source an error names; nil if
// there is none.
func (w *Walk) takeLostReplacement(ctx context.Context, k *Kustomization, failure string) *lostPatch {
	origins := k.originsOf("replacements", len(k.Replacements))
	for i, field := range k.Replacements {
		list, origin := []types.Replacement{field.Replacement}, origins[i]
		if field.Path != "" {
			list, origin = w.readReplacements(ctx, k, field.Path)
		}
		for j, r := range list {
			if r.Source == nil || !namesSource(failure, r.Source.ResId) {
				continue
			}
			var rest []types.ReplacementField
			for _, other := range slices.Concat(list[:j], list[j+1:]) {
				rest = append(rest, types.ReplacementField{Replacement: other})
			}
			k.Replacements = replaceEntry(k.Replacements, i, rest)
			k.replaceOrigin("replacements", i, len(rest))
			return &lostPatch{"replacement", r.Source.ResId, origin}
		}
	}
	return nil
}

// namesSource reports whether an error says that the source of a replacement is not there.
func namesSource(failure string, id resid.ResId) bool {
	_, after, found := strings.Cut(failure, noReplacementSource+id.String())
	return found && (after == "" || strings.ContainsRune(":\n'\"", rune(after[0])))
}

// readReplacements returns the replacements in a file, which is a list of them or one.
func (w *Walk) readReplacements(ctx context.Context, k *Kustomization, file string) ([]types.Replacement,
	model.Origin) {
	s, err := w.locateEntry(entry{kustomization: k, text: file})
	if err != nil {
		return nil, model.Origin{}
	}
	docs, err := w.ReadManifests(ctx, s)
	if err != nil || len(docs) == 0 {
		return nil, model.Origin{}
	}
	values, isList := docs[0].Value.([]any)
	if !isList {
		values = []any{docs[0].Value}
	}
	var out []types.Replacement
	for _, v := range values {
		var one types.Replacement
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &one)
		}
		if err != nil {
			return nil, model.Origin{}
		}
		out = append(out, one)
	}
	return out, model.Origin{File: s.Name, Line: docs[0].LineOf()}
}
