package load

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// removeDuplicates keeps of equal copies of an object the one whose place sorts first, and of an
// object that was read in different versions none, so that the order of the input cannot matter.
// Their copies are returned as several. Objects with a variable in the name or namespace that has
// no value may be as many as there are copies: the first stands for all.
func removeDuplicates(objects []*model.Object) (used []*model.Object, several [][]*model.Object) {
	slices.SortFunc(objects, func(a, b *model.Object) int {
		return cmp.Or(a.Ref.Compare(b.Ref), a.Origin.Compare(b.Origin))
	})
	for i := 0; i < len(objects); {
		first := objects[i]
		same := 1
		for i+same < len(objects) && objects[i+same].Ref == first.Ref {
			same++
		}
		copies := objects[i : i+same : i+same]
		i += same
		if !first.Ref.HasVariable() &&
			slices.ContainsFunc(copies, func(o *model.Object) bool {
				return o != first && !reflect.DeepEqual(comparableContent(o), comparableContent(first))
			}) {
			several = append(several, copies)
			continue
		}
		used = append(used, first)
	}
	return used, several
}

// hasSameContent reports whether two copies of an object differ in nothing but labels and
// annotations, as where each deployment adds its own.
func hasSameContent(a, b *model.Object) bool {
	return reflect.DeepEqual(withoutMarks(a), withoutMarks(b))
}

