package kustomize

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/openapi"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// libraryRun is one run of the kustomize library on what a walk has checked.
type libraryRun struct {
	fileSystem *checkedFileSystem
	root       *Kustomization
	limits     document.Limits

	// files need not be below the folders of their kustomizations
	allowAnyFolder bool
	// makes the text of an object; nil: it is that of the library
	finishObject func(*resource.Resource) ([]byte, error)
}

// builtObject is an object that came out of a build.
type builtObject struct {
	json   []byte
	failed error // why it has no text
	kind   model.GroupKind
	name   string

	namespace string
	origin    resource.Origin // paths count from the folder of the root
}

// runWithin runs the build within its limits. The library cannot be stopped: when ctx ends or a
// limit is reached it is left behind until the program ends.
func (b libraryRun) runWithin(ctx context.Context) ([]builtObject, error) {
	type result struct {
		objects []builtObject
		err     error
	}
	done := make(chan result, 1)
	defer silenceLibrary()()
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r = result{err: fmt.Errorf("the library failed: %v", p)}
			}
			done <- r
		}()
		r.objects, r.err = b.runLibrary()
	}()
	start, heap := time.Now(), heapBytes()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		var failed unfinishedBuildError
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case r := <-done:
			if errors.As(r.err, new(*jsonpatch.AccumulatedCopySizeError)) {
				return nil, &document.Error{What: b.root.Name, Err: fmt.Errorf(
					"the copy operations of a JSON patch add more than %d KiB to an object", maxCopied>>10), Hint: BuildHint}
			}
			if r.err != nil {
				return nil, &document.Error{What: b.root.Name, Err: &libraryError{ShortenError(r.err), r.err.Error()}}
			}
			return r.objects, nil
		case <-look.C:
			if time.Since(start) > b.limits.Build {
				failed.why = fmt.Errorf("not built within %s", b.limits.Build)
			}
			now := heapBytes()
			heap = min(heap, now)
			if grown := now - heap; grown > b.limits.BuildMemory && grown < b.limits.BuildMemory*5/4 {
				runtime.GC() // most of it may be garbage
				now = heapBytes()
			}
			if now > heap+b.limits.BuildMemory {
				failed = unfinishedBuildError{fmt.Errorf("not built within %d MiB of memory", b.limits.BuildMemory>>20), true}
			}
		}
		if failed.why != nil {
			return nil, &document.Error{What: b.root.Name, Err: failed, Hint: BuildHint}
		}
	}
}

// maxCopied is how many bytes the copy operations of a JSON patch may add to an object.
const maxCopied = 64 << 10

// limitCopies has the library of JSON patches keep to that. A few operations that copy what they
// copied before double it each time.
var limitCopies = sync.OnceFunc(func() { jsonpatch.AccumulatedCopySizeLimit = maxCopied })

// runLibrary runs the library: no plugins but its own, no programs, no charts, no files outside of
// the kustomizations that name them.
func (b libraryRun) runLibrary() ([]builtObject, error) {
	limitCopies()
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionNone
	options.LoadRestrictions = types.LoadRestrictionsRootOnly
	if b.allowAnyFolder {
		options.LoadRestrictions = types.LoadRestrictionsNone
	}
	options.PluginConfig = types.DisabledPluginConfig()
	if len(b.root.OpenAPI) > 0 {
		defer openapi.ResetOpenAPI() // the library would use it for the next build as well
	}
	objects, err := krusty.MakeKustomizer(options).Run(b.fileSystem, b.root.Dir.String())
	if err != nil {
		return nil, err
	}
	out := make([]builtObject, objects.Size())
	for i, o := range objects.Resources() {
		out[i].namespace = o.GetNamespace()
		if from, err := o.GetOrigin(); err == nil && from != nil {
			out[i].origin = *from
		}
		gvk := o.GetGvk()
		out[i].kind, out[i].name = model.GroupKind{Group: gvk.Group, Kind: gvk.Kind}, o.GetName()
	}
	return out, b.encodeObjects(objects, out)
}

