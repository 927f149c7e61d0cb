package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// minCountedTargets is how many lines one change may take before its targets are counted.
const minCountedTargets = 9

// changeGroup is one change with every target that it happens to.
type changeGroup struct {
	rows    [][]view.Cell // KIND, SETTING, BEFORE, AFTER, and what -o wide adds
	changes []*PolicyChange
}

// Table says in a sentence what changes, then lists what rules lose or gain, and the changes of
// policies, worst first. Targets to which the same happens are listed together, and counted where
// they are many.
func (d *EffectivePolicyDiff) Table(o view.TableOptions) view.Table {
	t := view.Table{Blocks: []view.Block{{Heading: []string{strings.Join(d.Headline(), " ")}}}}
	if len(d.Schemas) > 0 {
		b := d.schemaBlock(o)
		b.Heading = t.Blocks[0].Heading
		t.Blocks = []view.Block{b, {}}
	}
	if len(d.Protection) > 0 {
		d.addProtectionRows(&t, o)
		if len(d.Items) > 0 {
			t.Blocks = append(t.Blocks, view.Block{})
		}
	}
	b := &t.Blocks[len(t.Blocks)-1]
	switch {
	case !d.HasChanges():
		t = view.Table{Footer: b.Heading}
	case len(d.Items) == 0 && len(d.Protection)+len(d.Schemas) > 0:
		t.Footer = append(t.Footer, d.uncoveredLines(o)...)
	default:
		noun := "TARGET"
		if d.Summary.Targets == d.Summary.RouteRules {
			noun = "ROUTE RULE"
		}
		b.FormatGroup = view.FormatTargetGroup
		b.Columns = []view.Column{
			{Name: "NAMESPACE", Rank: 2, MinWidth: 9, Shorten: view.ShortCount, Group: true},
			{Name: noun, Rank: 6, MinWidth: 14, Group: true},
			{Name: "KIND", Rank: 7, MinWidth: 9, Shorten: view.ShortKind},
			{Name: "SETTING", Rank: 5, MinWidth: 12, Shorten: view.ShortSetting, Shorter: view.LastOfSetting},
			{Name: "BEFORE", Rank: 3, MinWidth: 18, Wrap: true, Keep: true}, {Name: "AFTER", Rank: 4, MinWidth: 18, Wrap: true, Keep: true},
			{Name: "ORIGIN BEFORE", Wide: true}, {Name: "ORIGIN AFTER", Wide: true}}
		folded := d.addChangeRows(b, &t, o)
		if folded > 0 {
			t.Footer = append(t.Footer, view.FormatCount(folded, "target is|targets are")+
				" only counted; --by-rule lists them")
		}
		t.Footer = append(t.Footer, d.uncoveredLines(o)...)
	}
	t.Footer = append(t.Footer, view.UnsureLine(d.Summary.Uncertain > 0)...)
	t.Footer = append(t.Footer, d.IncompleteLines()...)
	return t
}

// addChangeRows adds the rows of all changes to the block, and returns how many targets are only
// counted.
func (d *EffectivePolicyDiff) addChangeRows(b *view.Block, t *view.Table, o view.TableOptions) (folded int) {
	groups := d.groupChanges(o)
	var lines [][]view.Cell
	for i := range groups {
		labels, counts := groups[i].buildLabels(o)
		folded += counts
		for _, label := range labels {
			for _, row := range groups[i].rows {
				line := append(slices.Clone(label), row...)
				lines = append(lines, view.MarkUnsure(line, groups[i].changes[0].Unread))
			}
		}
	}
	shown := o.CountShown(len(lines))
	b.Rows = lines[:shown]
	if len(lines) == 0 {
		b.Columns = nil
	}
	t.Footer = append(t.Footer, view.FormatMoreLine(len(lines)-shown, "line")...)
	return folded
}

// groupChanges returns the changes, those first that take protection away. Each has every target to
// which it happens, unless every rule is to have a row of its own.
func (d *EffectivePolicyDiff) groupChanges(o view.TableOptions) []changeGroup {
	kinds := d.collectKindNames()
	at := map[string]int{}
	var out []changeGroup
	for i := range d.Items {
		c := &d.Items[i]
		rows := ChangeRows(c, kinds, o)
		key := view.RowsKey(rows) + strings.Join(c.Unread, "\x00")
		n, known := at[key]
		if !known || o.ByRule {
			n = len(out)
			at[key] = n
			out = append(out, changeGroup{rows: rows})
		}
		out[n].changes = append(out[n].changes, c)
	}
	slices.SortStableFunc(out, func(a, b changeGroup) int {
		return cmp.Compare(rankChange(a.changes[0]),
			rankChange(b.changes[0]))
	})
	return out
}