// withoutMarks returns what counts of an object, without labels and annotations.
func withoutMarks(o *model.Object) any {
	v, _ := comparableContent(o).(map[string]any)
	if meta, ok := v["metadata"].(map[string]any); ok {
		delete(meta, "labels")
		delete(meta, "annotations")
	}
	return v
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

// reportDuplicates returns the problems of objects that were read in several versions, whose copies
// are given. It is an error only where answers depend on such objects; nothing is said of others of
// several files that differ only in labels and annotations. What files contradict each other in is
// said once.
func reportDuplicates(several [][]*model.Object, isRead func(model.GroupKind) bool) []model.Problem {
	var read, unread [][]*model.Object
	for _, copies := range several {
		isUsed := isRead == nil || isRead(copies[0].Ref.GroupKind()) ||
			slices.ContainsFunc(copies, (*model.Object).HasTargets)
		switch {
		case isUsed:
			read = append(read, copies)
		case isOnePlace(copies) || slices.ContainsFunc(copies,
			func(o *model.Object) bool { return !hasSameContent(o, copies[0]) }):
			unread = append(unread, copies)
		}
	}
	var out []model.Problem
	for _, c := range joinMany(findContradictions(read)) {
		out = append(out, c.toProblem(model.Error))
	}
	for _, c := range joinMany(findContradictions(unread)) {
		out = append(out, c.toProblem(model.Info))
	}
	return out
}

// joinMany returns one contradiction for more than a few: a tree of alternatives, such as examples.
func joinMany(all []*contradiction) []*contradiction {
	const few = 3
	if len(all) <= few {
		return all
	}
	var out []*contradiction
	one := &contradiction{}
	for _, c := range all {
		if isOnePlace(c.objects[0]) { // which is of another sort
			out = append(out, c)
			continue
		}
		one.files, one.objects = append(one.files, c.files...), append(one.objects, c.objects...)
	}
	slices.Sort(one.files)
	one.files = slices.Compact(one.files)
	slices.SortFunc(one.objects, func(a, b []*model.Object) int { return a[0].Ref.Compare(b[0].Ref) })
	return append(out, one)
}

// contradiction is files that define the same objects differently: of any two of its files, or of
// others between them.
type contradiction struct {
	files   []string          // sorted
	objects [][]*model.Object // the copies of each object, sorted by reference
}

// findContradictions puts objects together whose copies stand in the same files, or in files that
// others connect; and those that are each deployed more than once from one place, as clusters and
// overlays do. They are in the order of their first objects.
func findContradictions(several [][]*model.Object) []*contradiction {
	groups := map[string]string{} // from a file to one of its group; the last leads to itself
	find := func(file string) string {
		for groups[file] != file {
			groups[file] = groups[groups[file]] // so that the way gets shorter
			file = groups[file]
		}
		return file
	}
	for _, copies := range several {
		if isOnePlace(copies) {
			continue
		}
		for _, o := range copies {
			if groups[o.Origin.File] == "" {
				groups[o.Origin.File] = o.Origin.File
			}
			groups[find(o.Origin.File)] = find(copies[0].Origin.File)
		}
	}
	found := map[string]*contradiction{}
	var out []*contradiction
	for _, copies := range several {
		group := "" // of what is deployed more than once
		if !isOnePlace(copies) {
			group = find(copies[0].Origin.File)
		}
		c := found[group]
		if c == nil {
			c = &contradiction{}
			found[group], out = c, append(out, c)
		}
		c.objects = append(c.objects, copies)
		for _, o := range copies {
			c.files = append(c.files, o.Origin.File)
		}
	}
	for _, c := range out {
		slices.Sort(c.files)
		c.files = slices.Compact(c.files)
	}
	return out
}

// toProblem says what the files contradict each other in. It has a reference where that is one
// object.
func (c *contradiction) toProblem(severity model.Severity) model.Problem {
	first := c.objects[0]
	p := model.Problem{Severity: severity, Code: model.DuplicateObject}.At(first[0])
	switch {
	case len(c.objects) > 1:
		p.Ref = nil
		p.Message, p.Hint = c.describeObjects()
	case isOnePlace(first):
		p.Message = fmt.Sprintf("%s: %s is deployed more than once, each time differently; none is used",
			first[0].Ref, first[0].Origin)
		p.Hint = deployedHint
	default:
		none := "both are ignored"
		if len(first) > 2 {
			none = "all are ignored"
		}
		p.Message = fmt.Sprintf("%s: %s define it differently; %s", first[0].Ref, listPlaces(first), none)
		p.Hint = "keep one of them"
	}
	return p
}

const deployedHint = "read one cluster, or one overlay, at a time"

// isOnePlace reports whether all copies of an object come from one place, from which it was deployed
// several times.
func isOnePlace(copies []*model.Object) bool {
	return !slices.ContainsFunc(copies, func(o *model.Object) bool { return o.Origin != copies[0].Origin })
}

// describeObjects says of several objects where they are defined, and what to do.
func (c *contradiction) describeObjects() (message, hint string) {
	names := make([]string, len(c.objects))
	for i, copies := range c.objects {
		names[i] = copies[0].Ref.String()
	}
	listed := listSome(names, "objects")
	switch folders := c.listFolders(); {
	case isOnePlace(c.objects[0]):
		return fmt.Sprintf("%d objects of %s are deployed more than once, each time differently; none of them is used: %s",
			len(names), listSome(c.files, "files"), listed), deployedHint
	case len(c.files) == 1:
		return fmt.Sprintf("%s defines %d objects more than once, each time differently; none of them is used: %s",
			c.files[0], len(names), listed), "keep one of each"
	case len(folders) > 1:
		return fmt.Sprintf("the folders %s define %d objects differently; none of them is used: %s",
			listSome(folders, "folders"), len(names), listed), "if they are alternatives, read one of the folders at a time"
	default:
		return fmt.Sprintf("%s define %d objects differently; none of them is used: %s",
			listSome(c.files, "files"), len(names), listed), "if they are alternatives, read one of the files at a time"
	}
}

// listFolders lists the folders of the files if each of them is without contradictions: then they
// are alternatives. Else it returns nil.
func (c *contradiction) listFolders() []string {
	folders := make([]string, len(c.files))
	for i, file := range c.files {
		folders[i] = path.Dir(file)
	}
	for _, copies := range c.objects {
		in := map[string]*model.Object{}
		for _, o := range copies {
			dir := path.Dir(o.Origin.File)
			if other := in[dir]; other != nil && !reflect.DeepEqual(comparableContent(o), comparableContent(other)) {
				return nil
			}
			in[dir] = o
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

// listPlaces lists where copies of an object stand.
func listPlaces(copies []*model.Object) string {
	places := make([]string, len(copies))
	for i, o := range copies {
		places[i] = o.Origin.String()
	}
	return listSome(places, "places")
}
