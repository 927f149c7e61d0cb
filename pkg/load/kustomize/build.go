package kustomize

import (
	"context"
	"errors"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// BuildHint is the way out where a kustomization is more than will be built here.
const BuildHint = "build it where that may be done, and pipe it in: kubectl kustomize … | kubectl dopolicy … -f -"

// Options say what to build, and how.
type Options struct {
	Folder string // of the kustomization
	Helm   bool   // its charts are rendered with the helm program, if there is one
	Limits document.Limits

	FinishObject func(*resource.Resource) ([]byte, error) // the text of an object; nil: as the library has it
}

// Build returns the objects of the kustomization in a folder, each as a document of its own. The
// kustomize library builds them as for kubectl, but offline: everything that the build will look at
// is read and checked before. There is an *Error, and no build, if anything is remote, missing, not
// readable or beyond a limit, or would run a program or inflate a chart. The build then sees no
// file but those, with the content that was checked.
func Build(ctx context.Context, o Options, in *input.Reader) ([]document.Raw, error) {
	w := NewWalk(in, o.Limits, helm.NewRenderer(o.Helm))
	root, err := w.walkRoot(ctx, o.Folder)
	if err != nil {
		return nil, err
	}
	return w.buildDocuments(ctx, libraryRun{root: root, limits: o.Limits, finishObject: o.FinishObject})
}

// NewWalk returns a walk that reads files with a reader. Without a renderer of charts,
// kustomizations with charts are refused.
func NewWalk(in *input.Reader, limits document.Limits, charts *helm.Renderer) *Walk {
	return &Walk{
		fileSystem: &checkedFileSystem{FileSystem: filesys.MakeFsOnDisk(), files: map[string][]byte{},
			overrides: map[string][]byte{}},
		reader: in, limits: limits, charts: charts, manifestsByPath: map[string][]document.Manifest{},
		declarations: map[string][]declaration{}, generatedFiles: map[string]string{}, spent: new(int),
	}
}

// OpenFolder reads the kustomization file in a folder, and nothing that it names. What is wrong
// with it is left for its build to report.
func (w *Walk) OpenFolder(ctx context.Context, dir filesys.ConfirmedDir, name string) (*Kustomization, error) {
	k := &Kustomization{Dir: dir, Name: name}
	if err := w.openKustomization(ctx, k); err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return k, nil
}

// FolderBuild asks for a build of a folder that goes without what is missing.
type FolderBuild struct {
	Dir filesys.ConfirmedDir
	// where files may lie that are not below the folder of their kustomization; "": nowhere
	AllowedRoot  filesys.ConfirmedDir
	NoteOutside  func(kustomization string, at model.Origin) // told of those; may be nil
	Name         string                                      // of the folder, as the user would type it
	Generated    *types.Kustomization                        // used instead of a file, if the folder holds none
	Modify       func(*types.Kustomization)                  // changes what the file says; nil: nothing is changed
	FinishObject func(*resource.Resource) ([]byte, error)    // the text of an object; nil: as the library has it
	Limits       document.Limits
}

// BuildFolder returns the objects of a folder, and what the build went without. It may be called
// again: what was read is not read again. If the build fails for want of a part, the error says so.
func (w *Walk) BuildFolder(ctx context.Context, o FolderBuild) ([]document.Raw, []MissingPart, error) {
	next := w.forNextBuild()
	next.allowedRoot, next.noteOutside, next.allowMissing = o.AllowedRoot, o.NoteOutside, true
	root := &Kustomization{Dir: o.Dir, Name: o.Name, generated: o.Generated, modify: o.Modify}
	if err := next.prepareRoot(ctx, root); err != nil {
		return nil, nil, err
	}
	pieces, err := next.buildWithoutRefused(ctx, libraryRun{root: root, limits: o.Limits,
		finishObject: o.FinishObject})
	// what fails may need what is missing
	if err != nil && len(next.missingParts) > 0 && next.missingParts[0].refusal != nil &&
		(needsOther(err) || !isRefusal(err)) && ctx.Err() == nil && !IsUnfinished(err) {
		err = next.missingParts[0].refusal
	}
	return pieces, next.missingParts, err
}

// forNextBuild returns a walk for another build, which does not read again what was read for this
// one.
func (w *Walk) forNextBuild() *Walk {
	next := *w
	next.visits, next.missingParts, next.visited, next.isEndless = 0, nil, nil, false
	next.fileSystem = &checkedFileSystem{FileSystem: w.fileSystem.FileSystem, files: w.fileSystem.files,
		overrides: map[string][]byte{}}
	return &next
}

// buildDocuments returns the objects that come out of a build of what was walked.
func (w *Walk) buildDocuments(ctx context.Context, b libraryRun) ([]document.Raw, error) {
	if err := w.chargeBuild(b.root); err != nil {
		return nil, err
	}
	b.fileSystem, b.allowAnyFolder = w.fileSystem, w.allowedRoot != ""
	objects, err := b.runWithin(ctx)
	if err != nil {
		return nil, err
	}
	pieces := make([]document.Raw, 0, len(objects))
	for _, o := range objects {
		at := w.originOf(b.root, o)
		if o.failed != nil {
			w.addLostObject(b.root, o, at)
			continue
		}
		// The text is a single line, so that whatever is found in it is reported at the line of the
		// object.
		pieces = append(pieces, document.Raw{File: document.File{Name: at.File, Named: true}, Line: at.Line,
			Text: o.json, IsStream: true})
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
