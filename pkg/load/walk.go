package load

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// maxVisits is how often kustomizations may be entered in one build. One that several others name is built, and counts,
// each time.
const maxVisits = 10_000

// walk reads what a kustomization is made of, as the library will, and refuses what must not be built.
type walk struct {
	disk     *shelf
	in       *reader
	limits   Limits
	visits   int
	docs     map[string][]manifest    // by absolute path
	declared map[string][]declaration // by the name of the resource file
	within   filesys.ConfirmedDir     // where files may lie that are not below the folder of their kustomization; "": nowhere
	stands   map[string]string        // the kustomization files in whose place files stand that are on no disk, by the names of both
	charts   *charts                  // what renders the charts of kustomizations; nil: they are refused
	without  bool                     // go without objects that would have to be fetched and charts that are not rendered, and note them
	lacks    []lack
}

// kustomization is one kustomization on the walk.
type kustomization struct {
	types.Kustomization
	dir       filesys.ConfirmedDir // absolute, without links
	name      string               // of the folder, as the user would type it
	file      spot                 // the kustomization file
	doc       manifest             // what it holds
	component bool                 // named under components
	parent    *kustomization       // the one that names it; nil for the root
	plugins   *kustomization       // its resources configure generators or transformers of this one; nil: they are objects

	made   *types.Kustomization       // takes the place of a file, which the folder does not hold
	change func(*types.Kustomization) // what is built otherwise than the file says; nil: nothing
}

const folderHint = "name the folder that holds kustomization.yaml"

// root walks the kustomization in the folder that the user named, and changes for the build what does not change the objects: they
// are not sorted, and tell where they come from.
func (w *walk) root(ctx context.Context, named string) (*kustomization, error) {
	name := filepath.ToSlash(filepath.Clean(named))
	info, err := os.Stat(named)
	switch {
	case remote(named):
		return nil, &Error{What: named, Err: errors.New("it is remote, and nothing is fetched"), Hint: "download it and name the folder"}
	case err != nil:
		return nil, &Error{What: name, Err: cause(err), Hint: folderHint}
	case !info.IsDir():
		return nil, &Error{What: name, Err: errors.New("a kustomization is a folder"), Hint: folderHint}
	}
	dir, err := filesys.ConfirmDir(w.disk, named)
	if err != nil {
		return nil, pathError(name, err)
	}
	k := &kustomization{dir: dir, name: name}
	return k, w.begin(ctx, k)
}

// begin walks the root of a build, and has the library read it as it is to be built.
func (w *walk) begin(ctx context.Context, k *kustomization) error {
	if err := w.visit(ctx, k); err != nil {
		return err
	}
	asking := k.Kustomization
	asking.SortOptions = nil // sorting takes time with the square of the number of objects, and their order does not matter here
	asking.BuildMetadata = append([]string{types.OriginAnnotations}, asking.BuildMetadata...)
	return w.rewrite(k, asking)
}

// rewrite has the library read something else than the kustomization file of k.
func (w *walk) rewrite(k *kustomization, as types.Kustomization) error {
	text, err := json.Marshal(as)
	if err != nil {
		return &Error{What: k.file.name, Err: err}
	}
	w.disk.own[k.file.path()] = text
	return nil
}

// visit reads the kustomization in k's folder and everything that it names.
func (w *walk) visit(ctx context.Context, k *kustomization) error {
	if w.visits++; w.visits > maxVisits {
		return &Error{What: k.name, Err: errors.New("kustomizations are named more than " + strconv.Itoa(maxVisits) + " times"), Hint: buildHint}
	}
	if err := w.open(ctx, k); err != nil {
		return err
	}
	if k.change != nil {
		k.change(&k.Kustomization)
	}
	if err := w.inflate(ctx, k); err != nil {
		return err
	}
	if err := w.lighten(k); err != nil {
		return err
	}
	if err := k.check(); err != nil {
		return err
	}
	for _, e := range k.entries() {
		if err := w.follow(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// open finds and reads the kustomization file.
func (w *walk) open(ctx context.Context, k *kustomization) error {
	if k.made != nil {
		k.Kustomization = *k.made
		k.file = spot{dir: k.dir, file: konfig.DefaultKustomizationFileName(), name: k.name}
		return nil
	}
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		dir, file, err := w.disk.CleanedAbs(k.dir.Join(name))
		if err == nil && file != "" && dir.HasPrefix(k.dir) {
			found = append(found, name)
			k.file = spot{dir: dir, file: file, name: path.Join(k.name, name)}
		}
	}
	switch {
	case len(found) == 0:
		return &Error{What: k.name, Err: errors.New("the folder holds no kustomization.yaml"), Hint: "manifests without one are read with -f"}
	case len(found) > 1:
		return &Error{What: k.name, Err: errors.New("the folder holds " + strings.Join(found, " and ")), Hint: "keep one of them"}
	}
	docs, err := w.manifests(ctx, k.file)
	if err != nil {
		return err
	}
	if len(docs) > 0 {
		k.doc = docs[0]
	}
	if err := k.Unmarshal(w.disk.files[k.file.path()]); err != nil {
		at := model.Origin{File: k.file.name}
		if _, field, found := strings.Cut(err.Error(), "unknown field \""); found {
			field, _, _ = strings.Cut(field, "\"")
			at.Line = k.doc.lineOf(field)
		}
		return &Error{What: at.String(), Err: plainly(err)}
	}
	return nil
}

// check refuses a kustomization that the library would refuse, and one that inflates charts.
func (k *kustomization) check() error {
	wrong := strings.Join(k.EnforceFields(), "; ")
	if err := k.CheckEmpty(); err != nil {
		wrong = "there is nothing in it"
	}
	switch isComponent := k.Kind == types.ComponentKind; {
	case wrong != "":
	case k.component && !isComponent:
		wrong = "it is no component: name it under resources"
	case !k.component && isComponent && k.parent != nil:
		wrong = "it is a component: name it under components"
	case k.plugins != nil && !k.lists():
		wrong = "a folder of generators or transformers may only list resources"
	}
	if wrong != "" {
		return &Error{What: k.file.name, Err: errors.New(wrong)}
	}
	return nil
}

// lists reports whether k does nothing but list resources.
func (k *kustomization) lists() bool {
	rest := k.Kustomization
	rest.TypeMeta, rest.MetaData, rest.Resources = types.TypeMeta{}, nil, nil
	//lint:ignore SA1019 it is still built
	rest.Bases = nil
	return reflect.DeepEqual(rest, types.Kustomization{})
}

// below walks k, the kustomization in the folder at s, which e names.
func (w *walk) below(ctx context.Context, e entry, s spot, k *kustomization) error {
	if filepath.IsAbs(e.text) {
		return e.refuse("write it relative to the folder of the kustomization", "the path of a kustomization is absolute")
	}
	for up := e.in; up != nil; up = up.parent {
		if up.dir.HasPrefix(s.dir) {
			return e.refuse("", "a circle: %s is, or holds, the folder of %s", s.name, up.file.name)
		}
	}
	k.dir, k.name, k.parent = s.dir, s.name, e.in
	return w.visit(ctx, k)
}
