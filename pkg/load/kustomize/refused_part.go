package kustomize

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// canGoWithout reports whether the rest of a build is worth something without e: kustomize refuses
// all of it.
func (w *Walk) canGoWithout(e entry) bool {
	return w.allowMissing && !w.isEndless && e.role == asObjects && e.kustomization.pluginsOf == nil
}

// removeRefused takes a file or folder of objects, which cannot be read or built, out of the
// kustomization that names it.
func (w *Walk) removeRefused(ctx context.Context, e entry, err error) {
	k := e.kustomization
	others := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return text == e.text })
	}
	k.Resources = others(k.Resources)
	//lint:ignore SA1019 it is still built
	k.Bases = others(k.Bases)
	missing := MissingPart{Kustomization: kustomizationName(k.Name), Origin: e.origin,
		Why: err.Error(), Namespace: k.targetNamespace(), refusal: err}
	missing.IsTemplate = IsTemplate(err)
	var failed *document.Error
	if errors.As(err, &failed) {
		missing.Hint = failed.Hint
		if failed.What == e.origin.String() {
			missing.Why = failed.Err.Error()
		}
	}
	if s, err := w.locateEntry(e); err == nil && s.File == "" {
		missing.Kustomization, missing.IsNotBuilt = kustomizationName(s.Name), true
		if of, err := w.OpenFolder(ctx, s.Dir, s.Name); err == nil && missing.Namespace == "" {
			missing.Namespace = of.Namespace
		}
	}
	needsMissing := needsOther(err) && len(w.missingParts) > 0
	if missing.IsRefused = !errors.As(err, new(*notDoneError)) && !needsMissing; missing.IsRefused {
		missing.Why = "kustomize refuses it: " + missing.Why
	}
	w.missingParts = append(w.missingParts, missing)
}

// buildWithoutRefused builds what was walked. What the library refuses it for is left out, and
// among the missing parts: patches and replacements whose object is not there, and whole
// kustomizations that cannot be built for something else.
func (w *Walk) buildWithoutRefused(ctx context.Context, b libraryRun) ([]document.Raw, error) {
	pieces, err := w.buildDocuments(ctx, b)
	if err == nil || !isRefusal(err) {
		return pieces, err
	}
	isPartial := len(w.missingParts) > 0 // which is why an object may not be there
	done := map[filesys.ConfirmedDir]bool{}
	for _, k := range w.visited { // those that others name come first, and the root last
		if k.namedAsComponent || k.pluginsOf != nil || done[k.Dir] {
			continue
		}
		done[k.Dir] = true
		err := w.buildAlone(ctx, k, b, isPartial)
		switch {
		case err == nil:
		case k.parent == nil || !isRefusal(err):
			return nil, err
		default:
			if err := w.removeFolder(ctx, k, err); err != nil {
				return nil, err
			}
		}
	}
	return w.buildDocuments(ctx, b)
}

// buildAlone tries whether one kustomization of a build can be built, and takes out of it the
// patches whose object is not there.
func (w *Walk) buildAlone(ctx context.Context, k *Kustomization, b libraryRun, isPartial bool) error {
	b.root, b.finishObject = k, nil
	for {
		_, err := w.buildDocuments(ctx, b)
		var failed *libraryError
		if !errors.As(err, &failed) {
			return err
		}
		found, broken := w.removeLostPatch(ctx, k, failed.text, isPartial)
		if broken != nil || !found {
			return cmp.Or(broken, err)
		}
	}
}

// removeFolder takes a folder that cannot be built out of all kustomizations that name it.
func (w *Walk) removeFolder(ctx context.Context, k *Kustomization, err error) error {
	for _, other := range w.visited {
		if other.Dir != k.Dir || other.parent == nil || !w.canGoWithout(other.namedBy) {
			continue
		}
		w.removeRefused(ctx, other.namedBy, err)
		if err := w.overrideBuilt(other.parent); err != nil {
			return err
		}
	}
	return nil
}

// overrideBuilt has the library read what has become of a kustomization.
func (w *Walk) overrideBuilt(k *Kustomization) error {
	if k.parent == nil {
		return w.overrideRoot(k)
	}
	return w.overrideKustomization(k, k.Kustomization)
}

// needsOther reports whether the library refuses a build for want of an object.
func needsOther(err error) bool {
	var failed *libraryError
	return errors.As(err, &failed) && slices.ContainsFunc(
		[]string{noPatchTarget, noReplacementSource, "does not exist; cannot"},
		func(words string) bool { return strings.Contains(failed.text, words) })
}

// isRefusal reports whether the library refuses a build, and could build something else.
func isRefusal(err error) bool {
	var failed *libraryError
	return errors.As(err, &failed)
}
