package kustomize

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/helm"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxVisits is how often kustomizations may be entered in one build. One that several others name
// is built, and counts, each time.
const maxVisits = 10_000

// Walk reads what a kustomization is made of, as the library will, and refuses what must not be
// built.
type Walk struct {
	fileSystem      *checkedFileSystem
	reader          *input.Reader
	limits          document.Limits
	visits          int
	spent           *int                           // steps of all builds
	manifestsByPath map[string][]document.Manifest // by absolute path
	declarations    map[string][]declaration       // by the name of the resource file
	// where files may lie that are not below the folder of their kustomization; "": nowhere
	allowedRoot filesys.ConfirmedDir
	noteOutside func(kustomization string, at model.Origin) // told of those; may be nil
	// the kustomization file behind each file that is made for the build and is on no disk, by its
	// name
	generatedFiles map[string]string
	charts         *helm.Renderer // what renders the charts of kustomizations; nil: they are refused
	// objects that would have to be fetched, and charts that are not rendered, are left out and
	// noted
	allowMissing bool
	missingParts []MissingPart
	isEndless    bool             // kustomizations name each other in a circle, or too often
	visited      []*Kustomization // of this build; those that others name come first
}

// Kustomization is one kustomization on a walk.
type Kustomization struct {
	types.Kustomization
	Dir              filesys.ConfirmedDir // absolute, without links
	Name             string               // of the folder, as the user would type it
	file             FileLocation         // the kustomization file
	doc              document.Manifest    // what it holds
	namedAsComponent bool                 // named under components
	parent           *Kustomization       // the one that names it; nil for the root
	parts            []*Kustomization     // the components that it names
	namedBy          entry                // what names it; none for the root
	// its resources configure generators or transformers of this one; nil: they are objects
	pluginsOf *Kustomization

	// of patches and replacements, by their field: how many the file has, and where they stand
	entriesInFile map[string]int
	origins       map[string][]model.Origin

	cost buildCost

	generated *types.Kustomization       // used instead of a file, if the folder holds none
	modify    func(*types.Kustomization) // changes what the file says before it is built; nil: nothing is changed
}

const folderHint = "name the folder that holds kustomization.yaml"

// walkRoot walks the kustomization in the folder that the user named, and changes for the build
// what does not change the objects: they are not sorted, and tell where they come from.
func (w *Walk) walkRoot(ctx context.Context, named string) (*Kustomization, error) {
	name := filepath.ToSlash(filepath.Clean(named))
	info, err := os.Stat(named)
	switch {
	case isRemote(named):
		return nil, &document.Error{What: named, Err: errors.New("it is remote, and nothing is fetched"),
			Hint: "download it and name the folder"}
	case err != nil:
		return nil, &document.Error{What: name, Err: document.CauseOf(err), Hint: folderHint}
	case !info.IsDir():
		return nil, &document.Error{What: name, Err: errors.New("a kustomization is a folder"), Hint: folderHint}
	}
	dir, err := filesys.ConfirmDir(w.fileSystem, named)
	if err != nil {
		return nil, document.PathError(name, err)
	}
	k := &Kustomization{Dir: dir, Name: name}
	return k, w.prepareRoot(ctx, k)
}

// prepareRoot walks the root of a build, and has the library read it as it is to be built.
func (w *Walk) prepareRoot(ctx context.Context, k *Kustomization) error {
	if err := w.visitKustomization(ctx, k); err != nil {
		return err
	}
	return w.overrideRoot(k)
}

// overrideRoot has the library read the root of a build as it is to be built.
func (w *Walk) overrideRoot(k *Kustomization) error {
	asking := k.Kustomization
	// sorting takes time with the square of the number of objects, and their order does not matter
	// here
	asking.SortOptions = nil
	if k.cost.canTrace() {
		asking.BuildMetadata = append([]string{types.OriginAnnotations}, asking.BuildMetadata...)
	}
	return w.overrideKustomization(k, asking)
}

// overrideKustomization has the library read something else than the kustomization file of k.
func (w *Walk) overrideKustomization(k *Kustomization, as types.Kustomization) error {
	text, err := json.Marshal(as)
	if err != nil {
		return &document.Error{What: k.file.Name, Err: err}
	}
	// lists that are written and empty are not in the text, without which it may be an error
	var read types.Kustomization
	if err := read.Unmarshal(text); err == nil && read.CheckEmpty() != nil {
		as.BuildMetadata = []string{types.OriginAnnotations}
		if text, err = json.Marshal(as); err != nil {
			return &document.Error{What: k.file.Name, Err: err}
		}
	}
	w.fileSystem.overrides[k.file.fullPath()] = text
	return nil
}

