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

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// spot is where a path leads.
type spot struct {
	dir  filesys.ConfirmedDir // absolute, without links
	file string               // in dir; empty for the folder itself
	name string               // as the user would type it
}

func (s spot) path() string { return s.dir.Join(s.file) }

// follow reads and checks what e stands for. What it does not read the build cannot read.
func (w *walk) follow(ctx context.Context, e entry) error {
	switch e.role {
	case asChart:
		return e.uninflated()
	case asLiteral:
		// The library would repeat the value.
		if strings.Index(e.text, "=") < 1 {
			return e.refuse("", "there is one that is not KEY=VALUE")
		}
		return nil
	case asInline:
		if _, failed := w.parse([]byte(e.text)); failed != nil {
			return e.refuse(failed.hint, "%s", failed.message)
		}
		return nil
	case asPatch, asPlugin:
		if done, err := w.written(ctx, e); done || err != nil {
			return err
		}
	}
	s, err := w.find(e)
	switch {
	case err != nil:
		return err
	case s.file == "" && e.role == asObjects:
		return w.below(ctx, e, s, &kustomization{plugins: e.in.plugins})
	case s.file == "" && e.role == asPlugin:
		return w.below(ctx, e, s, &kustomization{plugins: e.in})
	case s.file == "" && e.role == asComponent:
		return w.below(ctx, e, s, &kustomization{component: true})
	case e.role == asComponent:
		return e.refuse("components are folders", "%s is a file", s.name)
	}
	return w.file(ctx, e, s)
}

// written reads e's text as what it may be itself rather than a path: a patch, or what configures plugins. It reports
// whether it can be nothing else. The library tries both, the text first.
func (w *walk) written(ctx context.Context, e entry) (done bool, err error) {
	if remote(e.text) {
		return false, e.remote(e.text)
	}
	docs, failed := w.parse([]byte(e.text))
	switch {
	case failed != nil && (failed.code == model.LimitExceeded || strings.Contains(e.text, "\n")):
		return false, e.refuse(failed.hint, "%s", failed.message)
	case failed != nil || !slices.ContainsFunc(docs, manifest.isMap):
		return false, nil
	case e.role == asPlugin:
		err = w.configs(ctx, e, e.at, docs)
	}
	return !w.disk.Exists(e.in.dir.Join(e.text)), err
}

// find is the file or folder on disk that e names.
func (w *walk) find(e entry) (spot, error) {
	at := e.text
	if key, name, found := strings.Cut(at, "="); found && e.role == asData {
		if at = name; key == "" || strings.Contains(name, "=") {
			return spot{}, e.refuse("", "%s is neither PATH nor KEY=PATH", e.text)
		}
	}
	switch {
	case at == "":
		return spot{}, e.refuse("", "there is an empty path")
	case remote(at):
		return spot{}, e.remote(at)
	}
	s := spot{name: filepath.ToSlash(filepath.Clean(at))}
	if !filepath.IsAbs(at) {
		s.name, at = path.Join(e.in.name, s.name), e.in.dir.Join(at)
	}
	var err error
	s.dir, s.file, err = w.disk.CleanedAbs(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, e.refuse("paths count from the folder of the kustomization", "there is no %s", s.name)
	case err != nil:
		return s, e.refuse("", "%s: %s", s.name, cause(err))
	}
	return s, nil
}

// file reads and checks the file at s, which e names. As in kustomize it is in the folder of the kustomization or below.
func (w *walk) file(ctx context.Context, e entry, s spot) error {
	switch {
	case s.file == "":
		return e.refuse("name the files in it", "%s is a folder", s.name)
	case !s.dir.HasPrefix(e.in.dir) && (w.within == "" || !s.dir.HasPrefix(w.within)):
		return e.refuse("kustomize reads files only from the folder of the kustomization and those below it", "%s is outside of %s", s.name, e.in.name)
	case e.role == asData || e.role == asEnv:
		text, err := w.read(ctx, s)
		if err == nil && e.role == asEnv && !utf8.Valid(text) {
			// The library would repeat the line.
			err = e.refuse("", "%s is not UTF-8", s.name)
		}
		return err
	}
	docs, err := w.manifests(ctx, s)
	switch {
	case err != nil:
		return err
	case e.role == asPlugin || e.role == asObjects && e.in.plugins != nil:
		return w.configs(ctx, e, model.Origin{File: s.name}, docs)
	case e.role == asObjects:
		w.declare(s, docs)
	case e.role == asCRDs && len(docs) == 0:
		return e.refuse("", "%s is empty", s.name)
	case e.role == asCRDs && circular(docs[0].value):
		return e.refuse("", "the definitions in %s refer to each other in a circle", s.name)
	}
	return nil
}

// read is the content of a file. A file is read once.
func (w *walk) read(ctx context.Context, s spot) ([]byte, error) {
	if text, ok := w.disk.files[s.path()]; ok {
		return text, nil
	}
	if text := w.disk.own[s.path()]; text != nil {
		return text, nil
	}
	info, err := os.Stat(s.path())
	switch {
	case err != nil:
		return nil, pathError(s.name, err)
	case !info.Mode().IsRegular():
		return nil, &Error{What: s.name, Err: errors.New("it is not a regular file")}
	}
	before := len(w.in.problems)
	text, err := w.in.open(ctx, source{path: s.path(), name: s.name})
	switch {
	case err != nil:
		return nil, err
	case len(w.in.problems) > before:
		return nil, &Error{What: s.name, Err: errors.New(w.in.problems[before].Message)}
	}
	w.disk.files[s.path()] = text
	return text, nil
}
