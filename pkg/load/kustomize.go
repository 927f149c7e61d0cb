package load

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// buildHint is the way out where a kustomization is more than will be built here.
const buildHint = "build it where that may be done, and pipe it in: kubectl kustomize … | kubectl dopolicy … -f -"

// buildKustomization returns the objects of the kustomization in a folder, each as a document of
// its own. The kustomize library builds them as for kubectl, but offline: everything that the build
// will look at is read and checked before. There is an *Error, and no build, if anything is remote,
// missing, not readable or beyond a limit, or would run a program or inflate a chart. The build
// then sees no file but those, with the content that was checked.
func buildKustomization(ctx context.Context, o Options, in *fileReader, limits document.Limits) ([]rawDocument, error) {
	w := newKustomizationWalk(in, limits)
	w.charts = newChartRenderer(o.Helm)
	root, err := w.walkRoot(ctx, o.Kustomization)
	if err != nil {
		return nil, err
	}
	return w.buildDocuments(ctx, kustomizeBuild{root: root, limits: limits})
}

func newKustomizationWalk(in *fileReader, limits document.Limits) *kustomizationWalk {
	return &kustomizationWalk{
		fileSystem: &checkedFileSystem{FileSystem: filesys.MakeFsOnDisk(), files: map[string][]byte{}, overrides: map[string][]byte{}},
		reader:     in, limits: limits, manifestsByPath: map[string][]manifest{}, declarations: map[string][]declaration{}, generatedFiles: map[string]string{},
	}
}

// forNextBuild returns a walk for another build, which does not read again what was read for this
// one.
func (w *kustomizationWalk) forNextBuild() *kustomizationWalk {
	next := *w
	next.visits, next.missingParts = 0, nil
	next.fileSystem = &checkedFileSystem{FileSystem: w.fileSystem.FileSystem, files: w.fileSystem.files, overrides: map[string][]byte{}}
	return &next
}

// buildDocuments returns the objects that come out of a build of what was walked.
func (w *kustomizationWalk) buildDocuments(ctx context.Context, b kustomizeBuild) ([]rawDocument, error) {
	b.fileSystem, b.allowAnyFolder = w.fileSystem, w.allowedRoot != ""
	objects, err := b.runWithin(ctx)
	if err != nil {
		return nil, err
	}
	pieces := make([]rawDocument, len(objects))
	for i, o := range objects {
		at := w.originOf(b.root, o)
		// The text is a single line, so that whatever is found in it is reported at the line of the object.
		pieces[i] = rawDocument{file: sourceFile{name: at.File, named: true}, line: at.Line, text: o.json, isStream: true}
	}
	return pieces, nil
}

// checkedFileSystem is the file system that a kustomization is built from: the folders on disk, but
// only files that have been read.
type checkedFileSystem struct {
	filesys.FileSystem
	files     map[string][]byte // by absolute path without links
	overrides map[string][]byte // what is read instead of them in this build, and files that are on no disk
}

// CleanedAbs is the folder and the name of a file or folder, without links.
func (s *checkedFileSystem) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	if name = filepath.Clean(name); s.overrides[name] != nil {
		return filesys.ConfirmedDir(filepath.Dir(name)), filepath.Base(name), nil
	}
	return s.FileSystem.CleanedAbs(name)
}

// ReadFile is the content of a file when it was read and checked.
func (s *checkedFileSystem) ReadFile(name string) ([]byte, error) {
	name = filepath.Clean(name)
	if text := s.overrides[name]; text != nil {
		return text, nil
	}
	text, ok := s.files[name]
	if !ok {
		return nil, errors.New("not checked before the build")
	}
	return text, nil
}
