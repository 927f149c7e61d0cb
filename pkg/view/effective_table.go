package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Table shows every setting in force, with its source and why it stands: with the target in every row or, of one object that was asked for and
// where the options want it, one block per object and group of paths. The footer counts the settings that were overridden and says how to ask for it.
func (l *EffectivePolicyList) Table(o TableOptions) Table {
	items := l.listShownItems()
	groups := groupItems(items)
	shown := groups[:o.countShown(len(groups))]
	kinds := kindNames{}
	for _, item := range items {
		kinds.add(item.PolicyKind)
	}
	items = items[:len(l.Items)]
	var t Table
	switch oneObject := len(groups) > 0 && !slices.ContainsFunc(groups, func(g pathGroup) bool { return g.target != groups[0].target }); {
	case len(shown) == 0:
	case o.Grouped || o.Target != "" && oneObject:
		for i := range shown {
			t.Blocks = append(t.Blocks, effectiveBlock(&shown[i], kinds, o))
		}
	default:
		t.Blocks = []Block{flatBlock(shown, kinds, o)}
	}
	t.Footer = append(t.Footer, formatMoreLine(len(groups)-len(shown), "target")...)
	switch {
	case len(l.Reported) > 0:
		t.Blocks = append(t.Blocks, l.reportedBlock())
		t.Footer = append(t.Footer, reportedNotes(l.Reported)...)
	case len(items) == 0:
		t.Footer = append(t.Footer, l.nothingText(o))
	}
	t.Footer = append(t.Footer, l.unattachedReasons...)
	if len(items) > 0 && len(l.Reported) == 0 {
		t.Footer = append(t.Footer, l.bareLine()...)
		for _, way := range l.pathsWithoutPolicy {
			t.Footer = append(t.Footer, l.noPolicyText()+way)
		}
	}
	t.Footer = append(t.Footer, lostHint(items, l.unlistedLosses, o)...)
	t.Footer = append(t.Footer, l.genericLine()...)
	t.Footer = append(t.Footer, unsureLine(slices.ContainsFunc(items, func(i *EffectivePolicy) bool { return len(i.Unread) > 0 }))...)
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
		names = append(names, targetName(r))
	}
	if rest := len(rules) - len(names); rest > 0 {
		names = append(names, fmt.Sprintf("%d more", rest))
	}
	return []string{l.noPolicyText() + " is in force on " + FormatCount(len(rules), "route rule") + ": " + strings.Join(names, ", ")}
}

// genericLine names the kinds in view that have no descriptor.
func (e *Envelope) genericLine() []string {
	var kinds []string
	for _, p := range e.Problems {
		if p.Code == model.GenericKind && p.Ref != nil {
			kinds = append(kinds, p.Ref.Kind)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return []string{strings.Join(kinds, ", ") + ": no built-in support; generic GEP-713 rules applied"}
}

// nothingText says that there is no answer. If only gateways were visited, the question may have
// been about the routes behind them.
func (l *EffectivePolicyList) nothingText(o TableOptions) string {
	if len(l.gateways) == 0 || len(l.rulesWithoutPolicy)+len(l.unattachedReasons) > 0 {
		return l.nothingInForceText(o)
	}
	var names []string
	for _, g := range l.gateways {
		names = append(names, targetName(g))
	}
	first := l.gateways[0]
	return fmt.Sprintf("no route rules are selected, only %s; to see what comes through: %s", strings.Join(names, ", "),
		o.formatCommand("effective", strings.ToLower(first.Kind)+"/"+first.Name, "-n", first.Namespace))
}

// nothingInForceText says that nothing is in force on what was asked about.
func (e *Envelope) nothingInForceText(o TableOptions) string {
	if o.Target == "" {
		return e.noPolicyText() + " is in force here"
	}
	return e.noPolicyText() + " is in force on " + o.Target
}

// noPolicyText is the subject of a sentence about the absence of policies. It claims no more than
// is known.
func (e *Envelope) noPolicyText() string {
	if e.policyUnknown || slices.ContainsFunc(e.Problems, func(p model.Problem) bool { return p.Code == model.Forbidden }) {
		return "cannot tell whether a policy"
	}
	return "no policy"
}

// settingColumns are the columns about a setting in force. The last ones are wide.
var settingColumns = []Column{{Name: "KIND", Rank: 7, MinWidth: 9, Shorten: shortKind}, {Name: "SETTING", Rank: 5, MinWidth: 12, Shorten: shortSetting},
	{Name: "VALUE", Rank: 1, MinWidth: 16}, {Name: "FROM", Rank: 3, MinWidth: 12, Shorten: shortName}, {Name: "WHY", Rank: 8, MinWidth: 19, Shorten: shortWhy, Optional: true},
	{Name: "SET ON", Wide: true}, {Name: "BLOCK", Wide: true}, {Name: "STRATEGY", Wide: true}, {Name: "ORIGIN", Wide: true}}

const wideSettingColumns = 4

// effectiveBlock is one answer as a block: the heading, and one row per setting.
func effectiveBlock(a *pathGroup, kinds kindNames, o TableOptions) Block {
	b := Block{
		Heading: []string{a.formatHeading(o)},
		Columns: append([]Column{{Name: strings.ToUpper(sectionNoun(a.target.Kind)), Rank: 2, MinWidth: 8, Shorten: shortList}}, settingColumns...),
	}
	if !o.Wide {
		b.Columns = b.Columns[:len(b.Columns)-wideSettingColumns]
	}
	rows := func(items []*EffectivePolicy) [][]Cell {
		var out [][]Cell
		for _, item := range items {
			out = append(out, settingRows(item, kinds, o)...)
		}
		return out
	}
	for _, same := range foldSections(a, o, rows, rowsKey) {
		label := Cell{Text: sectionList(same.sections, o)}
		for _, row := range same.lines {
			b.Rows = append(b.Rows, prependLabel(label, row))
		}
	}
	if a.sections == 0 {
		b.dropFirstColumn()
	}
	return b
}

// dropFirstColumn removes the column of sections, for targets that have none.
func (b *Block) dropFirstColumn() {
	b.Columns = b.Columns[1:]
	for i, row := range b.Rows {
		b.Rows[i] = row[1:]
		if strings.HasPrefix(row[0].Text, unsureMark) {
			row[1].Text = unsureMark + row[1].Text
		}
	}
}

// rowsKey returns a key that tells lists of rows apart.
func rowsKey(rows [][]Cell) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(rowKey(row) + "\n")
	}
	return b.String()
}

