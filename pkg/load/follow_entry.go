package load

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// fileLocation is where a path leads.
type fileLocation struct {
	dir  filesys.ConfirmedDir // absolute, without links
	file string               // in dir; empty for the folder itself
	name string               // as the user would type it
}

func (s fileLocation) fullPath() string { return s.dir.Join(s.file) }

// followEntry reads and checks what e stands for. What it does not read the build cannot read.
func (w *kustomizationWalk) followEntry(ctx context.Context, e entry) error {
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
		if _, failed := parseManifests([]byte(e.text), w.limits); failed != nil {
			return e.newRefusal(failed.hint, "%s", failed.message)
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
	case s.file == "" && e.role == asObjects:
		return w.visitNamed(ctx, e, s, &kustomization{pluginsOf: e.kustomization.pluginsOf})
	case s.file == "" && e.role == asPlugin:
		return w.visitNamed(ctx, e, s, &kustomization{pluginsOf: e.kustomization})
	case s.file == "" && e.role == asComponent:
		return w.visitNamed(ctx, e, s, &kustomization{namedAsComponent: true})
	case e.role == asComponent:
		return e.newRefusal("components are folders", "%s is a file", s.name)
	}
	return w.checkFile(ctx, e, s)
}

// readInline reads e's text as what it may be itself rather than a path: a patch, or what
// configures plugins. It reports whether it can be nothing else. The library tries both, the text
// first.
func (w *kustomizationWalk) readInline(ctx context.Context, e entry) (done bool, err error) {
	if isRemote(e.text) {
		return false, e.newRemoteRefusal(e.text)
	}
	docs, failed := parseManifests([]byte(e.text), w.limits)
	switch {
	case failed != nil && (failed.code == model.LimitExceeded || strings.Contains(e.text, "\n")):
		return false, e.newRefusal(failed.hint, "%s", failed.message)
	case failed != nil || !slices.ContainsFunc(docs, manifest.isMap):
		return false, nil
	case e.role == asPlugin:
		err = w.checkPluginConfigs(ctx, e, e.origin, docs)
	}
	return !w.fileSystem.Exists(e.kustomization.dir.Join(e.text)), err
}

// locateEntry returns the file or folder on disk that e names.
func (w *kustomizationWalk) locateEntry(e entry) (fileLocation, error) {
	at := e.text
	if key, name, found := strings.Cut(at, "="); found && e.role == asData {
		if at = name; key == "" || strings.Contains(name, "=") {
			return fileLocation{}, e.newRefusal("", "%s is neither PATH nor KEY=PATH", e.text)
		}
	}
	switch {
	case at == "":
		return fileLocation{}, e.newRefusal("", "there is an empty path")
	case isRemote(at):
		return fileLocation{}, e.newRemoteRefusal(at)
	}
	s := fileLocation{name: filepath.ToSlash(filepath.Clean(at))}
	if !filepath.IsAbs(at) {
		s.name, at = path.Join(e.kustomization.name, s.name), e.kustomization.dir.Join(at)
	}
	var err error
	s.dir, s.file, err = w.fileSystem.CleanedAbs(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, e.newRefusal("paths count from the folder of the kustomization", "there is no %s", s.name)
	case err != nil:
		return s, e.newRefusal("", "%s: %s", s.name, document.CauseOf(err))
	}
	return s, nil
}

// checkFile reads and checks the file at s, which e names. As in kustomize it is in the folder of
// the kustomization or below.
func (w *kustomizationWalk) checkFile(ctx context.Context, e entry, s fileLocation) error {
	switch {
	case s.file == "":
		return e.newRefusal("name the files in it", "%s is a folder", s.name)
	case !s.dir.HasPrefix(e.kustomization.dir) && (w.allowedRoot == "" || !s.dir.HasPrefix(w.allowedRoot)):
		return e.newRefusal("kustomize reads files only from the folder of the kustomization and those below it", "%s is outside of %s", s.name, e.kustomization.name)
	case e.role == asData || e.role == asEnv:
		text, err := w.readFile(ctx, s)
		if err == nil && e.role == asEnv && !utf8.Valid(text) {
			// The library would repeat the line.
			err = e.newRefusal("", "%s is not UTF-8", s.name)
		}
		return err
	}
	docs, err := w.readManifests(ctx, s)
	switch {
	case err != nil:
		return err
	case e.role == asPlugin || e.role == asObjects && e.kustomization.pluginsOf != nil:
		return w.checkPluginConfigs(ctx, e, model.Origin{File: s.name}, docs)
	case e.role == asObjects:
		w.addDeclarations(s, docs)
	case e.role == asCRDs && len(docs) == 0:
		return e.newRefusal("", "%s is empty", s.name)
	case e.role == asCRDs && hasCircularRefs(docs[0].value):
		return e.newRefusal("", "the definitions in %s refer to each other in a circle", s.name)
	}
	return nil
}

// readFile returns the content of a file. A file is read once.
func (w *kustomizationWalk) readFile(ctx context.Context, s fileLocation) ([]byte, error) {
	if text, ok := w.fileSystem.files[s.fullPath()]; ok {
		return text, nil
	}
	if text := w.fileSystem.overrides[s.fullPath()]; text != nil {
		return text, nil
	}
	info, err := os.Stat(s.fullPath())
	switch {
	case err != nil:
		return nil, document.PathError(s.name, err)
	case !info.Mode().IsRegular():
		return nil, &document.Error{What: s.name, Err: errors.New("it is not a regular file")}
	}
	before := len(w.reader.problems)
	text, err := w.reader.readContent(ctx, inputFile{path: s.fullPath(), name: s.name})
	switch {
	case err != nil:
		return nil, err
	case len(w.reader.problems) > before:
		return nil, &document.Error{What: s.name, Err: errors.New(w.reader.problems[before].Message)}
	}
	w.fileSystem.files[s.fullPath()] = text
	return text, nil
}

// readManifests reads the documents of the YAML or JSON file at s. Those that cannot be read or are
// beyond a limit are an error here, as the build would fail, or not end.
func (w *kustomizationWalk) readManifests(ctx context.Context, s fileLocation) ([]manifest, error) {
	if docs, ok := w.manifestsByPath[s.fullPath()]; ok {
		return docs, nil
	}
	raw, err := w.readFile(ctx, s)
	if err != nil {
		return nil, err
	}
	text := toUTF8(raw)
	docs, failed := parseManifests(text, w.limits)
	if failed != nil {
		at := model.Origin{File: s.name, Line: failed.line}
		return nil, &document.Error{What: at.String(), Err: errors.New(failed.message), Hint: failed.hint}
	}
	w.fileSystem.files[s.fullPath()], w.manifestsByPath[s.fullPath()] = text, docs
	return docs, nil
}
