package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// FileLocation is where a path leads.
type FileLocation struct {
	Dir  filesys.ConfirmedDir // absolute, without links
	File string               // in dir; empty for the folder itself
	Name string               // as the user would type it
}

func (s FileLocation) fullPath() string { return s.Dir.Join(s.File) }

// followEntry reads and checks what e stands for. What it does not read the build cannot read.
func (w *Walk) followEntry(ctx context.Context, e entry) error {
	switch e.role {
	case asChart:
		return e.newChartRefusal()
	case asLiteral:
		// The library would repeat the value.
		if strings.Index(e.text, "=") < 1 {
			return e.newRefusal("", "there is one that is not KEY=VALUE")
		}
		return nil
	case asInline:
		if _, failed := document.ParseManifests([]byte(e.text), w.limits); failed != nil {
			return e.newRefusal(failed.Hint, "%s", failed.Message)
		}
		return nil
	case asPatch, asPlugin:
		if done, err := w.readInline(ctx, e); done || err != nil {
			return err
		}
	}
	s, err := w.locateEntry(e)
	switch {
	case err != nil:
		return err
	case s.File == "" && e.role == asObjects:
		return w.visitNamed(ctx, e, s, &Kustomization{pluginsOf: e.kustomization.pluginsOf})
	case s.File == "" && e.role == asPlugin:
		return w.visitNamed(ctx, e, s, &Kustomization{pluginsOf: e.kustomization})
	case s.File == "" && e.role == asComponent:
		return w.visitNamed(ctx, e, s, &Kustomization{namedAsComponent: true,
			pluginsOf: e.kustomization.pluginsOf})
	case e.role == asComponent:
		return e.newRefusal("components are folders", "%s is a file", s.Name)
	}
	return w.checkFile(ctx, e, s)
}

// readInline reads e's text as what it may be itself rather than a path: a patch, or what
// configures plugins. It reports whether it can be nothing else. The library tries both, the text
// first.
func (w *Walk) readInline(ctx context.Context, e entry) (done bool, err error) {
	if isRemote(e.text) {
		return false, e.newRemoteRefusal(e.text)
	}
	docs, failed := document.ParseManifests([]byte(e.text), w.limits)
	switch {
	case failed != nil && (failed.Code == model.LimitExceeded || strings.Contains(e.text, "\n")):
		return false, e.newRefusal(failed.Hint, "%s", failed.Message)
	case failed != nil || !slices.ContainsFunc(docs, document.Manifest.IsMap):
		return false, nil
	case e.role == asPlugin:
		err = w.checkPluginConfigs(ctx, e, e.origin, docs)
	}
	return !w.fileSystem.Exists(e.kustomization.Dir.Join(e.text)), err
}

// locateEntry returns the file or folder on disk that e names.
func (w *Walk) locateEntry(e entry) (FileLocation, error) {
	at := e.text
	if key, name, found := strings.Cut(at, "="); found && e.role == asData {
		if at = name; key == "" || strings.Contains(name, "=") {
			return FileLocation{}, e.newRefusal("", "%s is neither PATH nor KEY=PATH", e.text)
		}
	}
	switch {
	case at == "":
		return FileLocation{}, e.newRefusal("", "there is an empty path")
	case isRemote(at):
		return FileLocation{}, e.newRemoteRefusal(at)
	}
	s := FileLocation{Name: filepath.ToSlash(filepath.Clean(at))}
	if !filepath.IsAbs(at) {
		s.Name, at = path.Join(e.kustomization.Name, s.Name), e.kustomization.Dir.Join(at)
	}
	var err error
	s.Dir, s.File, err = w.fileSystem.CleanedAbs(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && (document.NamesTemplate(e.text) || hasTemplate(at)):
		return s, &document.Error{What: e.origin.String(),
			Err: &templateError{fmt.Sprintf("%s: there is no %s, which a template makes", e.field, s.Name)}, Hint: templateHint}
	case errors.Is(err, fs.ErrNotExist):
		return s, e.newRefusal("paths count from the folder of the kustomization", "there is no %s",
			document.HideCredentialsOf(s.Name, s.Name))
	case err != nil:
		return s, e.newRefusal("", "%s: %s", s.Name, document.CauseOf(err))
	}
	return s, nil
}

