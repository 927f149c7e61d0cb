package effective

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table shows every setting in force, with its source and why it stands: with the target in every
// row or, of one object that was asked for and where the options want it, one block per object and
// group of paths. The footer counts the settings that were overridden and says how to ask for it.
func (l *EffectivePolicyList) Table(o view.TableOptions) view.Table {
	items := l.listShownItems(o)
	groups := groupItems(items)
	shown := groups[:o.CountShown(len(groups))]
	kinds := view.KindNames{}
	for _, item := range items {
		kinds.Add(item.PolicyKind)
	}
	items = items[:len(items)-len(l.Routes)]
	var t view.Table
	switch oneObject := len(groups) > 0 &&
		!slices.ContainsFunc(groups, func(g pathGroup) bool { return g.target != groups[0].target }); {
	case len(shown) == 0:
	case o.Grouped || o.Target != "" && oneObject:
		for i := range shown {
			t.Blocks = append(t.Blocks, effectiveBlock(&shown[i], kinds, o))
		}
	default:
		t.Blocks = []view.Block{flatBlock(shown, kinds, o)}
	}
	t.Footer = append(t.Footer, view.FormatMoreLine(len(groups)-len(shown), "target")...)
	switch {
	case len(l.Reported) > 0:
		t.Blocks = append(t.Blocks, l.reportedBlock())
		t.Footer = append(t.Footer, reportedNotes(l.Reported)...)
	case len(items) == 0 && len(l.Items) == 0:
		t.Footer = append(t.Footer, l.nothingText(o))
	}
	t.Footer = append(t.Footer, l.unattachedReasons...)
	if len(items) > 0 && len(l.Reported) == 0 {
		t.Footer = append(t.Footer, l.bareLine()...)
		for _, way := range l.pathsWithoutPolicy {
			t.Footer = append(t.Footer, l.NoPolicyText()+way)
		}
	}
	t.Footer = append(t.Footer, view.RowNotes(items)...)
	t.Footer = append(t.Footer, lostHint(items, l.unlistedLosses, o)...)
	t.Footer = append(t.Footer, l.defaultsNote(o)...)
	t.Footer = append(t.Footer, l.GenericLine()...)
	t.Footer = append(t.Footer,
		view.UnsureLine(slices.ContainsFunc(items, func(i *view.EffectivePolicy) bool { return len(i.Unread) > 0 }))...)
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}

// bareLine names the route rules on which no policy is in force, so that they do not go unnoticed.
func (l *EffectivePolicyList) bareLine() []string {
	const most = 4
	rules := l.rulesWithoutPolicy
	if len(rules) == 0 {
		return nil
	}
	var names []string
	for _, r := range rules[:min(len(rules), most)] {
		names = append(names, r.String())
	}
	if rest := len(rules) - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("%d more", rest))
	}
	return []string{l.NoPolicyText() + " is in force on " + view.FormatCount(len(rules), "route rule") + ": " +
		strings.Join(names, ", ")}
}

// nothingText says that there is no answer. If only gateways were visited, the question may have
// been about the routes behind them.
func (l *EffectivePolicyList) nothingText(o view.TableOptions) string {
	if len(l.gateways) == 0 || len(l.rulesWithoutPolicy)+len(l.unattachedReasons) > 0 {
		return l.NothingInForceText(o)
	}
	var names []string
	for _, g := range l.gateways {
		names = append(names, g.String())
	}
	first := l.gateways[0]
	return fmt.Sprintf("no route rules are selected, only %s; to see what comes through: %s", strings.Join(names, ", "),
		o.FormatCommand("effective", first.String()))
}

const wideSettingColumns = 4

// effectiveBlock is one answer as a block: the heading, and one row per setting.
func effectiveBlock(a *pathGroup, kinds view.KindNames, o view.TableOptions) view.Block {
	b := view.Block{
		Heading: []string{a.formatHeading(o)},
		Columns: append([]view.Column{{Name: strings.ToUpper(view.SectionNoun(a.target.Kind)), Rank: 2, MinWidth: 8,
			Group: true}}, view.SettingColumns...),
	}
	if !o.Wide {
		b.Columns = b.Columns[:len(b.Columns)-wideSettingColumns]
	}
	for _, row := range foldRows(a, kinds, o) {
		label := cmp.Or(view.SectionList(row.sections, o), "whole") // which is the object itself
		b.Rows = append(b.Rows, view.PrependLabel(view.Cell{Text: label}, row.lines))
	}
	if a.sections == 0 {
		b.DropFirstColumn()
	}
	return b
}

