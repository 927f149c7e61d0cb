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
func kustomize(ctx context.Context, folder string, in *reader, limits Limits) ([]piece, error) {
	w := &walk{
		disk: &shelf{FileSystem: filesys.MakeFsOnDisk(), files: map[string][]byte{}},
		in:   in, limits: limits, docs: map[string][]manifest{}, declared: map[string][]declaration{},
	}
	root, err := w.root(ctx, folder)
	if err != nil {
		return nil, err
	}
	objects, err := build{disk: w.disk, root: root, limits: limits}.run(ctx)
	if err != nil {
		return nil, err
	}
	pieces := make([]piece, len(objects))
	for i, o := range objects {
		at := w.origin(root, o)
		// The text is a single line, so that whatever is found in it is reported at the line of the object.
		pieces[i] = piece{file: source{name: at.File, named: true}, line: at.Line, text: o.json}
	}
	return pieces, nil
}

// shelf is the file system that a kustomization is built from: the folders on disk, but only files that have been read.
type shelf struct {
	filesys.FileSystem
	files map[string][]byte // by absolute path without links
}

// ReadFile is the content of a file when it was read and checked.
func (s *shelf) ReadFile(name string) ([]byte, error) {
	text, ok := s.files[filepath.Clean(name)]
	if !ok {
		return nil, errors.New("not checked before the build")
	}
	return text, nil
}
