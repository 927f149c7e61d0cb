package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// foldFrom is how many lines one change may take before its targets are counted.
const foldFrom = 9

// changeGroup is one change with every target that it happens to.
type changeGroup struct {
	rows    [][]Cell // KIND, SETTING, BEFORE, AFTER, and what -o wide adds
	changes []*PolicyChange
}

// Table says in a sentence what changes, then lists what rules lose or gain, and the changes of policies, worst first. Targets to which the same
// happens are listed together, and counted where they are many.
func (d *EffectivePolicyDiff) Table(o TableOptions) Table {
	t := Table{Blocks: []Block{{Heading: []string{strings.Join(d.Headline(), " ")}}}}
	if len(d.Protection) > 0 {
		d.fillProtection(&t, o)
		if len(d.Items) > 0 {
			t.Blocks = append(t.Blocks, Block{})
		}
	}
	b := &t.Blocks[len(t.Blocks)-1]
	switch {
	case !d.Different():
		t = Table{Footer: b.Heading}
	case len(d.Items) == 0 && len(d.Protection) > 0:
		t.Footer = append(t.Footer, d.uncoveredLines(o)...)
	default:
		noun := "TARGET"
		if d.Summary.Targets == d.Summary.RouteRules {
			noun = "ROUTE RULE"
		}
		b.Columns = []Column{{Name: "NAMESPACE", Rank: 2, Least: 9, Short: shortCount}, {Name: noun, Rank: 6, Least: 14}, {Name: "KIND", Rank: 7, Least: 9, Short: shortKind},
			{Name: "SETTING", Rank: 5, Least: 12, Short: shortSetting}, {Name: "BEFORE", Rank: 3, Least: 18}, {Name: "AFTER", Rank: 4, Least: 18},
			{Name: "ORIGIN BEFORE", Wide: true}, {Name: "ORIGIN AFTER", Wide: true}}
		folded := d.fill(b, &t, o)
		if folded > 0 {
			t.Footer = append(t.Footer, Counted(folded, "target is|targets are")+" only counted; --by-rule lists them")
		}
		t.Footer = append(t.Footer, d.uncoveredLines(o)...)
	}
	t.Footer = append(t.Footer, unsureLine(d.Summary.Uncertain > 0)...)
	t.Footer = append(t.Footer, d.Closing()...)
	return t
}

// fill adds the lines of all changes to the block, and returns how many targets are only counted.
func (d *EffectivePolicyDiff) fill(b *Block, t *Table, o TableOptions) (folded int) {
	groups := d.groups(o)
	var lines [][]Cell
	for i := range groups {
		labels, counts := groups[i].labels(o)
		folded += counts
		for _, label := range labels {
			for _, row := range groups[i].rows {
				line := append(slices.Clone(label), row...)
				lines = append(lines, markUnsure(line, groups[i].changes[0].Unread))
			}
		}
	}
	shown := o.limit(len(lines))
	b.Rows = lines[:shown]
	if len(lines) == 0 {
		b.Columns = nil
	}
	t.Footer = append(t.Footer, moreLine(len(lines)-shown, "line")...)
	return folded
}

// groups are the changes, those first that take protection away; each with every target to which it happens, unless every rule is to have a
// line of its own.
func (d *EffectivePolicyDiff) groups(o TableOptions) []changeGroup {
	kinds := d.kindNames()
	at := map[string]int{}
	var out []changeGroup
	for i := range d.Items {
		c := &d.Items[i]
		rows := changeRows(c, kinds, o)
		key := rowsText(rows) + strings.Join(c.Unread, "\x00")
		n, known := at[key]
		if !known || o.ByRule {
			n = len(out)
			at[key] = n
			out = append(out, changeGroup{rows: rows})
		}
		out[n].changes = append(out[n].changes, c)
	}
	slices.SortStableFunc(out, func(a, b changeGroup) int { return cmp.Compare(weight(a.changes[0]), weight(b.changes[0])) })
	return out
}

// weight orders changes by how much they matter to a reader.
func weight(c *PolicyChange) int {
	switch {
	case c.Unprotected:
		return 0
	case c.TargetChange != "":
		return 4
	case c.Change == changeRemoved:
		return 1
	case c.Change == changeChanged && !c.SourcesOnly:
		return 2
	case c.Change == changeChanged:
		return 5
	}
	return 3
}