// checkFile reads and checks the file at s, which e names. As in kustomize it is in the folder of
// the kustomization or below.
func (w *Walk) checkFile(ctx context.Context, e entry, s FileLocation) error {
	isOutside := !s.Dir.HasPrefix(e.kustomization.Dir)
	switch {
	case s.File == "":
		return e.newRefusal("name the files in it", "%s is a folder", s.Name)
	case isOutside && (w.allowedRoot == "" || !s.Dir.HasPrefix(w.allowedRoot)):
		return e.newRefusal("kustomize reads files only from the folder of the kustomization and those below it",
			"%s is outside of %s", s.Name, e.kustomization.Name)
	case isOutside && w.noteOutside != nil:
		w.noteOutside(e.kustomization.Name, e.origin)
	}
	switch {
	case e.role == asData || e.role == asEnv:
		text, err := w.ReadFile(ctx, s)
		if err == nil && e.role == asEnv && !utf8.Valid(text) {
			// The library would repeat the line.
			err = e.newRefusal("", "%s is not UTF-8", s.Name)
		}
		if e.role == asEnv {
			cost := &e.kustomization.cost
			cost.keys = max(cost.keys, countKeys(text))
		}
		return err
	}
	docs, err := w.ReadManifests(ctx, s)
	switch {
	case err != nil:
		return err
	case e.role == asPlugin || e.role == asObjects && e.kustomization.pluginsOf != nil:
		return w.checkPluginConfigs(ctx, e, model.Origin{File: s.Name}, docs)
	case e.role == asObjects:
		w.addDeclarations(s, docs)
		e.kustomization.cost.addObjects(docs)
	case e.role == asConfig && (e.field == "replacements" || e.field == "path"):
		e.kustomization.cost.addReplacementFile(docs)
	case e.role == asCRDs && len(docs) == 0:
		return e.newRefusal("", "%s is empty", s.Name)
	case e.role == asCRDs && hasCircularRefs(docs[0].Value):
		return e.newRefusal("", "the definitions in %s refer to each other in a circle", s.Name)
	}
	return nil
}

// ReadFile returns the content of a file. A file is read once.
func (w *Walk) ReadFile(ctx context.Context, s FileLocation) ([]byte, error) {
	if text, ok := w.fileSystem.files[s.fullPath()]; ok {
		return text, nil
	}
	if text := w.fileSystem.overrides[s.fullPath()]; text != nil {
		return text, nil
	}
	info, err := os.Stat(s.fullPath())
	switch {
	case err != nil:
		return nil, document.PathError(s.Name, err)
	case !info.Mode().IsRegular():
		return nil, &document.Error{What: s.Name, Err: errors.New("it is not a regular file")}
	}
	before := len(w.reader.Problems)
	text, err := w.reader.ReadContent(ctx, input.File{Path: s.fullPath(), Name: s.Name})
	switch {
	case err != nil:
		return nil, err
	case len(w.reader.Problems) > before:
		return nil, &document.Error{What: s.Name, Err: errors.New(w.reader.Problems[before].Message)}
	}
	w.fileSystem.files[s.fullPath()] = text
	return text, nil
}

// ReadManifests reads the documents of the YAML or JSON file at s. Those that cannot be read or are
// beyond a limit are an error here, as the build would fail, or not end.
func (w *Walk) ReadManifests(ctx context.Context, s FileLocation) ([]document.Manifest, error) {
	if docs, ok := w.manifestsByPath[s.fullPath()]; ok {
		return docs, nil
	}
	raw, err := w.ReadFile(ctx, s)
	if err != nil {
		return nil, err
	}
	text := input.ToUTF8(raw)
	docs, failed := document.ParseManifests(text, w.limits)
	if failed != nil {
		at := model.Origin{File: s.Name, Line: failed.Line}
		return nil, &document.Error{What: at.String(), Err: parseError(text, failed.Message), Hint: failed.Hint}
	}
	w.fileSystem.files[s.fullPath()], w.manifestsByPath[s.fullPath()] = text, docs
	return docs, nil
}
