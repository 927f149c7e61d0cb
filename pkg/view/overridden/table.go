package overridden

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table lists the rules that lost: where, to whom and why. Rules of a route that lost alike share a
// line. Which policy wanted the rule stands in the heading if it is the same for all, else in front
// of each line.
func (l *OverriddenRuleList) Table(o view.TableOptions) view.Table {
	lines := l.groupLines(o)
	if len(lines) == 0 {
		return view.Table{Footer: append([]string{formatNothingLost(o)}, l.IncompleteLines()...)}
	}
	shown := lines[:o.CountShown(len(lines))]
	b := view.Block{Columns: []view.Column{
		{Name: "POLICY", Rank: 6, MinWidth: 14, Shorten: view.WithoutKind, Group: true},
		{Name: "SETTING", Rank: 5, MinWidth: 12, Shorten: view.ShortSetting, Shorter: view.LastOfSetting},
		{Name: "OVERRIDDEN ON", Rank: 4, MinWidth: 22, Shorten: view.WithoutKind, Wrap: true},
		{Name: "BY", Rank: 7, MinWidth: 14, Shorten: view.WithoutKind},
		{Name: "WHY", Rank: 3, MinWidth: 16, Wrap: true, Keep: true},
		{Name: "VALUE", Wide: true}, {Name: "SET ON", Wide: true}, {Name: "BLOCK", Wide: true}, {Name: "STRATEGY",
			Wide: true}, {Name: "ORIGIN", Wide: true}, {Name: "IN WORDS", Wide: true}}}
	for i := range shown {
		b.Rows = append(b.Rows, shown[i].buildRow(o))
	}
	if policy, one := l.findOnlyPolicy(); one {
		b.Heading = []string{policy}
		b.DropFirstColumn()
	}
	t := view.Table{Blocks: []view.Block{b}, Footer: view.FormatMoreLine(len(lines)-len(shown), "line")}
	t.Footer = append(t.Footer, l.formatSummary())
	t.Footer = append(t.Footer,
		view.UnsureLine(slices.ContainsFunc(l.Items, func(i OverriddenRule) bool { return len(i.Unread) > 0 }))...)
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}

func formatNothingLost(o view.TableOptions) string {
	if o.Target == "" {
		return "nothing overridden: what applies here is in force"
	}
	return "nothing overridden for " + o.Target
}

// findOnlyPolicy returns the policy that the list is about, and whether there is only one.
func (l *OverriddenRuleList) findOnlyPolicy() (string, bool) {
	first := loserName(&l.Items[0])
	for i := range l.Items {
		if loserName(&l.Items[i]) != first {
			return "", false
		}
	}
	return first, true
}

// loserName names who wanted the rule.
func loserName(i *OverriddenRule) string {
	if i.Source.Policy == nil {
		return i.Source.Builtin
	}
	return i.Source.Policy.String()
}

// formatSummary counts what is overridden, and names the settings that are in force nowhere.
func (l *OverriddenRuleList) formatSummary() string {
	var nowhere []string
	targets := map[model.Ref]bool{}
	_, one := l.findOnlyPolicy()
	for i := range l.Items {
		item := &l.Items[i]
		targets[item.Target] = true
		name := item.Rule
		if !one {
			name += " (" + view.SourceName(item.Source) + ")"
		}
		if item.Everywhere && !slices.Contains(nowhere, name) {
			nowhere = append(nowhere, name)
		}
	}
	slices.Sort(nowhere)
	still := "each still applies somewhere"
	if len(l.Items) == 1 {
		still = "it still applies somewhere"
	}
	const most = 5
	if rest := len(nowhere) - most; rest > 0 {
		nowhere = append(nowhere[:most], fmt.Sprintf("and %d more", rest))
	}
	if len(nowhere) > 0 {
		still = "in force nowhere: " + strings.Join(nowhere, ", ")
	}
	return fmt.Sprintf("%s overridden on %s; %s", view.FormatCount(len(l.Items), "setting"),
		view.FormatCount(len(targets), l.targetNoun()), still)
}

// targetNoun is what the targets are, in words.
func (l *OverriddenRuleList) targetNoun() string {
	noun := view.FullSectionNoun(l.Items[0].Target.Kind)
	for i := range l.Items {
		if t := l.Items[i].Target; t.Section == "" || view.FullSectionNoun(t.Kind) != noun {
			return "target"
		}
	}
	return noun
}

// lossLine is one line: losses on sections of one object that are alike.
type lossLine struct {
	item     *OverriddenRule
	via      string // "" where all that is lost on the target is lost on the same paths
	sections []string
}

