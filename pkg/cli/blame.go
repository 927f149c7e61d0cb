package cli

import (
	"reflect"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// blame finds out by which objects' change something is another way after than before: objects are set back, and what is then in force is held
// against what is.
type blame struct {
	reader        *sideReader
	before, after *session
	query         view.DiffQuery
	items         []view.HistoryChange
	changed       map[model.Ref]string // what became of an object
}

// find fills in who changed what.
func (b *blame) find() {
	var refs []model.Ref
	b.changed = map[model.Ref]string{}
	for _, c := range changedObjects(b.before.Snapshot, b.after.Snapshot) {
		refs = append(refs, c.Object)
		b.changed[c.Object] = c.Change
	}
	b.narrow(refs)
	for i := range b.items {
		slices.SortFunc(b.items[i].By, func(x, y view.ObjectChange) int { return x.Object.Compare(y.Object) })
	}
}

// narrow names, of some objects, those that matter, and returns for which items any does.
func (b *blame) narrow(refs []model.Ref) map[int]bool {
	if len(refs) == 0 {
		return nil
	}
	touched := b.without(refs)
	if len(touched) == 0 || len(refs) == 1 {
		b.name(touched, refs)
		return touched
	}
	half := len(refs) / 2
	told := b.narrow(refs[:half])
	for i := range b.narrow(refs[half:]) {
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
	b.name(together, refs)
	return touched
}

// without is which items would be otherwise if some objects were as before.
func (b *blame) without(refs []model.Ref) map[int]bool {
	in := load.With(b.after.Snapshot, b.before.Snapshot, refs)
	diff := dopolicy.Diff(b.reader.resolve(in).Input, b.after.Input, b.query)
	out := map[int]bool{}
	for i := range b.items {
		if slices.ContainsFunc(diff.Items, func(c view.PolicyChange) bool { return c.Same(&b.items[i].PolicyChange) }) {
			out[i] = true
		}
	}
	return out
}

// name names objects as those that changed some items.
func (b *blame) name(items map[int]bool, refs []model.Ref) {
	for i := range items {
		for _, ref := range refs {
			b.items[i].By = append(b.items[i].By, view.ObjectChange{Object: ref, Change: b.changed[ref]})
		}
	}
}

// changedObjects are the objects that are not the same in two snapshots, in the order of their names. What servers write down about every write
// does not count.
func changedObjects(before, after *model.Snapshot) []view.ObjectChange {
	var out []view.ObjectChange
	for _, o := range after.Objects {
		switch was := before.Get(o.Ref); {
		case was == nil:
			out = append(out, view.ObjectChange{Object: o.Ref, Change: "Added"})
		case !reflect.DeepEqual(content(was), content(o)):
			out = append(out, view.ObjectChange{Object: o.Ref, Change: "Changed"})
		}
	}
	for _, o := range before.Objects {
		if after.Get(o.Ref) == nil {
			out = append(out, view.ObjectChange{Object: o.Ref, Change: "Removed"})
		}
	}
	slices.SortFunc(out, func(a, b view.ObjectChange) int { return a.Object.Compare(b.Object) })
	return out
}

// content is an object without what servers write down about every write.
func content(o *model.Object) any {
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
