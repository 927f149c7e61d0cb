package reach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table shows where the policy is in force, one line per route (or other target), and names the
// rules that it lost, to whom and on which paths. The counts come first.
func (r *PolicyReach) Table(o view.TableOptions) view.Table {
	objects := r.groupObjects(o)
	b := view.Block{Heading: r.buildHeading()}
	shown := objects[:o.CountShown(len(objects))]
	if len(objects) > 0 {
		b.Columns = reachColumns(r.Items, o)
	}
	for i := range shown {
		b.Rows = append(b.Rows, shown[i].buildRow(o))
	}
	t := view.Table{Blocks: []view.Block{b}}
	if hidden := objects[len(shown):]; len(hidden) > 0 {
		t.Footer = append(t.Footer,
			fmt.Sprintf("… and %d more %s, %d of them not wholly in force (--limit 0 shows all)", len(hidden),
				view.InflectNoun(len(hidden), "line"), countLostLines(hidden)))
	}
	if slices.ContainsFunc(r.Items, func(i ReachItem) bool { return i.State != "Effective" && i.State != "Ignored" }) {
		t.Footer = append(t.Footer,
			"to see what was overridden: "+o.FormatCommand("overridden", r.Policy.WithSection(r.Rule).String()))
	}
	t.Footer = append(t.Footer,
		view.UnsureLine(slices.ContainsFunc(r.Items, func(i ReachItem) bool { return len(i.Unread) > 0 }))...)
	t.Footer = append(t.Footer, r.IncompleteLines()...)
	return t
}

// buildHeading says what was asked, then in how much of everything in view it is in force.
func (r *PolicyReach) buildHeading() []string {
	what := r.Policy.String()
	if r.Rule != "" {
		what += " · setting " + r.Rule
	}
	if set := r.formatSources(); set != "" {
		what += " · " + set
	}
	if !slices.ContainsFunc(r.Items, func(i ReachItem) bool { return !i.isUnattached() }) {
		if r.NoPolicyText() != "no policy" {
			return []string{what, "cannot tell whether it is in force: not everything could be read"}
		}
		return []string{what, "in force nowhere: none of its targets is in view"}
	}
	parts := formatReachCounts(r.Items)
	namespaces := map[string]bool{}
	for _, item := range r.Items {
		if item.isInForce() && item.Target.Namespace != "" {
			namespaces[item.Target.Namespace] = true
		}
	}
	if len(namespaces) > 0 {
		parts = append(parts, view.FormatCount(len(namespaces), "namespace"))
	}
	out := []string{what, "in force on " + strings.Join(parts, " · ")}
	for _, requests := range r.NotFor {
		out = append(out, "not in force for "+requests)
	}
	return out
}

// formatSources says how the policy sets what was asked for, and where: "default (merge) on Gateway
// infra/external". In a union no setting is a default.
func (r *PolicyReach) formatSources() string {
	words := map[string]string{"defaults": "default", "overrides": "override", "bare": "default"}
	var out []string
	for _, s := range r.Sources {
		text := fmt.Sprintf("%s (%s) on %s", words[s.Block], s.Strategy, s.Target.String())
		if s.Strategy == "union" {
			text = "union on " + s.Target.String()
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) > 2 {
		return fmt.Sprintf("%s and %d more", out[0], len(out)-1)
	}
	return strings.Join(out, ", ")
}

// isInForce reports whether the policy, or the rule asked for, has a part in the result.
func (i *ReachItem) isInForce() bool { return i.State == "Effective" || i.State == "Partial" }

// isUnattached reports whether the item is about a reference that led nowhere: its target is no
// object in view.
func (i *ReachItem) isUnattached() bool {
	return i.State == "Ignored" && len(i.Paths) == 0 && !i.unattachedInView
}

// reachTally counts targets of one sort.
type reachTally struct {
	noun         string
	all, inForce int
}

// formatReachCounts counts sections and objects, in words: "41 of 44 route rules", "17 of 18
// routes".
func formatReachCounts(items []ReachItem) []string {
	var tallies []*reachTally
	seen := map[model.Ref]bool{} // true: in force there
	visit := func(target model.Ref, noun string, force bool) {
		at := slices.IndexFunc(tallies, func(t *reachTally) bool { return t.noun == noun })
		if at < 0 {
			at = len(tallies)
			tallies = append(tallies, &reachTally{noun: noun})
		}
		was, known := seen[target]
		if !known {
			tallies[at].all++
		}
		if force && !was {
			tallies[at].inForce++
		}
		seen[target] = was || force
	}
	for i := range items {
		target := items[i].Target
		if items[i].isUnattached() {
			continue
		}
		if target.Section != "" {
			visit(target, view.FullSectionNoun(target.Kind), items[i].isInForce())
		}
		visit(target.WithoutSection(), view.ObjectNoun(target.Kind), items[i].isInForce())
	}
	out := make([]string, len(tallies))
	for i, t := range tallies {
		out[i] = fmt.Sprintf("%d of %s", t.inForce, view.FormatCount(t.all, t.noun))
	}
	return out
}

// countLostLines counts the lines on which the policy is not wholly in force.
func countLostLines(objects []reachObject) int {
	n := 0
	for i := range objects {
		if objects[i].stateCell().Tone != view.Good {
			n++
		}
	}
	return n
}

// reachColumns name their columns after the targets, if these are all of one sort.
func reachColumns(items []ReachItem, o view.TableOptions) []view.Column {
	object, sections := "ROUTE", "RULES"
	for i := range items {
		if view.ObjectNoun(items[i].Target.Kind) != view.ObjectNoun(items[0].Target.Kind) {
			object, sections = "TARGET", "SECTIONS"
			break
		}
		object = strings.ToUpper(view.ObjectNoun(items[i].Target.Kind))
		sections = strings.ToUpper(view.SectionNoun(items[i].Target.Kind) + "s")
	}
	if o.ByRule {
		sections = strings.TrimSuffix(sections, "S")
	}
	return []view.Column{{Name: "NAMESPACE", Rank: 2, MinWidth: 9},
		{Name: object, Rank: 4, MinWidth: 12, Shorten: view.ShortName}, {Name: sections, Rank: 3, MinWidth: 8},
		{Name: "STATE", Rank: 1, MinWidth: 8, Keep: true}, {Name: "WHY", Rank: 9, MinWidth: 30, Wrap: true, Below: true}, {Name: "VIA", Wide: true}, {Name: "IN WORDS",
			Wide: true}}
}