// encodeObjects writes the objects as JSON, without the annotations that were not asked for.
func (b libraryRun) encodeObjects(objects resmap.ResMap, out []builtObject) error {
	if !slices.Contains(b.root.BuildMetadata, types.OriginAnnotations) {
		if err := objects.RemoveOriginAnnotations(); err != nil {
			return err
		}
	}
	left := b.limits.Total
	for i, o := range objects.Resources() {
		finish := (*resource.Resource).MarshalJSON
		if b.finishObject != nil {
			finish = b.finishObject
		}
		text, err := finish(o)
		if err != nil && b.finishObject != nil {
			out[i].failed = ShortenError(err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if left -= int64(len(text)); left < 0 {
			return errors.New("the objects take more than the limit for all files together")
		}
		out[i].json = text
	}
	return nil
}

// originOf returns where o was read from: the file of a resource, or the kustomization that
// generates it.
func (w *Walk) originOf(root *Kustomization, o builtObject) model.Origin {
	switch {
	case o.origin.ConfiguredIn != "":
		return model.Origin{File: path.Join(root.Name, o.origin.ConfiguredIn)}
	case o.origin.Path != "":
		name := path.Join(root.Name, o.origin.Path)
		if file, made := w.generatedFiles[name]; made {
			return model.Origin{File: file}
		}
		return model.Origin{File: name, Line: w.findDeclaredLine(name, o.kind, o.name)}
	}
	return model.Origin{File: root.file.Name}
}

// absolutePath is a path of the machine in a text of the library, whose last part is enough.
var absolutePath = regexp.MustCompile(`'/(?:[^'/]+/)+([^'/]+)'`)

// ShortenError returns an error of the library on one line of bounded length, without addresses in
// memory, and paths and contents of files that it may repeat. Of folders in folders, it is what the
// last one says.
func ShortenError(err error) error {
	const most = 400
	text := err.Error()
	if before, after, found := strings.Cut(text, " with config: `"); found {
		text = before + after[max(0, strings.LastIndex(after, "`: ")+1):]
	}
	text, _, _ = strings.Cut(text, "\n")
	// a file that is refused is tried as a folder, which says nothing
	if _, after, found := strings.Cut(text, "accumulation err='"); found && strings.Contains(after, "must build at directory") {
		if before, _, found := strings.Cut(after, "': must build at directory"); found {
			text = before
		}
	}
	if at := strings.LastIndex(text, "recursed "); at >= 0 {
		if _, after, found := strings.Cut(text[at:], "': "); found {
			text = after
		}
	}
	text = absolutePath.ReplaceAllString(text, "'$1'")
	if before, after, found := strings.Cut(text, " &{"); found {
		_, after, _ = strings.Cut(after, "}")
		text = before + after
	}
	for _, content := range []string{"[patch: ", "decoding "} {
		if before, _, found := strings.Cut(text, content); found {
			text = before + "…"
		}
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return errors.New(text)
}

// libraryError is what the library says of a build, shortened for people.
type libraryError struct {
	short error
	text  string
}

func (e *libraryError) Error() string { return e.short.Error() }

// unfinishedBuildError says why a build was left behind.
type unfinishedBuildError struct {
	why        error
	isTooLarge bool
}

func (e unfinishedBuildError) Error() string { return e.why.Error() }

// IsUnfinished reports whether an error is that of a build that goes on in the background. No other
// can be run then.
func IsUnfinished(err error) bool { return errors.As(err, new(unfinishedBuildError)) }

// IsTooLarge reports whether an error is that of a build that goes on in the background and takes ever
// more memory, so that the program should end.
func IsTooLarge(err error) bool {
	var unfinished unfinishedBuildError
	return errors.As(err, &unfinished) && unfinished.isTooLarge
}

// heapBytes is how much memory objects take, those no longer in use included.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
