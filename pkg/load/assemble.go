package load

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
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
	objects, found := r.withoutDuplicates()
	s := model.NewSnapshot(objects, model.SortProblems(slices.Concat(problems, found)))
	s.Cluster = from
	return s
}

// gatheredObjects is the objects of one input, with their namespaces.
type gatheredObjects struct {
	objects       []*model.Object
	problems      []model.Problem
	assumed       map[model.Ref]bool // objects that named no namespace
	namespace     string             // that these were given
	notKubernetes int                // documents that are no objects
}

// gatherObjects fills in the namespaces of what was read beside what is there already, of a cluster
// if there is one.
func (o Options) gatherObjects(outcomes []document.Result, there []*model.Object,
	from *model.Cluster) *gatheredObjects {
	r := &gatheredObjects{assumed: map[model.Ref]bool{}, namespace: cmp.Or(o.Namespace, "default")}
	for _, out := range outcomes {
		r.objects = append(r.objects, out.Objects...)
		r.notKubernetes += out.NotKubernetes
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

// withoutDuplicates returns the objects, each once, and the problems of all.
func (r *gatheredObjects) withoutDuplicates() ([]*model.Object, []model.Problem) {
	objects, duplicates := removeDuplicates(r.objects)
	return objects, slices.Concat(r.problems, duplicates, inputNotes(objects, r.assumed, r.namespace, r.notKubernetes))
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

// removeDuplicates keeps of equal copies of an object the one whose place sorts first, and of an
// object that was read in different versions none, so that the order of the input cannot matter.
func removeDuplicates(objects []*model.Object) (used []*model.Object, problems []model.Problem) {
	slices.SortFunc(objects, func(a, b *model.Object) int {
		return cmp.Or(a.Ref.Compare(b.Ref), a.Origin.Compare(b.Origin))
	})
	for i := 0; i < len(objects); {
		first := objects[i]
		same := 1
		for i+same < len(objects) && objects[i+same].Ref == first.Ref {
			same++
		}
		copies := objects[i : i+same]
		i += same
		if slices.ContainsFunc(copies, func(o *model.Object) bool {
			return o != first && !reflect.DeepEqual(comparableContent(o), comparableContent(first))
		}) {
			problems = append(problems, duplicateProblem(copies))
			continue
		}
		used = append(used, first)
	}
	return used, problems
}

// comparableContent returns what counts of an object. The namespace is that of its reference,
// whether it is written or not.
func comparableContent(o *model.Object) any {
	v, _ := o.Body.Value().(map[string]any)
	if meta, ok := v["metadata"].(map[string]any); ok {
		delete(meta, "namespace")
	}
	return v
}

func duplicateProblem(copies []*model.Object) model.Problem {
	places := make([]string, len(copies))
	for i, o := range copies {
		places[i] = o.Origin.String()
	}
	if once := slices.Compact(slices.Clone(places)); len(once) == 1 {
		return model.Problem{
			Severity: model.Error, Code: model.DuplicateObject,
			Message: fmt.Sprintf("%s: %s is deployed more than once, each time differently; none is used",
				copies[0].Ref, once[0]),
			Hint: "read one cluster, or one overlay, at a time",
		}.At(copies[0])
	}
	last := len(places) - 1
	none := "both are ignored"
	if last > 1 {
		none = "all are ignored"
	}
	return model.Problem{
		Severity: model.Error, Code: model.DuplicateObject,
		Message: fmt.Sprintf("%s: %s and %s define it differently; %s", copies[0].Ref, strings.Join(places[:last],
			", "), places[last], none),
		Hint: "keep one of them",
	}.At(copies[0])
}

// inputNotes returns what is said once about the whole input.
func inputNotes(objects []*model.Object, assumed map[model.Ref]bool, namespace string, foreign int) []model.Problem {
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
	if foreign > 0 {
		notes = append(notes, model.Problem{
			Severity: model.Info, Code: model.NotKubernetes,
			Message: formatCount(foreign, "document is not a Kubernetes object",
				"documents are not Kubernetes objects"),
		})
	}
	return notes
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
