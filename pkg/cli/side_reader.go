package cli

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// sideReader reads sides.
type sideReader struct {
	flags   *sideFlags
	engine  *dopolicy.Engine
	cluster *clusterAccess // of a side that is live
	other   *clusterAccess // of one that is live in the context of --to-context
	streams Streams
}

// newSideReader makes the reader of the sides. If one of them is live, names of objects mean what
// they mean to kubectl: in the namespace of -n, else in that of the kubeconfig.
func (f *sideFlags) newSideReader(engine *dopolicy.Engine, s Streams, from, to diffSide) (*sideReader, error) {
	f.givenNamespace = f.Source.namespace
	r := &sideReader{flags: f, engine: engine, streams: s}
	if to.context != "" {
		c, err := f.Source.cluster.findClusterOf(to.context)
		if err != nil {
			return nil, err
		}
		r.other = c
	}
	if !from.isLive() && (!to.isLive() || r.other != nil) {
		return r, nil
	}
	c, err := f.Source.cluster.findCluster()
	if err != nil {
		return nil, err
	}
	r.cluster = c
	if r.other != nil && c.context == r.other.context {
		return nil, newUsageError("name another context", "both sides are context %s: there is nothing to compare", c.context)
	}
	f.Source.namespace = cmp.Or(f.Source.namespace, c.namespace)
	return r, nil
}

// comparedNamespace is the namespace that the comparison is narrowed to, "" for all.
func (f *sideFlags) comparedNamespace() string {
	if f.Source.allNamespaces || slices.ContainsFunc(f.deleted, func(text string) bool {
		d, err := parseDeletedName(text)
		return err == nil && d.namespace == ""
	}) {
		return ""
	}
	return f.givenNamespace
}

// readSide reads one side.
func (r *sideReader) readSide(ctx context.Context, s diffSide) (*model.Snapshot, error) {
	if s.isLive() {
		bare := r.flags.Source
		bare.files, bare.kustomization = nil, ""
		c := r.cluster
		if s.context != "" {
			c = r.other
		}
		return bare.readCluster(ctx, c, r.engine, r.streams)
	}
	o := r.loadOptions()
	if rev, path, is := s.splitGit(); is {
		texts, problems, err := load.GitRevision(ctx, load.GitTree{Rev: rev, Path: path, Recursive: o.Recursive, Limits: o.Limits})
		if err != nil {
			return nil, err
		}
		o.TextFiles, o.Problems = texts, problems
	}
	o.Paths = []string{s.text}
	return r.engine.ReadFiles(ctx, o)
}

// applyFiles applies the files of the flags to a side.
func (r *sideReader) applyFiles(ctx context.Context, base *model.Snapshot) (*model.Snapshot, error) {
	if !r.flags.hasOverlay() {
		return base, nil
	}
	o := r.loadOptions()
	o.Paths, o.Kustomization = r.flags.Source.files, r.flags.Source.kustomization
	return r.engine.ReadOver(ctx, base, o)
}

func (r *sideReader) loadOptions() load.Options {
	return load.Options{Recursive: r.flags.Source.recursive, Render: r.flags.Source.recursive, Helm: r.flags.Source.helm, Destination: r.flags.Source.destination, Stdin: r.streams.In, Namespace: r.flags.Source.namespace, Limits: r.flags.Source.limits.loadLimits()}
}

// readBoth reads the two sides concurrently and resolves them. A side that is named twice is read
// once.
func (r *sideReader) readBoth(ctx context.Context, from, to diffSide) (before, after *session, err error) {
	var first, second *model.Snapshot
	var firstErr, secondErr error
	if from == to {
		if first, firstErr = r.readSide(ctx, from); firstErr == nil {
			second, secondErr = r.applyChanges(ctx, first)
		}
	} else {
		var one sync.WaitGroup
		one.Go(func() { first, firstErr = r.readSide(ctx, from) })
		if second, secondErr = r.readSide(ctx, to); secondErr == nil {
			second, secondErr = r.applyChanges(ctx, second)
		}
		one.Wait()
	}
	if firstErr != nil {
		return nil, nil, reportReadError(r.streams, first, firstErr)
	}
	if secondErr != nil {
		return nil, nil, reportReadError(r.streams, second, secondErr)
	}
	var one sync.WaitGroup
	one.Go(func() { before = r.resolveSide(first) })
	after = r.resolveSide(second)
	one.Wait()
	return before, after, nil
}

// applyChanges changes the second side as the flags say: files are applied to it, and objects
// deleted from it.
func (r *sideReader) applyChanges(ctx context.Context, base *model.Snapshot) (*model.Snapshot, error) {
	over, err := r.applyFiles(ctx, base)
	if err != nil {
		return over, err
	}
	return r.deleteObjects(over)
}

// resolveSide computes what is in force on a side.
func (r *sideReader) resolveSide(in *model.Snapshot) *session {
	return r.flags.Source.sessionOf(r.engine.Resolve(in), r.streams)
}

// findSideKinds returns the policy kinds that --policy-kind names in either side, nil for all.
func (f *sideFlags) findSideKinds(before, after *session) ([]model.GroupKind, error) {
	var out []model.GroupKind
	for _, name := range f.Source.onlyKinds {
		known := len(out)
		for _, s := range []*session{before, after} {
			for _, k := range s.findPolicyKinds(name) {
				out = append(out, k.ResolvedKind().GroupKind)
			}
		}
		if len(out) == known {
			return nil, after.unknownPolicyKind(name)
		}
	}
	return out, nil
}
