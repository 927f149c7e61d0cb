package reach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// reachObject is one line of `reach`: an object with what became of the policy in each of its
// sections.
type reachObject struct {
	target   model.Ref // without a section, unless there is one line per section
	sections []reachSection
}

// reachSection is one effective target; it has several items if its paths differ.
type reachSection struct {
	name  string
	items []*ReachItem
}

// groupObjects returns the lines of the answer, in the order of targets.
func (r *PolicyReach) groupObjects(o view.TableOptions) []reachObject {
	items := make([]*ReachItem, len(r.Items))
	for i := range r.Items {
		item := r.Items[i]
		if item.Rule == r.Rule {
			item.Rule = "" // the heading says it
		}
		items[i] = &item
	}
	slices.SortStableFunc(items, func(a, b *ReachItem) int { return view.CompareTargets(a.Target, b.Target) })
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

// buildRow returns the cells of the line.
func (x *reachObject) buildRow(o view.TableOptions) []view.Cell {
	state := x.stateCell()
	row := []view.Cell{{Text: cmp.Or(x.target.Namespace, "-")}, {Text: strings.ToLower(x.target.Kind) + "/" +
		x.target.Name}, {Text: x.formatShare(o)}, state,
		{Text: strings.Join(x.formatDetails(o), "; ")}, {Text: view.ViaText(x.listPaths(), x.target.WithoutSection(),
			o)}, {Text: x.joinReasons()}}
	return view.MarkUnsure(row, x.listUnread())
}

// formatShare says in how many sections the policy has a part ("2 of 3"), or names the section
// where each has its own line.
func (x *reachObject) formatShare(o view.TableOptions) string {
	if x.sections[0].name == "" {
		return "-"
	}
	if o.ByRule {
		return x.sections[0].name
	}
	n := 0
	for _, s := range x.sections {
		if slices.ContainsFunc(s.items, (*ReachItem).isInForce) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(x.sections))
}

// stateCell says in force (everywhere and wholly), partly or lost.
func (x *reachObject) stateCell() view.Cell {
	var whole, some, ignored, all int
	for _, item := range x.listItems() {
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
		return view.Cell{Text: "in force", Tone: view.Good}
	case whole+some > 0:
		return view.Cell{Text: "partly", Tone: view.Partly}
	case ignored == all:
		return view.Cell{Text: "ignored", Tone: view.Bad}
	}
	return view.Cell{Text: "overridden", Tone: view.Bad}
}

// listUnread returns the lists that may change the line, of all its items.
func (x *reachObject) listUnread() []string {
	var out []string
	for _, item := range x.listItems() {
		out = append(out, item.Unread...)
	}
	return out
}

func (x *reachObject) listItems() []*ReachItem {
	var out []*ReachItem
	for _, s := range x.sections {
		out = append(out, s.items...)
	}
	return out
}

func (x *reachObject) listPaths() []view.Path {
	var out []view.Path
	for _, item := range x.listItems() {
		out = append(out, item.Paths...)
	}
	return out
}

// joinReasons returns the reasons in full, each once.
func (x *reachObject) joinReasons() string {
	var out []string
	for _, item := range x.listItems() {
		if item.Reason != "" && !slices.Contains(out, item.Reason) {
			out = append(out, item.Reason)
		}
	}
	return strings.Join(out, "; ")
}

// reachDetail is what became of the policy in some sections, on all their paths (via is "") or on
// some.
type reachDetail struct {
	via, words string
	sections   []string
}

// formatDetails says which sections are not wholly in force and why: "checkout, refund: replaced by
// shop/cart-auth (route)". What differs by path says so, and what holds for the whole object names
// no section.
func (x *reachObject) formatDetails(o view.TableOptions) []string {
	var found []reachDetail
	for _, s := range x.sections {
		for _, d := range s.collectDetails(x.target, o) {
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
			where = strings.TrimSpace(view.SectionList(d.sections, o) + " " + d.via)
		}
		out[i] = d.words
		if where != "" {
			out[i] = where + ": " + d.words
		}
	}
	return out
}

// collectDetails returns one detail for each item of the section that is not wholly in force, with
// its paths if another item differs.
func (s *reachSection) collectDetails(target model.Ref, o view.TableOptions) []reachDetail {
	differ := slices.ContainsFunc(s.items,
		func(i *ReachItem) bool { return i.formatState() != s.items[0].formatState() })
	var out []reachDetail
	for _, item := range s.items {
		if item.State == "Effective" && item.Reason == "" {
			continue
		}
		d := reachDetail{words: item.formatState()}
		if via := view.ViaText(item.Paths, target.WithoutSection(), o); differ && via != "" {
			d.via = "via " + via
		}
		out = append(out, d)
	}
	return out
}

// formatState says the state and its cause in the words that the other tables use, after the rule
// if there is one.
func (i *ReachItem) formatState() string {
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
	return cmp.Or(i.Why, i.Reason, "overridden")
}