// rankChange orders changes by how much they matter to a reader.
func rankChange(c *PolicyChange) int {
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

// buildLabels returns the namespaces and the targets of a group, a row each; if there are too many,
// they are counted.
func (g *changeGroup) buildLabels(o view.TableOptions) (lines [][]view.Cell, counts int) {
	type object struct {
		ref model.Ref
		via string
	}
	at := map[object]int{}
	var objects []object
	var sections [][]string
	for _, c := range g.changes {
		key := object{ref: c.Target.WithoutSection()}
		if c.onSomePaths || len(policyOrEmpty(c.before).Paths) > len(c.Paths) ||
			len(policyOrEmpty(c.after).Paths) > len(c.Paths) {
			key.via = view.ViaText(c.Paths, c.Target.WithoutSection(), o)
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
	if len(objects) >= minCountedTargets && !o.Wide && !o.ByRule {
		targets := make([]model.Ref, len(g.changes))
		for i, c := range g.changes {
			targets[i] = c.Target
		}
		return countedTargets(targets), len(g.changes)
	}
	for i, ob := range objects {
		name := view.AddSections(strings.ToLower(ob.ref.Kind)+"/"+ob.ref.Name, sections[i], o)
		if ob.via != "" {
			name += " via " + ob.via
		}
		lines = append(lines, []view.Cell{{Text: cmp.Or(ob.ref.Namespace, "-")}, {Text: name}})
	}
	return lines, 0
}

// countedTargets returns the one row of a change that happens to too many targets for rows of their
// own.
func countedTargets(all []model.Ref) [][]view.Cell {
	spaces, objects, targets := map[string]bool{}, map[model.Ref]bool{}, map[model.Ref]bool{}
	rules := true
	for _, target := range all {
		spaces[target.Namespace], objects[target.WithoutSection()], targets[target] = true, true, true
		rules = rules && isRouteRule(target)
	}
	what := view.FormatNumber(len(targets)) + " " + view.InflectNoun(len(targets), "target")
	if rules {
		what = view.FormatNumber(len(targets)) + " rules of " + view.FormatNumber(len(objects)) + " " +
			view.InflectNoun(len(objects), "route")
	}
	space := all[0].Namespace
	if len(spaces) > 1 {
		space = view.FormatCount(len(spaces), "namespace")
	}
	return [][]view.Cell{{{Text: cmp.Or(space, "-")}, {Text: what}}}
}

// policyOrEmpty returns the policy, or an empty one for nil.
func policyOrEmpty(e *view.EffectivePolicy) *view.EffectivePolicy {
	if e == nil {
		return &view.EffectivePolicy{}
	}
	return e
}

// uncoveredLines names the targets that lack a policy that similar targets, or they themselves on
// other paths, have.
func (d *EffectivePolicyDiff) uncoveredLines(o view.TableOptions) []string {
	names := func(refs []model.Ref) string {
		out := make([]string, len(refs))
		for i, r := range refs {
			out[i] = r.String()
		}
		return view.JoinNames(out, o)
	}
	var out []string
	if len(d.Summary.Bare) > 0 {
		out = append(out, "new and without a policy: "+names(d.Summary.Bare))
	}
	kinds := d.collectKindNames()
	for _, u := range d.Summary.Uncovered {
		out = append(out, "new and without "+kinds.ShortName(u.PolicyKind)+": "+names(u.Targets))
	}
	for _, u := range d.Summary.Exposed {
		out = append(out, "without "+kinds.ShortName(u.PolicyKind)+" on a new path: "+names(u.Targets))
	}
	return out
}

// FilterNames are the targets that change, each once.
func (d *EffectivePolicyDiff) FilterNames() []string {
	targets := make([]model.Ref, 0, len(d.Items)+len(d.Protection))
	for i := range d.Items {
		targets = append(targets, d.Items[i].Target)
	}
	for i := range d.Protection {
		targets = append(targets, d.Protection[i].Target)
	}
	return view.UniqueObjectNames(targets, func(ref *model.Ref) *model.Ref { return ref })
}
