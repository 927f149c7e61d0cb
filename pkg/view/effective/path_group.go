package effective

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// pathGroup is the results of one object on paths that all have the same results: what people read
// as one block.
type pathGroup struct {
	target   model.Ref // without a section
	paths    []view.Path
	items    []*view.EffectivePolicy // by section, then kind
	number   int                     // this is answer nth of the object's answers, counted from 1
	total    int
	sections int // sections of the object with a result, on whatever path
}

// groupItems groups items into blocks: by object, and below that by paths on which every kind has
// the same result.
func groupItems(items []*view.EffectivePolicy) []pathGroup {
	byObject := map[model.Ref][]*view.EffectivePolicy{}
	var objects []model.Ref
	for _, item := range items {
		object := item.Target.WithoutSection()
		if byObject[object] == nil {
			objects = append(objects, object)
		}
		byObject[object] = append(byObject[object], item)
	}
	slices.SortFunc(objects, view.CompareTargets)
	var out []pathGroup
	for _, object := range objects {
		out = append(out, groupPaths(object, byObject[object])...)
	}
	return out
}

// groupPaths groups the paths of one object: two paths belong together if the same items hold on
// both.
func groupPaths(object model.Ref, items []*view.EffectivePolicy) []pathGroup {
	slices.SortStableFunc(items, func(a, b *view.EffectivePolicy) int {
		if c := view.CompareSections(a.Target.Section, b.Target.Section); c != 0 {
			return c
		}
		return strings.Compare(a.PolicyKind, b.PolicyKind)
	})
	holds := map[string][]int{} // path → items that hold there
	byKey := map[string]view.Path{}
	var order []string
	for i, item := range items {
		paths := item.Paths
		if len(paths) == 0 {
			paths = []view.Path{{}}
		}
		for _, p := range paths {
			p = p.WithoutTarget(item.Target)
			key := p.Key()
			if _, known := byKey[key]; !known {
				byKey[key] = p
				order = append(order, key)
			}
			holds[key] = append(holds[key], i)
		}
	}
	var out []pathGroup
	at := map[string]int{}
	for _, key := range order {
		same := indexKey(holds[key])
		i, known := at[same]
		if !known {
			i = len(out)
			at[same] = i
			out = append(out, pathGroup{target: object, items: pickItems(items, holds[key]), number: i + 1,
				sections: countSections(items)})
		}
		out[i].paths = append(out[i].paths, byKey[key])
	}
	for i := range out {
		out[i].total = len(out)
	}
	return out
}

func indexKey(indexes []int) string {
	var b []byte
	for _, i := range indexes {
		b = strconv.AppendInt(append(b, ','), int64(i), 10)
	}
	return string(b)
}

func pickItems(items []*view.EffectivePolicy, indexes []int) []*view.EffectivePolicy {
	out := make([]*view.EffectivePolicy, len(indexes))
	for i, at := range indexes {
		out[i] = items[at]
	}
	return out
}

// countSections counts the sections of sorted items.
func countSections(items []*view.EffectivePolicy) int {
	n, last := 0, ""
	for _, item := range items {
		if s := item.Target.Section; s != "" && s != last {
			n, last = n+1, s
		}
	}
	return n
}

// itemsBySection returns the items of a by section, in order.
func (a *pathGroup) itemsBySection() [][]*view.EffectivePolicy {
	var out [][]*view.EffectivePolicy
	for i, item := range a.items {
		if i == 0 || item.Target.Section != a.items[i-1].Target.Section {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], item)
	}
	return out
}

// formatHeading says what a is about and how traffic gets there.
func (a *pathGroup) formatHeading(o view.TableOptions) string {
	parts := []string{a.target.WithoutSection().String()}
	if a.sections > 0 {
		parts = append(parts, view.FormatCount(a.sections, view.SectionNoun(a.target.Kind)))
	}
	if a.total > 1 {
		parts = append(parts, "path "+strconv.Itoa(a.number)+" of "+strconv.Itoa(a.total))
	}
	return strings.Join(append(parts, a.formatVia(o)...), " · ")
}

// formatVia returns the part of a heading that says how traffic gets there, nothing where the
// target's name says it all.
func (a *pathGroup) formatVia(o view.TableOptions) []string {
	if via := view.ViaText(a.paths, a.target, o); via != "" {
		return []string{"via " + via}
	}
	return nil
}

// sharedLines is the lines that several sections have in common.
type sharedLines[T any] struct {
	sections []string
	lines    T
}

// foldSections joins the sections whose lines are the same, unless the options forbid it. same is a
// text that tells lines apart.
func foldSections[T any](a *pathGroup, o view.TableOptions, lines func([]*view.EffectivePolicy) T,
	same func(T) string) []sharedLines[T] {
	var out []sharedLines[T]
	at := map[string]int{}
	for _, items := range a.itemsBySection() {
		section, content := items[0].Target.Section, lines(items)
		key := same(content)
		if i, known := at[key]; known && !o.ByRule {
			out[i].sections = append(out[i].sections, section)
			continue
		}
		at[key] = len(out)
		out = append(out, sharedLines[T]{sections: []string{section}, lines: content})
	}
	return out
}
