package load

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Over reads manifests and lays them over a snapshot, as if they were applied: an object takes the place of the one with its reference and
// keeps its time of creation, a new one is created last. The base stays as it is. Errors are those of Files; a snapshot cannot lie over
// another.
func Over(ctx context.Context, base *model.Snapshot, o Options) (*model.Snapshot, error) {
	limits := o.Limits.orDefault()
	in := &reader{stdin: o.Stdin, left: limits.Total}
	pieces, err := o.pieces(ctx, in, limits)
	if err != nil {
		return nil, err
	}
	if in.header != nil {
		return nil, &Error{What: cmp.Or(o.Kustomization, strings.Join(o.Paths, ", ")), Err: errors.New("a snapshot cannot lie over another input"), Hint: "name it as a side of the comparison"}
	}
	size := limits.Total - in.left
	if o.Sized != nil {
		o.Sized(size)
	}
	outcomes, err := decode(ctx, pieces, limits)
	if err != nil {
		return nil, err
	}
	readable := slices.ContainsFunc(outcomes, func(out outcome) bool { return out.readable > 0 })
	s := laid(base, o, outcomes, in.problems)
	s.Size = base.Size + size
	if !readable {
		return s, &Error{What: cmp.Or(o.Kustomization, strings.Join(o.Paths, ", ")), Err: ErrNothingReadable, Hint: nothingHint(len(pieces) + len(in.problems))}
	}
	return s, nil
}

// laid is the base with what was read over it. Problems of objects that are replaced are gone with them.
func laid(base *model.Snapshot, o Options, outcomes []outcome, problems []model.Problem) *model.Snapshot {
	objects, found := o.gather(outcomes, base.Objects, base.Cluster).unique()
	problems = append(problems, found...)
	kept, replaced := apply(base.Objects, objects)
	s := model.NewSnapshot(append(kept, objects...), model.SortProblems(append(problemsBut(base.Problems, func(ref model.Ref) bool { return replaced[ref] }), problems...)))
	s.Cluster = base.Cluster
	return s
}

// Without is a snapshot without some of its objects, and what was wrong with these.
func Without(base *model.Snapshot, gone func(model.Ref) bool) *model.Snapshot {
	kept := slices.DeleteFunc(slices.Clone(base.Objects), func(o *model.Object) bool { return gone(o.Ref) })
	s := model.NewSnapshot(kept, problemsBut(base.Problems, gone))
	s.Cluster, s.Size = base.Cluster, base.Size
	return s
}

// problemsBut are the problems that are not about certain objects.
func problemsBut(problems []model.Problem, gone func(model.Ref) bool) []model.Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p model.Problem) bool { return p.Ref != nil && gone(p.Ref.Whole()) })
}