// visitKustomization reads the kustomization in k's folder and everything that it names.
func (w *Walk) visitKustomization(ctx context.Context, k *Kustomization) error {
	if w.visits++; w.visits > maxVisits {
		w.isEndless = true
		return &document.Error{What: k.Name, Err: errors.New("kustomizations are named more than " +
			strconv.Itoa(maxVisits) + " times"), Hint: BuildHint}
	}
	if err := w.openKustomization(ctx, k); err != nil {
		return err
	}
	k.countEntries()
	if k.modify != nil {
		k.modify(&k.Kustomization)
	}
	if err := w.inflateCharts(ctx, k); err != nil {
		return err
	}
	if err := w.removeMissingParts(ctx, k); err != nil {
		return err
	}
	if err := k.checkSupported(); err != nil {
		return err
	}
	isWhole := true
	for _, e := range k.listEntries() {
		err := w.followEntry(ctx, e)
		if err != nil && (ctx.Err() != nil || !w.canGoWithout(e)) {
			return err
		}
		if err != nil {
			w.removeRefused(ctx, e, err)
			isWhole = false
		}
	}
	k.addUp()
	w.visited = append(w.visited, k)
	if isWhole {
		return nil
	}
	return w.overrideKustomization(k, k.Kustomization)
}

// openKustomization finds and reads the kustomization file.
func (w *Walk) openKustomization(ctx context.Context, k *Kustomization) error {
	if k.generated != nil {
		k.Kustomization = *k.generated
		k.file = FileLocation{Dir: k.Dir, File: konfig.DefaultKustomizationFileName(), Name: k.Name}
		return nil
	}
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		dir, file, err := w.fileSystem.CleanedAbs(k.Dir.Join(name))
		if err == nil && file != "" && dir.HasPrefix(k.Dir) {
			found = append(found, name)
			k.file = FileLocation{Dir: dir, File: file, Name: path.Join(k.Name, name)}
		}
	}
	switch {
	case len(found) == 0:
		return &document.Error{What: k.Name, Err: errors.New("the folder holds no kustomization.yaml"),
			Hint: "manifests without one are read with -f"}
	case len(found) > 1:
		return &document.Error{What: k.Name, Err: errors.New("the folder holds " + strings.Join(found, " and ")),
			Hint: "keep one of them"}
	}
	docs, err := w.ReadManifests(ctx, k.file)
	if err != nil {
		return err
	}
	if len(docs) > 0 {
		k.doc = docs[0]
	}
	if err := k.Unmarshal(w.fileSystem.files[k.file.fullPath()]); err != nil {
		at := model.Origin{File: k.file.Name}
		if _, field, found := strings.Cut(err.Error(), "unknown field \""); found {
			field, _, _ = strings.Cut(field, "\"")
			at.Line = k.doc.LineOf(field)
		}
		return &document.Error{What: at.String(), Err: parseError(w.fileSystem.files[k.file.fullPath()],
			ShortenError(err).Error())}
	}
	return nil
}

// checkSupported refuses a kustomization that the library would refuse, and one that inflates
// charts.
func (k *Kustomization) checkSupported() error {
	wrong := strings.Join(k.EnforceFields(), "; ")
	if k.isEmpty() {
		wrong = "there is nothing in it"
	}
	switch isComponent := k.Kind == types.ComponentKind; {
	case wrong != "":
	case k.namedAsComponent && !isComponent:
		wrong = "it is no component: name it under resources"
	case !k.namedAsComponent && isComponent && k.parent != nil:
		wrong = "it is a component: name it under components"
	}
	if wrong != "" {
		return &document.Error{What: k.file.Name, Err: errors.New(wrong)}
	}
	return nil
}

// isEmpty reports whether the library takes k for empty. A list that is written and empty is
// something, except in old fields, which are moved to others.
func (k *Kustomization) isEmpty() bool {
	moved := k.Kustomization
	//lint:ignore SA1019 it is still built
	if len(moved.Bases) == 0 {
		//lint:ignore SA1019 it is still built
		moved.Bases = nil
	}
	//lint:ignore SA1019 it is still built
	if len(moved.ImageTags) == 0 {
		//lint:ignore SA1019 it is still built
		moved.ImageTags = nil
	}
	if len(moved.HelmChartInflationGenerator) == 0 {
		moved.HelmChartInflationGenerator = nil
	}
	return moved.CheckEmpty() != nil
}

// visitNamed walks k, the kustomization in the folder at s, which e names.
func (w *Walk) visitNamed(ctx context.Context, e entry, s FileLocation, k *Kustomization) error {
	if filepath.IsAbs(e.text) {
		return e.newRefusal("write it relative to the folder of the kustomization",
			"the path of a kustomization is absolute")
	}
	for up := e.kustomization; up != nil; up = up.parent {
		if up.Dir.HasPrefix(s.Dir) {
			w.isEndless = true
			return e.newRefusal("", "a circle: %s is, or holds, the folder of %s", s.Name, up.file.Name)
		}
	}
	k.Dir, k.Name, k.parent, k.namedBy = s.Dir, s.Name, e.kustomization, e
	if k.namedAsComponent {
		k.parent.parts = append(k.parent.parts, k)
	}
	if err := w.visitKustomization(ctx, k); err != nil {
		return err
	}
	if k.pluginsOf == nil {
		k.parent.cost.parts = append(k.parent.cost.parts, k)
	}
	return nil
}