// labels are the namespaces and the targets of a group, a line each; too many for lines are counted.
func (g *changeGroup) labels(o TableOptions) (lines [][]Cell, counts int) {
	type object struct {
		ref model.Ref
		via string
	}
	at := map[object]int{}
	var objects []object
	var sections [][]string
	for _, c := range g.changes {
		key := object{ref: c.Target.WithoutSection()}
		if c.partly || len(c.before.orEmpty().Paths) > len(c.Paths) || len(c.after.orEmpty().Paths) > len(c.Paths) {
			key.via = viaText(c.Paths, c.Target.WithoutSection(), o)
		}
		i, known := at[key]
		if !known {
			i = len(objects)
			at[key] = i
			objects, sections = append(objects, key), append(sections, nil)
		}
		if !slices.Contains(sections[i], c.Target.Section) {
			sections[i] = append(sections[i], c.Target.Section)
		}
	}
	if len(objects) >= foldFrom && !o.Wide && !o.ByRule {
		targets := make([]model.Ref, len(g.changes))
		for i, c := range g.changes {
			targets[i] = c.Target
		}
		return countedTargets(targets), len(g.changes)
	}
	for i, ob := range objects {
		name := strings.ToLower(ob.ref.Kind) + "/" + ob.ref.Name
		if list := sectionList(sections[i], o); list != "" {
			name += " " + list
		}
		if ob.via != "" {
			name += " via " + ob.via
		}
		lines = append(lines, []Cell{{Text: cmp.Or(ob.ref.Namespace, "-")}, {Text: name}})
	}
	return lines, 0
}

// countedTargets is the one line of what happens to too many targets for lines of their own.
func countedTargets(all []model.Ref) [][]Cell {
	spaces, objects, targets := map[string]bool{}, map[model.Ref]bool{}, map[model.Ref]bool{}
	rules := true
	for _, target := range all {
		spaces[target.Namespace], objects[target.WithoutSection()], targets[target] = true, true, true
		rules = rules && isRouteRule(target)
	}
	what := grouped(len(targets)) + " " + nounFor(len(targets), "target")
	if rules {
		what = grouped(len(targets)) + " rules of " + grouped(len(objects)) + " " + nounFor(len(objects), "route")
	}
	space := all[0].Namespace
	if len(spaces) > 1 {
		space = Counted(len(spaces), "namespace")
	}
	return [][]Cell{{{Text: cmp.Or(space, "-")}, {Text: what}}}
}

// orEmpty is the policy, or one of nothing.
func (e *EffectivePolicy) orEmpty() *EffectivePolicy {
	if e == nil {
		return &EffectivePolicy{}
	}
	return e
}

// uncoveredLines name what lacks what its like, or itself on other ways, has.
func (d *EffectivePolicyDiff) uncoveredLines(o TableOptions) []string {
	names := func(refs []model.Ref) string {
		out := make([]string, len(refs))
		for i, r := range refs {
			out[i] = targetName(r)
		}
		return nameList(out, o)
	}
	var out []string
	if len(d.Summary.Bare) > 0 {
		out = append(out, "new and without a policy: "+names(d.Summary.Bare))
	}
	kinds := d.kindNames()
	for _, u := range d.Summary.Uncovered {
		out = append(out, "new and without "+kinds.short(u.PolicyKind)+": "+names(u.Targets))
	}
	for _, u := range d.Summary.Exposed {
		out = append(out, "without "+kinds.short(u.PolicyKind)+" on a new path: "+names(u.Targets))
	}
	return out
}

// Names are the targets that change, each once.
func (d *EffectivePolicyDiff) Names() []string {
	targets := make([]model.Ref, 0, len(d.Items)+len(d.Protection))
	for i := range d.Items {
		targets = append(targets, d.Items[i].Target)
	}
	for i := range d.Protection {
		targets = append(targets, d.Protection[i].Target)
	}
	return namesOf(targets, func(ref *model.Ref) *model.Ref { return ref })
}
