package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/gitops"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/kustomize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Options say what to read and how.
type Options struct {
	// Paths are files, folders and "-" for standard input. A file that is reached twice is read
	// once. Of a folder, the files that end in .yaml, .yml or .json are read, also hidden ones,
	// and links to other folders are not followed.
	Paths     []string
	Recursive bool // read sub-folders too
	// Render has a recursive folder read as the tools do that deploy it: kustomizations in it are
	// built, and what objects lead to (Flux Kustomizations, Argo CD Applications, Helm releases) is
	// read as they say. What cannot be rendered is in the problems.
	Render bool
	Helm   bool // charts are rendered with the helm program, if there is one
	// Destination is the cluster to read, if what is rendered is for several: as Argo CD calls it,
	// or its address, or the name of the object with the kubeconfig that Flux reaches it with. That
	// of the tools themselves is in-cluster. Empty means all, and a warning names them.
	Destination string
	Stdin       io.Reader
	// Sources say, with Render, which folders hold what a source of Flux has, or a repository of
	// Argo CD.
	Sources []gitops.SourceFolder
	// Values are those of variables, ${NAME}, that nothing in the input gives a value.
	Values gitops.Values
	// Texts are files that were read already, with what was found wrong on the way. They are read
	// instead of Paths.
	TextFiles []input.TextFile
	Problems  []model.Problem

	// Kustomization is the folder of a kustomization to build and read instead of Paths. Nothing is
	// fetched and no program is run: what would need it is refused before the build. The library
	// keeps state of its own, so that two builds must not run at the same time.
	Kustomization string

	// Namespace is that of namespaced objects that name none (G7); empty means default.
	Namespace string
	// ClusterScoped are kinds without namespace, beside those of Kubernetes and the Gateway API and
	// those that a CustomResourceDefinition in the input says to be so.
	ClusterScoped []model.GroupKind
	// IsRead tells on which kinds answers depend, beside those of policies that say what they are
	// attached to; nil: on every kind. It is no error if others are defined more than once.
	IsRead func(model.GroupKind) bool

	Limits document.Limits
}

// Files reads everything that the options name into a snapshot. Trouble with single documents is in
// its problems. There is an *Error if no answer is possible: a path that is missing or cannot be
// read, a folder without manifests, or a kustomization that cannot be built (it is built whole: one
// broken document is enough). If not one object was found anywhere, the error wraps
// ErrNothingReadable and the snapshot, which holds the reasons, comes with it. The order of the
// input changes nothing but line numbers. When ctx ends, its error is returned.
func Files(ctx context.Context, o Options) (*model.Snapshot, error) {
	r, err := o.readInput(ctx)
	if err != nil {
		return nil, err
	}
	var cluster *model.Cluster
	if r.header != nil {
		cluster = r.header.ToCluster()
		r.problems = slices.Concat(r.problems, r.header.Problems, r.header.UnreportedProblems())
		if p := truncationProblem(r.header, r.outcomes); p != nil {
			r.problems = append(r.problems, *p)
		}
	}
	s := assembleSnapshot(o, cluster, r.outcomes, r.problems)
	s.Omissions = r.findOmissions()
	hideCredentials(s)
	return s, r.checkReadable(o)
}

// truncationProblem returns a problem if fewer objects were read than the header of a snapshot
// announces.
func truncationProblem(h *model.Header, outcomes []document.Result) *model.Problem {
	if h.Objects == nil {
		return nil
	}
	read := 0
	for _, out := range outcomes {
		for _, o := range out.Objects {
			if o.Origin.Cluster != "" {
				read++
			}
		}
	}
	if read == *h.Objects {
		return nil
	}
	return &model.Problem{Severity: model.Error, Code: model.InvalidYAML, Origin: &model.Origin{Cluster: h.Cluster},
		Message: fmt.Sprintf("the snapshot holds %d objects, and its header says %d: something of it is lost",
			read, *h.Objects),
		Hint: "take it anew with: kubectl dopolicy snapshot -o FILE"}
}

// inputResult is what was read of what options name.
type inputResult struct {
	outcomes  []document.Result
	problems  []model.Problem // beside those of objects
	header    *model.Header   // of the snapshot, if one is read
	omissions []model.Omission
	followed  map[input.Follower]bool // objects whose content was read too
	documents int
}