// groupLines returns the losses by policy, rule and target. Sections of an object that lost the
// same rule to the same winner share a line, unless the options forbid it. Where the losses on a
// target are about different paths, each line says which.
func (l *OverriddenRuleList) groupLines(o view.TableOptions) []lossLine {
	items := make([]*OverriddenRule, len(l.Items))
	paths := map[model.Ref]string{}
	differ := map[model.Ref]bool{}
	for i := range l.Items {
		item := &l.Items[i]
		items[i] = item
		key := buildPathsKey(item.Paths)
		if other, known := paths[item.Target]; known && other != key {
			differ[item.Target] = true
		}
		paths[item.Target] = key
	}
	slices.SortStableFunc(items, func(a, b *OverriddenRule) int {
		return cmp.Or(cmp.Compare(loserName(a), loserName(b)), cmp.Compare(a.Rule, b.Rule),
			view.CompareTargets(a.Target, b.Target))
	})
	var out []lossLine
	at := map[string]int{}
	for _, item := range items {
		line := lossLine{item: item, sections: []string{item.Target.Section}}
		if differ[item.Target] {
			line.via = view.ViaText(item.Paths, item.Target.WithoutSection(), o)
		}
		key := line.buildKey(o)
		if o.ByRule {
			key += "\x00" + item.Target.Section
		}
		i, known := at[key]
		if !known {
			at[key] = len(out)
			out = append(out, line)
			continue
		}
		if !slices.Contains(out[i].sections, item.Target.Section) {
			out[i].sections = append(out[i].sections, item.Target.Section)
		}
	}
	return out
}

func buildPathsKey(paths []view.Path) string {
	keys := make([]string, len(paths))
	for i, p := range paths {
		keys[i] = p.Key()
	}
	return strings.Join(keys, "\n")
}

// buildKey returns a text that tells lines apart by what they show.
func (l *lossLine) buildKey(o view.TableOptions) string {
	i := l.item
	parts := []string{i.PolicyKind, loserName(i), i.Rule, i.Target.Group, i.Target.WithoutSection().String(),
		view.EachSource(i.LostTo, winnerName), i.Why, l.via}
	if o.Wide {
		parts = append(parts, view.ValueText(i.Value, 0), i.Source.Target.String(), i.Source.Block, i.Source.Strategy,
			view.OriginText(i.Source), i.Message)
	}
	return strings.Join(parts, "\x00")
}

// buildRow returns the cells of the line. A rule that lost here and is in force elsewhere is shown
// as partly in force.
func (l *lossLine) buildRow(o view.TableOptions) []view.Cell {
	i := l.item
	on := view.AddSections(i.Target.WithoutSection().String(), l.sections, o)
	if l.via != "" {
		on += " via " + l.via
	}
	one := []view.Source{i.Source}
	cells := []view.Cell{{Text: loserName(i)}, {Text: i.Rule}, {Text: on},
		{Text: view.EachSource(i.LostTo, winnerName)}, {Text: i.Why}, {},
		{Text: i.Source.Target.String()}, {Text: view.EachSource(one,
			func(s view.Source) string { return s.Block })},
		{Text: view.EachSource(one, func(s view.Source) string { return s.Strategy })}, {Text: view.EachSource(one,
			view.OriginText)}, {Text: i.Message}}
	if o.Wide {
		cells[5].Text = view.ValueText(i.Value, 0)
	}
	cells[1].Tone, cells[4].Tone = view.Partly, view.Bad
	if i.Everywhere {
		cells[1].Tone = view.Bad
	}
	if i.Source.Policy == nil {
		cells[0].Tone = view.Dim
	}
	if !slices.ContainsFunc(i.LostTo, func(s view.Source) bool { return s.Policy != nil }) {
		cells[3].Tone = view.Dim
	}
	return view.MarkUnsure(cells, i.Unread)
}

func winnerName(s view.Source) string {
	if s.Policy == nil {
		return s.Builtin
	}
	return s.Policy.String()
}

// Tree shows the same by policy and rule.
func (l *OverriddenRuleList) Tree(o view.TableOptions) []view.Branch {
	if len(l.Items) == 0 {
		return []view.Branch{{Cells: []view.Cell{{Text: formatNothingLost(o)}}}}
	}
	lines := l.groupLines(o)
	shown := lines[:o.CountShown(len(lines))]
	var out []view.Branch
	child := func(of *[]view.Branch, text string, tone view.Tone) *view.Branch {
		if n := len(*of); n == 0 || (*of)[n-1].Cells[0].Text != text {
			*of = append(*of, view.Branch{Cells: []view.Cell{{Text: text, Tone: tone}}})
		}
		return &(*of)[len(*of)-1]
	}
	for i := range shown {
		row := shown[i].buildRow(o)
		rule := child(&child(&out, row[0].Text, row[0].Tone).Children, row[1].Text, row[1].Tone)
		rule.Children = append(rule.Children,
			view.Branch{Cells: []view.Cell{row[2], row[3], {Text: view.MarkLost + " " + row[4].Text,
				Tone: row[4].Tone}}})
	}
	for _, line := range view.FormatMoreLine(len(lines)-len(shown), "line") {
		out = append(out, view.Branch{Cells: []view.Cell{{Text: line, Tone: view.Dim}}})
	}
	return out
}
