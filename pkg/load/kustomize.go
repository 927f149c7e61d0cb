package load

import (
	"context"
	"errors"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// buildHint is the way out where a kustomization is more than will be built here.
const buildHint = "build it where that may be done, and pipe it in: kubectl kustomize … | kubectl dopolicy … -f -"

// kustomize is the objects of the kustomization in a folder, each as a document of its own. The kustomize library builds
// them as for kubectl, but offline: everything that the build will look at is read and checked before. There is an
// *Error, and no build, if anything is remote, missing, not readable or beyond a limit, or would run a program or inflate
// a chart. The build then sees no file but those, with the content that was checked.
func kustomize(ctx context.Context, o Options, in *reader, limits Limits) ([]piece, error) {
	w := newWalk(in, limits)
	w.charts = newCharts(o.Helm)
	root, err := w.root(ctx, o.Kustomization)
	if err != nil {
		return nil, err
	}
	return w.build(ctx, build{root: root, limits: limits})
}

func newWalk(in *reader, limits Limits) *walk {
	return &walk{
		disk: &shelf{FileSystem: filesys.MakeFsOnDisk(), files: map[string][]byte{}, own: map[string][]byte{}},
		in:   in, limits: limits, docs: map[string][]manifest{}, declared: map[string][]declaration{}, stands: map[string]string{},
	}
}

// another is a walk for another build, which does not read again what was read for this one.
func (w *walk) another() *walk {
	next := *w
	next.visits, next.lacks = 0, nil
	next.disk = &shelf{FileSystem: w.disk.FileSystem, files: w.disk.files, own: map[string][]byte{}}
	return &next
}

// build is the objects that come out of a build of what was walked.
func (w *walk) build(ctx context.Context, b build) ([]piece, error) {
	b.disk, b.anywhere = w.disk, w.within != ""
	objects, err := b.run(ctx)
	if err != nil {
		return nil, err
	}
	pieces := make([]piece, len(objects))
	for i, o := range objects {
		at := w.origin(b.root, o)
		// The text is a single line, so that whatever is found in it is reported at the line of the object.
		pieces[i] = piece{file: source{name: at.File, named: true}, line: at.Line, text: o.json, stream: true}
	}
	return pieces, nil
}

// shelf is the file system that a kustomization is built from: the folders on disk, but only files that have been read.
type shelf struct {
	filesys.FileSystem
	files map[string][]byte // by absolute path without links
	own   map[string][]byte // what is read instead of them in this build, and files that are on no disk
}

// CleanedAbs is the folder and the name of a file or folder, without links.
func (s *shelf) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	if name = filepath.Clean(name); s.own[name] != nil {
		return filesys.ConfirmedDir(filepath.Dir(name)), filepath.Base(name), nil
	}
	return s.FileSystem.CleanedAbs(name)
}

// ReadFile is the content of a file when it was read and checked.
func (s *shelf) ReadFile(name string) ([]byte, error) {
	name = filepath.Clean(name)
	if text := s.own[name]; text != nil {
		return text, nil
	}
	text, ok := s.files[name]
	if !ok {
		return nil, errors.New("not checked before the build")
	}
	return text, nil
}