// readInput reads and decodes what the options name.
func (o Options) readInput(ctx context.Context) (*inputResult, error) {
	limits := o.Limits.WithDefaults()
	in := input.NewReader(o.Stdin, limits)
	r := &inputResult{}
	err := o.eachBatch(ctx, in, limits, func(pieces []document.Raw) error {
		outcomes, err := document.Decode(ctx, pieces, limits)
		r.outcomes, r.documents = append(r.outcomes, outcomes...), r.documents+len(pieces)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.header, r.problems, r.omissions, r.followed = in.SnapshotHeader, in.Problems, in.Omissions, in.Followed
	return r, nil
}

// readOverlay reads manifests that are applied on top of something else. A snapshot cannot: it is
// an error, whose hint says what to do instead.
func (o Options) readOverlay(ctx context.Context, what, hint string) (*inputResult, error) {
	r, err := o.readInput(ctx)
	if err == nil && r.header != nil {
		return nil, &document.Error{What: o.inputName(), Err: errors.New("a snapshot cannot be applied on top of " +
			what), Hint: hint}
	}
	return r, err
}

// checkReadable returns an error if not one object was found.
func (r *inputResult) checkReadable(o Options) error {
	if slices.ContainsFunc(r.outcomes, func(out document.Result) bool { return out.Readable > 0 }) {
		return nil
	}
	return &document.Error{What: o.inputName(), Err: document.ErrNothingReadable,
		Hint: r.nothingReadableHint()}
}

// inputName is how errors call everything that the options name.
func (o Options) inputName() string { return cmp.Or(o.Kustomization, strings.Join(o.Paths, ", ")) }

// eachBatch hands over the documents that the options name: those of files some at a time, so that
// not all texts are kept, and those that are rendered together.
func (o Options) eachBatch(ctx context.Context, r *input.Reader, limits document.Limits,
	use func([]document.Raw) error) error {
	switch {
	case o.Kustomization != "" && len(o.Paths) > 0:
		return &document.Error{What: "input",
			Err: errors.New("files and a kustomization cannot be read together"), Hint: "name one of them"}
	case o.Kustomization != "":
		pieces, err := kustomize.Build(ctx, kustomize.Options{Folder: o.Kustomization, Helm: o.Helm, Limits: limits,
			FinishObject: o.finishObject()}, r)
		return useAll(pieces, err, use)
	case len(o.TextFiles) > 0:
		r.Problems = append(r.Problems, o.Problems...)
		if o.Recursive && o.Render {
			r.Problems = append(r.Problems, notRenderedProblems(o.TextFiles)...)
		}
		sources := make([]input.File, len(o.TextFiles))
		for i := range o.TextFiles {
			sources[i] = input.File{Name: o.TextFiles[i].Name, Named: o.TextFiles[i].Named, Content: &o.TextFiles[i]}
		}
		return o.eachUnrendered(ctx, r, sources, limits, use)
	case len(o.Paths) == 0:
		return &document.Error{What: "input", Err: errors.New("there are no files to read"),
			Hint: "name files or folders with -f"}
	}
	f, err := input.Find(o.Paths, o.Recursive, o.Recursive && o.Render)
	if err != nil {
		return err
	}
	if f.SeparateDeployments {
		pieces, err := gitops.Render(ctx, gitops.Options{Paths: o.Paths, Namespace: o.Namespace,
			Destination: o.Destination, Helm: o.Helm, Sources: o.Sources, Values: o.Values, Limits: limits}, r, f)
		return useAll(pieces, err, use)
	}
	return o.eachUnrendered(ctx, r, f.Files, limits, use)
}

// useAll hands over documents unless there is an error.
func useAll(pieces []document.Raw, err error, use func([]document.Raw) error) error {
	if err != nil {
		return err
	}
	return use(pieces)
}

// finishObject returns what fills in values in what is built; nil if there are none.
func (o Options) finishObject() func(*resource.Resource) ([]byte, error) {
	if len(o.Values) == 0 {
		return nil
	}
	return o.Values.FinishObject
}

// eachUnrendered hands over manifests as they stand, and notes what was not built.
func (o Options) eachUnrendered(ctx context.Context, r *input.Reader, files []input.File, limits document.Limits,
	use func([]document.Raw) error) error {
	return r.ReadBatches(ctx, files, func(pieces []document.Raw) error {
		for i := range pieces {
			if pieces[i].Cluster == "" {
				pieces[i].Text = o.Values.Fill(pieces[i].Text)
			}
			addUnbuilt(r, pieces[i], limits)
		}
		return use(pieces)
	})
}

// nothingReadableHint says what to do if not one object was found.
func (r *inputResult) nothingReadableHint() string {
	const objects = "objects have apiVersion, kind and metadata.name"
	hasProblems := len(r.problems) > 0
	for _, out := range r.outcomes {
		hasProblems = hasProblems || len(out.Problems) > 0
	}
	switch {
	case hasProblems:
		return "see the problems with each document; " + objects
	case r.documents > 0:
		return objects + "; name a file with -f to be told why it is none"
	}
	return "there is nothing in it"
}
