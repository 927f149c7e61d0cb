package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// lossSentences says what route rules, called by a noun, lose or may lose.
func (d *EffectivePolicyDiff) lossSentences(noun string) []string {
	return append(describeChanges(d.Protection, ProtectionLost, noun+" loses|"+noun+"s lose"),
		describeChanges(d.Protection, protectionWeakened, noun+" may lose|"+noun+"s may lose")...)
}

// gainSentences says what route rules gain.
func (d *EffectivePolicyDiff) gainSentences() []string {
	return describeChanges(d.Protection, ProtectionGained, "rule gains|rules gain")
}

// describeChanges returns one sentence for each set of rules to which the same happens.
func describeChanges(changes []ProtectionChange, change, verb string) []string {
	rules := map[gate.Property][]model.Ref{}
	for i := range changes {
		if c := &changes[i]; c.Change == change {
			rules[c.Property] = append(rules[c.Property], c.Target)
		}
	}
	var out []string
	told := map[gate.Property]bool{}
	for _, p := range gate.Properties() {
		if told[p] || len(rules[p]) == 0 {
			continue
		}
		var names []string
		for _, other := range gate.Properties() {
			if slices.Equal(rules[other], rules[p]) {
				told[other] = true
				names = append(names, string(other))
			}
		}
		out = append(out, view.FormatNumber(len(rules[p]))+" "+view.InflectNoun(len(rules[p]), verb)+" "+
			view.JoinWithAnd(names)+".")
	}
	return out
}

// addProtectionRows adds the rows of what route rules lose or gain.
func (d *EffectivePolicyDiff) addProtectionRows(t *view.Table, o view.TableOptions) {
	b := &t.Blocks[0]
	b.FormatGroup = view.FormatTargetGroup
	b.Columns = []view.Column{{Name: "NAMESPACE", Rank: 2, MinWidth: 9, Shorten: view.ShortCount, Group: true},
		{Name: "ROUTE RULE", Rank: 6, MinWidth: 14, Group: true}, {Name: "PROTECTION", Rank: 1, MinWidth: 12, Keep: true},
		{Name: "BEFORE", Rank: 5, MinWidth: 18, Wrap: true, Keep: true}, {Name: "AFTER", Rank: 3, MinWidth: 18, Wrap: true, Keep: true}}
	var lines [][]view.Cell
	folded := 0
	for _, g := range d.groupProtection(o) {
		labels, counts := ruleLabels(g.targets, o)
		folded += counts
		for _, label := range labels {
			lines = append(lines, append(slices.Clone(label), g.cells...))
		}
	}
	shown := o.CountShown(len(lines))
	b.Rows = lines[:shown]
	t.Footer = append(t.Footer, view.FormatMoreLine(len(lines)-shown, "change of protection|changes of protection")...)
	if folded > 0 {
		t.Footer = append(t.Footer, view.FormatCount(folded, "change is|changes are")+
			" only counted; --by-rule lists them")
	}
}

// protectionGroup is one loss or gain, with the rules to which it happens.
type protectionGroup struct {
	cells   []view.Cell // what happens, what was true, and what is
	targets []model.Ref
}

// groupProtection returns the losses and gains, each with the rules to which it happens for the
// same reasons. Properties with the same text share a row.
func (d *EffectivePolicyDiff) groupProtection(o view.TableOptions) []protectionGroup {
	type said struct {
		target                model.Ref
		change, before, after string
	}
	properties := map[said][]string{}
	var order []said
	for i := range d.Protection {
		c := &d.Protection[i]
		key := said{c.Target, c.Change, FormatGrounds(&c.Before), FormatGrounds(&c.After)}
		if properties[key] == nil {
			order = append(order, key)
		}
		properties[key] = append(properties[key], string(c.Property))
	}
	at := map[string]int{}
	var out []protectionGroup
	for _, key := range order {
		word := map[string]string{ProtectionLost: "loses ", protectionWeakened: "may lose ",
			ProtectionGained: "gains "}[key.change] + view.JoinWithAnd(properties[key])
		text := strings.Join([]string{word, key.before, key.after}, "\x00")
		n, known := at[text]
		if !known || o.ByRule {
			n = len(out)
			at[text] = n
			tone := map[string]view.Tone{ProtectionLost: view.Bad, protectionWeakened: view.Partly,
				ProtectionGained: view.Good}[key.change]
			out = append(out, protectionGroup{cells: []view.Cell{{Text: word, Tone: tone}, {Text: key.before},
				{Text: key.after}}})
		}
		out[n].targets = append(out[n].targets, key.target)
	}
	return out
}

// FormatGrounds says by what a property holds, or why it does not.
func FormatGrounds(r *protect.Result) string {
	if r.Verdict == gate.Holds && !r.HasReason(gate.DeniesAll) {
		return FormatUses(r.By)
	}
	return FormatBecause(r.Because)
}

// FormatUses names gates.
func FormatUses(uses []protect.Use) string {
	var out []string
	for _, u := range uses {
		text := u.Object.String()
		if u.Field != "" {
			text = u.Field + " of " + text
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// FormatBecause writes reasons in a cell.
func FormatBecause(reasons []protect.Reason) string {
	return cmp.Or(view.JoinReasons(reasons), "-")
}

// ruleLabels returns the namespaces and the names of rules, a row for each route; if there are too
// many, they are counted.
func ruleLabels(targets []model.Ref, o view.TableOptions) (lines [][]view.Cell, counts int) {
	var objects []model.Ref
	sections := map[model.Ref][]string{}
	for _, target := range targets {
		object := target.WithoutSection()
		if sections[object] == nil {
			objects = append(objects, object)
		}
		sections[object] = append(sections[object], target.Section)
	}
	if len(objects) >= minCountedTargets && !o.Wide && !o.ByRule {
		return countedTargets(targets), len(targets)
	}
	for _, object := range objects {
		lines = append(lines, []view.Cell{{Text: cmp.Or(object.Namespace, "-")},
			{Text: view.AddSections(strings.ToLower(object.Kind)+"/"+object.Name, sections[object], o)}})
	}
	return lines, 0
}
