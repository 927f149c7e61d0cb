package load

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// AssembleCluster makes a snapshot of what was read of a cluster. The manifests that the options
// name, if they name any, take the place of what the cluster has, as if they were applied. Errors
// are those of Files; a snapshot cannot be applied on top of a cluster.
func AssembleCluster(ctx context.Context, overlay Options, from *model.Cluster, outcomes []document.Result,
	problems []model.Problem) (*model.Snapshot, error) {
	if len(overlay.Paths) > 0 || overlay.Kustomization != "" {
		over, err := overlay.readOverlay(ctx, "a cluster", "drop --live to ask the snapshot")
		if err != nil {
			return nil, err
		}
		outcomes, problems = slices.Concat(outcomes, over.outcomes), slices.Concat(problems, over.problems)
	}
	return assembleSnapshot(overlay, from, outcomes, problems), nil
}

// assembleSnapshot makes one snapshot of all results. Manifests are applied on top of the objects
// of a cluster, if there is one.
func assembleSnapshot(o Options, from *model.Cluster, outcomes []document.Result,
	problems []model.Problem) *model.Snapshot {
	r := o.gatherObjects(outcomes, nil, from)
	if from != nil {
		r.objects = dropReplaced(r.objects)
	}
	read := r.removeDuplicates(o.IsRead)
	s := model.NewSnapshot(read.objects, model.SortProblems(slices.Concat(problems, read.problems)))
	s.Cluster, s.Ambiguous = from, read.ambiguous
	return s
}

// gatheredObjects is the objects of one input, with their namespaces.
type gatheredObjects struct {
	objects   []*model.Object
	problems  []model.Problem
	assumed   map[model.Ref]bool // objects that named no namespace
	namespace string             // that these were given
	foreign   map[string]int     // documents that are no objects, by their files
}

// gatherObjects fills in the namespaces of what was read beside what is there already, of a cluster
// if there is one.
func (o Options) gatherObjects(outcomes []document.Result, there []*model.Object,
	from *model.Cluster) *gatheredObjects {
	r := &gatheredObjects{assumed: map[model.Ref]bool{}, namespace: cmp.Or(o.Namespace, "default"),
		foreign: map[string]int{}}
	for _, out := range outcomes {
		r.objects = append(r.objects, out.Objects...)
		if out.NotKubernetes > 0 && !isHiddenPath(out.File) {
			r.foreign[out.File] += out.NotKubernetes
		}
	}
	cluster := newScopeLookup(slices.Concat(there, r.objects), slices.Concat(o.ClusterScoped,
		from.ClusterScopedKinds()))
	var assumed []*model.Object
	for _, out := range outcomes {
		for _, o := range out.Objects {
			if assignNamespace(o, cluster(o.Ref.GroupKind()), cmp.Or(out.Namespace, r.namespace)) &&
				out.Namespace == "" {
				assumed = append(assumed, o)
			}
		}
	}
	nameGenerated(outcomes, slices.Concat(there, r.objects))
	for _, o := range assumed {
		r.assumed[o.Ref] = true
	}
	for _, out := range outcomes {
		for _, f := range out.Problems {
			r.problems = append(r.problems, f.ToProblem())
		}
	}
	return r
}

// uniqueObjects is the objects of one input, each once.
type uniqueObjects struct {
	objects   []*model.Object
	problems  []model.Problem
	ambiguous map[model.Ref]bool // objects that are defined in several versions, of which none is used
}

// removeDuplicates keeps one of the copies of each object that was read more than once, or none.
// isRead says on which kinds answers depend.
func (r *gatheredObjects) removeDuplicates(isRead func(model.GroupKind) bool) uniqueObjects {
	used, several := removeDuplicates(r.objects)
	out := uniqueObjects{objects: used, problems: slices.Concat(r.problems, reportDuplicates(several, isRead),
		inputNotes(used, r.assumed, r.namespace, r.foreign))}
	if len(several) > 0 {
		out.ambiguous = make(map[model.Ref]bool, len(several))
		for _, copies := range several {
			out.ambiguous[copies[0].Ref] = true
		}
	}
	return out
}

// dropReplaced leaves out the objects of a cluster that manifests replace.
func dropReplaced(objects []*model.Object) []*model.Object {
	var live, over []*model.Object
	for _, o := range objects {
		if o.Origin.Cluster != "" {
			live = append(live, o)
		} else {
			over = append(over, o)
		}
	}
	if len(over) == 0 {
		return objects
	}
	kept, _ := applyObjects(live, over)
	return append(kept, over...)
}

// applyObjects returns what is left of objects when others are applied to them, and which are
// replaced. What is applied keeps the time of creation, or is created now: later than everything
// that is there, as its clock may be ahead of ours.
func applyObjects(there, over []*model.Object) (kept []*model.Object, replaced map[model.Ref]bool) {
	before := make(map[model.Ref]*model.Object, len(there))
	now := time.Now().UTC().Truncate(time.Second)
	for _, o := range there {
		before[o.Ref] = o
		if !o.Created.Before(now) {
			now = o.Created.Add(time.Second)
		}
	}
	replaced = map[model.Ref]bool{}
	for _, o := range over {
		replaced[o.Ref] = true
		if old := before[o.Ref]; old != nil {
			o.Created = old.Created
		} else if o.Created.IsZero() {
			o.Created, o.IsNew = now, true
		}
	}
	return slices.DeleteFunc(slices.Clone(there), func(o *model.Object) bool { return replaced[o.Ref] }), replaced
}

// inputNotes returns what is said once about the whole input.
func inputNotes(objects []*model.Object, assumed map[model.Ref]bool, namespace string,
	foreign map[string]int) []model.Problem {
	var notes []model.Problem
	count := 0
	for _, o := range objects {
		if assumed[o.Ref] {
			count++
		}
	}
	if count > 0 {
		notes = append(notes, model.Problem{
			Severity: model.Info, Code: model.NamespaceAssumed,
			Message: fmt.Sprintf("%s no namespace: %s is assumed", formatCount(count, "object has", "objects have"),
				namespace),
			Hint: "another can be given with -n",
		})
	}
	if p := foreignNote(foreign); p != nil {
		notes = append(notes, *p)
	}
	return notes
}

// isHiddenPath reports whether a part of a path begins with a dot: what is there is expected to be for
// other programs.
func isHiddenPath(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return input.IsHidden(part) && part != "." && part != ".."
	})
}

// foreignNote returns what is said of documents that are not meant for Kubernetes, which are counted
// by their files. It is nil if there are none.
func foreignNote(foreign map[string]int) *model.Problem {
	count := 0
	for _, n := range foreign {
		count += n
	}
	if count == 0 {
		return nil
	}
	return &model.Problem{
		Severity: model.Info, Code: model.NotKubernetes,
		Message: formatCount(count, "document is not a Kubernetes object", "documents are not Kubernetes objects") +
			": " + listSome(slices.Sorted(maps.Keys(foreign)), "files"),
	}
}

// listSome lists the first of texts, and how many more there are.
func listSome(texts []string, what string) string {
	const shown = 3
	if len(texts) <= shown+1 {
		return joinWords(texts)
	}
	return fmt.Sprintf("%s and %d more %s", strings.Join(texts[:shown], ", "), len(texts)-shown, what)
}

// joinWords lists texts as a sentence does.
func joinWords(texts []string) string {
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