// foldRows returns the rows of a group, in the order of the sections. Sections with the same setting
// share a row, whatever their other settings, unless the options forbid it.
func foldRows(a *pathGroup, kinds view.KindNames, o view.TableOptions) []sharedLines[[]view.Cell] {
	var out []sharedLines[[]view.Cell]
	at := map[string]int{}
	for _, item := range a.items {
		for _, row := range settingRows(item, kinds, o) {
			key := row.key
			if o.ByRule {
				key = item.Target.Section + "\x00" + key
			}
			i, known := at[key]
			if !known {
				i = len(out)
				at[key] = i
				out = append(out, sharedLines[[]view.Cell]{lines: row.cells})
			}
			if !slices.Contains(out[i].sections, item.Target.Section) {
				out[i].sections = append(out[i].sections, item.Target.Section)
			}
		}
	}
	return out
}

// settingRow is the row of a setting, and what tells it from others: all of the value, of which the
// row may have no more than the beginning.
type settingRow struct {
	cells []view.Cell
	key   string
}

// settingRows are the rows of one item, without the section in front.
func settingRows(item *view.EffectivePolicy, kinds view.KindNames, o view.TableOptions) []settingRow {
	kind := kinds.ShortName(item.PolicyKind)
	if len(item.Rules) == 0 {
		dash := view.Cell{Text: "-", Tone: view.Dim}
		row := []view.Cell{{Text: kind}, dash, dash, dash, {Text: "nothing in force", Tone: view.Bad}}
		if o.Wide {
			row = append(row, dash, dash, dash, dash)
		}
		row = view.MarkUnsure(row, item.Unread)
		return []settingRow{{row, view.RowKey(row)}}
	}
	rows := make([]settingRow, 0, len(item.Rules))
	for i := range item.Rules {
		r := &item.Rules[i]
		name := r.Name
		if item.Ordered {
			name = strconv.Itoa(i+1) + ". " + name
		}
		tone := view.Plain
		if len(r.Sources) == 1 && r.Sources[0].Builtin != "" {
			tone = view.Dim
		}
		var texts []string
		if o.Wide {
			texts = []string{kind, name, view.ValueText(r.Value, 0), fromText(item, r.Sources), r.Why,
				view.EachSource(r.Sources, func(s view.Source) string { return s.Target.String() }),
				view.EachSource(r.Sources, func(s view.Source) string { return s.Block }),
				view.EachSource(r.Sources, func(s view.Source) string { return s.Strategy }),
				view.EachSource(r.Sources, view.OriginText)}
		} else {
			texts = []string{kind, name, item.SummarizeRule(r), fromText(item, r.Sources), r.Why}
		}
		row := make([]view.Cell, len(texts))
		for c, text := range texts {
			row[c] = view.Cell{Text: text, Tone: tone}
		}
		row = view.MarkUnsure(row, item.Unread)
		key := view.RowKey(row)
		if strings.Contains(texts[2], "…") {
			key += "\x00" + view.ValueText(r.Value, 0)
		}
		rows = append(rows, settingRow{row, key})
	}
	return rows
}

// fromText names the sources of a rule; their kind only where it is not the item's.
func fromText(item *view.EffectivePolicy, sources []view.Source) string {
	return view.EachSource(sources, func(s view.Source) string {
		switch {
		case s.Policy == nil:
			return ""
		case s.Policy.GroupKind().String() != item.PolicyKind:
			return s.Policy.String()
		}
		return s.Policy.FullName()
	})
}

// lostHint counts the settings that lost and proposes the command that lists them, nil if none did.
func lostHint(items []*view.EffectivePolicy, lost int, o view.TableOptions) []string {
	for _, item := range items {
		lost += len(item.Lost)
		for i := range item.Rules {
			lost += len(item.Rules[i].Lost)
		}
	}
	if lost == 0 || len(items) == 0 {
		return nil
	}
	targets := make([]model.Ref, len(items))
	for i, item := range items {
		targets[i] = item.Target
	}
	scope := o.Scope
	if scope == nil {
		scope = hintScope(targets)
	}
	return []string{fmt.Sprintf("%s overridden: %s", view.FormatCount(lost, "setting was|settings were"),
		o.FormatCommand(append([]string{"overridden"}, scope...)...))}
}

// hintScope is the narrowest set of arguments that names all targets: one target, one namespace, or
// all of them.
func hintScope(targets []model.Ref) []string {
	oneSection, oneObject, oneNamespace := true, true, true
	for _, t := range targets[1:] {
		oneSection = oneSection && t == targets[0]
		oneObject = oneObject && t.WithoutSection() == targets[0].WithoutSection()
		oneNamespace = oneNamespace && t.Namespace == targets[0].Namespace
	}
	target := targets[0].WithoutSection()
	if oneSection {
		target = targets[0]
	}
	switch {
	case oneObject:
		return []string{"--target", target.String()}
	case oneNamespace && target.Namespace != "":
		return []string{"-n", target.Namespace}
	}
	return []string{"-A"}
}
