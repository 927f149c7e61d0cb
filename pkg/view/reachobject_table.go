package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// reachObject is one line of `reach`: an object with what became of the policy in each of its sections.
type reachObject struct {
	target   model.Ref // without a section, unless there is one line per section
	sections []reachSection
}

// reachSection is one effective target; it has several items if its paths differ.
type reachSection struct {
	name  string
	items []*ReachItem
}

// objects are the lines of r, in the order of targets.
func (r *PolicyReach) objects(o TableOptions) []reachObject {
	items := make([]*ReachItem, len(r.Items))
	for i := range r.Items {
		item := r.Items[i]
		if item.Rule == r.Rule {
			item.Rule = "" // the heading says it
		}
		items[i] = &item
	}
	slices.SortStableFunc(items, func(a, b *ReachItem) int { return compareTargets(a.Target, b.Target) })
	var out []reachObject
	for _, item := range items {
		target := item.Target.WithoutSection()
		if o.ByRule {
			target = item.Target
		}
		if len(out) == 0 || out[len(out)-1].target != target {
			out = append(out, reachObject{target: target})
		}
		object := &out[len(out)-1]
		last := len(object.sections) - 1
		if last < 0 || object.sections[last].name != item.Target.Section {
			object.sections = append(object.sections, reachSection{name: item.Target.Section})
			last++
		}
		object.sections[last].items = append(object.sections[last].items, item)
	}
	return out
}

// row is the line of x.
func (x *reachObject) row(o TableOptions) []Cell {
	state := x.state()
	row := []Cell{{Text: cmp.Or(x.target.Namespace, "-")}, {Text: strings.ToLower(x.target.Kind) + "/" + x.target.Name}, {Text: x.share(o)}, state,
		{Text: strings.Join(x.details(o), "; ")}, {Text: viaText(x.paths(), x.target.WithoutSection(), o)}, {Text: x.sentences()}}
	return markUnsure(row, x.unread())
}

// share is in how many sections the policy has a part ("2 of 3"), or the section where each has its own line.
func (x *reachObject) share(o TableOptions) string {
	if x.sections[0].name == "" {
		return "-"
	}
	if o.ByRule {
		return x.sections[0].name
	}
	n := 0
	for _, s := range x.sections {
		if slices.ContainsFunc(s.items, (*ReachItem).inForce) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(x.sections))
}

// state is in force (everywhere and wholly), partly or lost.
func (x *reachObject) state() Cell {
	var whole, some, ignored, all int
	for _, item := range x.items() {
		all++
		switch {
		case item.State == "Effective":
			whole++
		case item.State == "Partial":
			some++
		case item.State == "Ignored":
			ignored++
		}
	}
	switch {
	case whole == all:
		return Cell{Text: "in force", Tone: Good}
	case whole+some > 0:
		return Cell{Text: "partly", Tone: Partly}
	case ignored == all:
		return Cell{Text: "ignored", Tone: Bad}
	}
	return Cell{Text: "lost", Tone: Bad}
}

// unread are the lists that may change the line, of all its items.
func (x *reachObject) unread() []string {
	var out []string
	for _, item := range x.items() {
		out = append(out, item.Unread...)
	}
	return out
}

func (x *reachObject) items() []*ReachItem {
	var out []*ReachItem
	for _, s := range x.sections {
		out = append(out, s.items...)
	}
	return out
}

func (x *reachObject) paths() []Path {
	var out []Path
	for _, item := range x.items() {
		out = append(out, item.Paths...)
	}
	return out
}

// sentences are the reasons in full, each once.
func (x *reachObject) sentences() string {
	var out []string
	for _, item := range x.items() {
		if item.Reason != "" && !slices.Contains(out, item.Reason) {
			out = append(out, item.Reason)
		}
	}
	return strings.Join(out, "; ")
}

// reachDetail is what became of the policy in some sections, on all their paths (via is "") or on some.
type reachDetail struct {
	via, words string
	sections   []string
}

// details say which sections are not wholly in force and why: "checkout, refund: replaced by shop/cart-auth (route)". What differs by
// path says so, and what holds for the whole object names no section.
func (x *reachObject) details(o TableOptions) []string {
	var found []reachDetail
	for _, s := range x.sections {
		for _, d := range s.details(x.target, o) {
			at := slices.IndexFunc(found, func(f reachDetail) bool { return f.via == d.via && f.words == d.words })
			if at < 0 {
				at = len(found)
				found = append(found, d)
			}
			if !slices.Contains(found[at].sections, s.name) {
				found[at].sections = append(found[at].sections, s.name)
			}
		}
	}
	out := make([]string, len(found))
	for i, d := range found {
		where := d.via
		if len(d.sections) < len(x.sections) {
			where = strings.TrimSpace(sectionList(d.sections, o) + " " + d.via)
		}
		out[i] = d.words
		if where != "" {
			out[i] = where + ": " + d.words
		}
	}
	return out
}

// details of one section: one per item that is not wholly in force, with its paths if another item differs.
func (s *reachSection) details(target model.Ref, o TableOptions) []reachDetail {
	differ := slices.ContainsFunc(s.items, func(i *ReachItem) bool { return i.words() != s.items[0].words() })
	var out []reachDetail
	for _, item := range s.items {
		if item.State == "Effective" && item.Reason == "" {
			continue
		}
		d := reachDetail{words: item.words()}
		if via := viaText(item.Paths, target.WithoutSection(), o); differ && via != "" {
			d.via = "via " + via
		}
		out = append(out, d)
	}
	return out
}

// words are the state and its cause in the words that the other tables use.
func (i *ReachItem) words() string {
	words := i.stateWords()
	if i.Rule != "" {
		return i.Rule + " " + words
	}
	return words
}

func (i *ReachItem) stateWords() string {
	switch i.State {
	case StateEffective:
		return cmp.Or(i.Reason, "in force")
	case StateIgnored:
		return cmp.Or(i.Reason, "ignored")
	}
	return cmp.Or(i.Why, i.Reason, "lost")
}