// settingRows are the rows of one item, without the section in front.
func settingRows(item *EffectivePolicy, kinds kindNames, o TableOptions) [][]Cell {
	kind := kinds.shortName(item.PolicyKind)
	if len(item.Rules) == 0 {
		dash := Cell{Text: "-", Tone: Dim}
		row := []Cell{{Text: kind}, dash, dash, dash, {Text: "nothing in force", Tone: Bad}}
		if o.Wide {
			row = append(row, dash, dash, dash, dash)
		}
		return [][]Cell{markUnsure(row, item.Unread)}
	}
	rows := make([][]Cell, 0, len(item.Rules))
	for i := range item.Rules {
		r := &item.Rules[i]
		name := r.Name
		if item.Ordered {
			name = strconv.Itoa(i+1) + ". " + name
		}
		tone := Plain
		if len(r.Sources) == 1 && r.Sources[0].Builtin != "" {
			tone = Dim
		}
		var texts []string
		if o.Wide {
			texts = []string{kind, name, valueText(r.Value, 0), fromText(item, r.Sources), r.Why,
				eachSource(r.Sources, func(s Source) string { return targetName(*s.Target) }),
				eachSource(r.Sources, func(s Source) string { return s.Block }),
				eachSource(r.Sources, func(s Source) string { return s.Strategy }),
				eachSource(r.Sources, originText)}
		} else {
			texts = []string{kind, name, item.SummarizeRule(r), fromText(item, r.Sources), r.Why}
		}
		row := make([]Cell, len(texts))
		for c, text := range texts {
			row[c] = Cell{Text: text, Tone: tone}
		}
		rows = append(rows, markUnsure(row, item.Unread))
	}
	return rows
}

// fromText names the sources of a rule; their kind only where it is not the item's.
func fromText(item *EffectivePolicy, sources []Source) string {
	return eachSource(sources, func(s Source) string {
		switch {
		case s.Policy == nil:
			return ""
		case s.Policy.GroupKind().String() != item.PolicyKind:
			return objectName(*s.Policy)
		}
		return s.Policy.FullName()
	})
}

// eachSource joins a fact about each source, weakest first, with " + "; "-" stands for what there is not.
func eachSource(sources []Source, fact func(Source) string) string {
	parts := make([]string, 0, len(sources))
	for _, s := range sources {
		parts = append(parts, orDash(fact(s)))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " + ")
}

// originText says where a source is written; "" where that is not known.
func originText(s Source) string {
	if s.Origin == nil {
		return ""
	}
	return s.Origin.String()
}

// lostHint counts the settings that lost and proposes the command that lists them, nil if none did.
func lostHint(items []*EffectivePolicy, lost int, o TableOptions) []string {
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
	return []string{fmt.Sprintf("%s overridden: %s", FormatCount(lost, "setting was|settings were"), o.formatCommand(append([]string{"overridden"}, scope...)...))}
}

// hintScope is the narrowest set of arguments that names all targets: one target, one namespace, or all of them.
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
	arg, namespace := commandArgument(target)
	switch {
	case oneObject:
		return append([]string{"--target", arg}, namespace...)
	case oneNamespace && namespace != nil:
		return namespace
	}
	return []string{"-A"}
}
