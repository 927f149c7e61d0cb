package history

import (
	"reflect"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/sides"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	viewdiff "github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/history"
)

// blame finds out by which objects' change something is another way after than before: objects are
// set back, and what is then in force is held against what is.
type blame struct {
	reader        *sides.Reader
	before, after *source.Session
	query         viewdiff.Query
	items         []history.HistoryChange
	changed       map[model.Ref]string // what became of an object
}

// attributeChanges fills in, for every item, whose change it comes from.
func (b *blame) attributeChanges() {
	var refs []model.Ref
	b.changed = map[model.Ref]string{}
	for _, c := range findChangedObjects(b.before.Snapshot, b.after.Snapshot) {
		refs = append(refs, c.Object)
		b.changed[c.Object] = c.Change
	}
	b.bisectObjects(refs)
	for i := range b.items {
		slices.SortFunc(b.items[i].By, func(x, y history.ObjectChange) int { return x.Object.Compare(y.Object) })
	}
}

// bisectObjects finds the smallest sets of objects whose change matters, halving refs until one
// half alone does not explain an item. It returns the items that any of refs matters for.
func (b *blame) bisectObjects(refs []model.Ref) map[int]bool {
	if len(refs) == 0 {
		return nil
	}
	touched := b.itemsCausedBy(refs)
	if len(touched) == 0 || len(refs) == 1 {
		b.addCauses(touched, refs)
		return touched
	}
	half := len(refs) / 2
	told := b.bisectObjects(refs[:half])
	for i := range b.bisectObjects(refs[half:]) {
		if told == nil {
			told = map[int]bool{}
		}
		told[i] = true
	}
	together := map[int]bool{} // no half of them is needed, but one of the halves is
	for i := range touched {
		if !told[i] {
			together[i] = true
		}
	}
	b.addCauses(together, refs)
	return touched
}

// itemsCausedBy returns the items that would be otherwise if some objects were as before.
func (b *blame) itemsCausedBy(refs []model.Ref) map[int]bool {
	in := load.ReplaceObjects(b.after.Snapshot, b.before.Snapshot, refs)
	diff := dopolicy.Diff(b.reader.Resolve(in).Input, b.after.Input, b.query)
	out := map[int]bool{}
	for i := range b.items {
		if slices.ContainsFunc(diff.Items,
			func(c viewdiff.PolicyChange) bool { return c.HasSameTarget(&b.items[i].PolicyChange) }) {
			out[i] = true
		}
	}
	return out
}

// addCauses notes objects as the cause of some items.
func (b *blame) addCauses(items map[int]bool, refs []model.Ref) {
	for i := range items {
		for _, ref := range refs {
			b.items[i].By = append(b.items[i].By, history.ObjectChange{Object: ref, Change: b.changed[ref]})
		}
	}
}

// findChangedObjects lists the objects that differ between two snapshots, sorted by name. Fields
// that servers change with every write do not count.
func findChangedObjects(before, after *model.Snapshot) []history.ObjectChange {
	var out []history.ObjectChange
	for _, o := range after.Objects {
		switch was := before.Get(o.Ref); {
		case was == nil:
			out = append(out, history.ObjectChange{Object: o.Ref, Change: "Added"})
		case !reflect.DeepEqual(comparableContent(was), comparableContent(o)):
			out = append(out, history.ObjectChange{Object: o.Ref, Change: "Changed"})
		}
	}
	for _, o := range before.Objects {
		if after.Get(o.Ref) == nil {
			out = append(out, history.ObjectChange{Object: o.Ref, Change: "Removed"})
		}
	}
	slices.SortFunc(out, func(a, b history.ObjectChange) int { return a.Object.Compare(b.Object) })
	return out
}

// comparableContent returns an object without the fields that servers change with every write.
func comparableContent(o *model.Object) any {
	body, ok := o.Body.Value().(map[string]any)
	if !ok {
		return o.Body.Value()
	}
	if metadata, ok := body["metadata"].(map[string]any); ok {
		for _, field := range []string{"resourceVersion", "managedFields", "generation", "selfLink"} {
			delete(metadata, field)
		}
	}
	return body
}
