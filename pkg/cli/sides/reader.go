package sides

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Reader reads sides.
type Reader struct {
	Flags   *Flags
	Engine  *dopolicy.Engine
	cluster *source.ClusterAccess // of a side that is live
	other   *source.ClusterAccess // of one that is live in the context of --to-context
	Streams run.Streams
}

// NewReader makes the reader of the sides. If one of them is live, names of objects mean what
// they mean to kubectl: in the namespace of -n, else in that of the kubeconfig.
func (f *Flags) NewReader(engine *dopolicy.Engine, s run.Streams, from, to Side) (*Reader, error) {
	f.givenNamespace = f.Source.Namespace
	if err := f.Source.Rendering.Prepare(); err != nil {
		return nil, err
	}
	r := &Reader{Flags: f, Engine: engine, Streams: s}
	if to.context != "" {
		c, err := f.Source.Cluster.FindOf(to.context)
		if err != nil {
			return nil, err
		}
		r.other = c
	}
	if !from.isLive() && (!to.isLive() || r.other != nil) {
		return r, nil
	}
	c, err := f.Source.Cluster.Find()
	var none *failure.NoAnswerError
	if errors.As(err, &none) && from.isLive() && (f.hasOverlay() || len(f.Deleted) > 0) {
		none.Hint = "-f, -k and --delete change the first side, here the cluster; to change files, name them first: " +
			"kubectl dopolicy diff FOLDER --delete KIND/NAME, or kubectl dopolicy diff FOLDER -f FILE"
	}
	if err != nil {
		return nil, err
	}
	r.cluster = c
	if r.other != nil && c.Context == r.other.Context {
		return nil, failure.Usage("name another context", "both sides are context %s: there is nothing to compare",
			c.Context)
	}
	f.Source.Namespace = cmp.Or(f.Source.Namespace, c.Namespace)
	return r, nil
}

// ComparedNamespace is the namespace that the comparison is narrowed to, "" for all.
func (f *Flags) ComparedNamespace() string {
	if f.Source.AllNamespaces || slices.ContainsFunc(f.Deleted, func(text string) bool {
		return strings.Count(text, "/") < 2 // -n says where the object is
	}) {
		return ""
	}
	return f.givenNamespace
}

// Read reads one side.
func (r *Reader) Read(ctx context.Context, s Side) (*model.Snapshot, error) {
	if s.isLive() {
		bare := r.Flags.Source
		bare.Files, bare.Kustomization = nil, ""
		bare.AllNamespaces = r.Flags.ComparedNamespace() == ""
		c := r.cluster
		if s.context != "" {
			c = r.other
		}
		return bare.ReadCluster(ctx, c, r.Engine, r.Streams)
	}
	o := r.loadOptions()
	if rev, path, is := s.splitGit(); is {
		texts, problems, err := load.GitRevision(ctx, load.GitTree{Rev: rev, Path: path, Recursive: o.Recursive,
			Limits: o.Limits})
		if err != nil {
			return nil, err
		}
		o.TextFiles, o.Problems = texts, problems
	}
	o.Paths = []string{s.Text}
	return r.Engine.ReadFiles(ctx, o)
}

// applyFiles applies the files of the flags to a side.
func (r *Reader) applyFiles(ctx context.Context, base *model.Snapshot) (*model.Snapshot, error) {
	if !r.Flags.hasOverlay() {
		return base, nil
	}
	o := r.loadOptions()
	o.Paths, o.Kustomization = r.Flags.Source.Files, r.Flags.Source.Kustomization
	return r.Engine.ReadOver(ctx, base, o)
}

func (r *Reader) loadOptions() load.Options {
	o := load.Options{Recursive: r.Flags.Source.Recursive, Render: r.Flags.Source.Recursive,
		Helm: r.Flags.Source.Helm, Destination: r.Flags.Source.Destination, Stdin: r.Streams.In,
		Namespace: r.Flags.Source.Namespace, Limits: r.Flags.Source.Limits.Values()}
	r.Flags.Source.Rendering.Apply(&o)
	return o
}

// ReadBoth reads the two sides concurrently and resolves them. A side that is named twice is read
// once.
func (r *Reader) ReadBoth(ctx context.Context, from, to Side) (before, after *source.Session, err error) {
	var first, second *model.Snapshot
	var firstErr, secondErr error
	if from == to {
		if first, firstErr = r.Read(ctx, from); firstErr == nil {
			second, secondErr = r.applyChanges(ctx, first)
		}
	} else {
		var one sync.WaitGroup
		one.Go(func() { first, firstErr = r.Read(ctx, from) })
		if second, secondErr = r.Read(ctx, to); secondErr == nil {
			second, secondErr = r.applyChanges(ctx, second)
		}
		one.Wait()
	}
	if firstErr != nil {
		return nil, nil, source.ReportReadError(r.Streams, first, firstErr)
	}
	if secondErr != nil {
		return nil, nil, source.ReportReadError(r.Streams, second, secondErr)
	}
	var one sync.WaitGroup
	one.Go(func() { before = r.Resolve(first) })
	after = r.Resolve(second)
	one.Wait()
	if err := cmp.Or(before.CheckSize(), after.CheckSize()); err != nil {
		return nil, nil, err
	}
	return before, after, nil
}

// applyChanges changes the second side as the flags say: files are applied to it, and objects
// deleted from it.
func (r *Reader) applyChanges(ctx context.Context, base *model.Snapshot) (*model.Snapshot, error) {
	over, err := r.applyFiles(ctx, base)
	if err != nil {
		return over, err
	}
	return r.deleteObjects(over)
}

// Resolve computes what is in force on a side.
func (r *Reader) Resolve(in *model.Snapshot) *source.Session {
	return r.Flags.Source.NewSession(r.Engine.Resolve(in), r.Streams)
}

// FindKinds returns the policy kinds that --policy-kind names in either side, nil for all.
func (f *Flags) FindKinds(before, after *source.Session) ([]model.GroupKind, error) {
	var out []model.GroupKind
	for _, name := range f.Source.OnlyKinds {
		known := len(out)
		for _, s := range []*source.Session{before, after} {
			for _, k := range s.FindPolicyKinds(name) {
				out = append(out, k.ResolvedKind().GroupKind)
			}
		}
		if len(out) == known {
			return nil, after.UnknownPolicyKind(name)
		}
	}
	return out, nil
}
