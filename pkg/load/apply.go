package load

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ApplyFiles reads manifests and lays them over a snapshot, as if they were applied: an object
// takes the place of the one with its reference and keeps its time of creation, a new one is
// created last. The base stays as it is. Errors are those of Files; a snapshot cannot be applied on
// top of another.
func ApplyFiles(ctx context.Context, base *model.Snapshot, o Options) (*model.Snapshot, error) {
	r, err := o.readOverlay(ctx, "another input", "name it as a side of the comparison")
	if err != nil {
		return nil, err
	}
	return applyInput(base, o, r), r.checkReadable(o)
}

// applyInput returns the base with what was read over it. Problems of objects that are replaced are
// gone with them.
func applyInput(base *model.Snapshot, o Options, r *inputResult) *model.Snapshot {
	read := o.gatherObjects(r.outcomes, base.Objects, base.Cluster).removeDuplicates(o.IsRead)
	kept, replaced := applyObjects(base.Objects, read.objects)
	still := problemsWithout(base.Problems, func(ref model.Ref) bool { return replaced[ref] })
	s := model.NewSnapshot(append(kept, read.objects...), model.SortProblems(slices.Concat(still, r.problems,
		read.problems)))
	s.CopyScope(base)
	s.Omissions = mergeOmissions(base.Omissions, r.findOmissions())
	hideCredentials(s)
	s.Ambiguous = addAmbiguous(base.Ambiguous, read.ambiguous, replaced)
	return s
}

// addAmbiguous returns the objects of which several versions were read, in a base or in what is
// applied to it. One version that is applied decides.
func addAmbiguous(base, over, replaced map[model.Ref]bool) map[model.Ref]bool {
	out := maps.Clone(over)
	for ref := range base {
		if replaced[ref] {
			continue
		}
		if out == nil {
			out = map[model.Ref]bool{}
		}
		out[ref] = true
	}
	return out
}

// notRenderedProblems tells of texts that would be rendered if they were on disk.
func notRenderedProblems(texts []input.TextFile) []model.Problem {
	for _, t := range texts {
		name := path.Base(t.Name)
		if input.IsKustomization(name) || name == "Chart.yaml" ||
			bytes.Contains(t.Content, []byte("toolkit.fluxcd.io/v")) ||
			bytes.Contains(t.Content, []byte("argoproj.io/v")) {
			return []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated,
				Origin:  &model.Origin{File: t.Name},
				Message: "nothing is rendered in a revision of git: its manifests are read as they stand, without kustomizations, Flux, Argo CD and Helm",
				Hint:    "check the revision out (git worktree add FOLDER REV), and name the folder"}}
		}
	}
	return nil
}

// RemoveObjects returns a snapshot without some of its objects, and without their problems.
func RemoveObjects(base *model.Snapshot, gone func(model.Ref) bool) *model.Snapshot {
	kept := slices.DeleteFunc(slices.Clone(base.Objects), func(o *model.Object) bool { return gone(o.Ref) })
	s := model.NewSnapshot(kept, problemsWithout(base.Problems, gone))
	s.CopyScope(base)
	return s
}

// problemsWithout returns the problems that are not about certain objects.
func problemsWithout(problems []model.Problem, gone func(model.Ref) bool) []model.Problem {
	return slices.DeleteFunc(slices.Clone(problems), func(p model.Problem) bool {
		return p.Ref != nil &&
			gone(p.Ref.WithoutSection())
	})
}

// ReplaceObjects returns a snapshot in which some objects are as they are in another one: in place
// of its own, beside them, or gone where the other has none.
func ReplaceObjects(base, other *model.Snapshot, refs []model.Ref) *model.Snapshot {
	swapped := make(map[model.Ref]bool, len(refs))
	for _, ref := range refs {
		swapped[ref] = true
	}
	objects := slices.DeleteFunc(slices.Clone(base.Objects), func(o *model.Object) bool { return swapped[o.Ref] })
	for _, o := range other.Objects {
		if swapped[o.Ref] {
			objects = append(objects, o)
		}
	}
	s := model.NewSnapshot(objects, problemsWithout(base.Problems, func(ref model.Ref) bool { return swapped[ref] }))
	s.CopyScope(base)
	return s
}
