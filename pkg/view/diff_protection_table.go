package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// lossSentences say what route rules lose, or may lose.
func (d *EffectivePolicyDiff) lossSentences() []string {
	return append(d.protectionSentences(protectionLost, "rule loses|rules lose"), d.protectionSentences(protectionWeakened, "rule may lose|rules may lose")...)
}

// gainSentences say what they gain.
func (d *EffectivePolicyDiff) gainSentences() []string {
	return d.protectionSentences(protectionGained, "rule gains|rules gain")
}

// protectionSentences are one for each set of rules to which the same happens.
func (d *EffectivePolicyDiff) protectionSentences(change, verb string) []string {
	rules := map[gate.Property][]model.Ref{}
	for i := range d.Protection {
		if c := &d.Protection[i]; c.Change == change {
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
		out = append(out, grouped(len(rules[p]))+" "+nounFor(len(rules[p]), verb)+" "+andList(names)+".")
	}
	return out
}

// andList joins names as a sentence does.
func andList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// fillProtection lists what rules lose or gain.
func (d *EffectivePolicyDiff) fillProtection(t *Table, o TableOptions) {
	b := &t.Blocks[0]
	b.Columns = []Column{{Name: "NAMESPACE", Rank: 2, Least: 9, Short: shortCount}, {Name: "ROUTE RULE", Rank: 6, Least: 14}, {Name: "PROTECTION", Rank: 1, Least: 12},
		{Name: "BEFORE", Rank: 5, Least: 18, Wrap: true}, {Name: "AFTER", Rank: 3, Least: 18, Wrap: true}}
	var lines [][]Cell
	folded := 0
	for _, g := range d.protectionGroups(o) {
		labels, counts := ruleLabels(g.targets, o)
		folded += counts
		for _, label := range labels {
			lines = append(lines, append(slices.Clone(label), g.cells...))
		}
	}
	shown := o.limit(len(lines))
	b.Rows = lines[:shown]
	t.Footer = append(t.Footer, moreLine(len(lines)-shown, "change of protection|changes of protection")...)
	if folded > 0 {
		t.Footer = append(t.Footer, Counted(folded, "change is|changes are")+" only counted; --by-rule lists them")
	}
}

// protectionGroup is the same loss or gain of several rules.
type protectionGroup struct {
	cells   []Cell // what happens, what was true, and what is
	targets []model.Ref
}

// protectionGroups are the losses and gains, with the rules to which each happens for the same reasons; properties of which the same is said share a line.
func (d *EffectivePolicyDiff) protectionGroups(o TableOptions) []protectionGroup {
	type said struct {
		target                model.Ref
		change, before, after string
	}
	properties := map[said][]string{}
	var order []said
	for i := range d.Protection {
		c := &d.Protection[i]
		key := said{c.Target, c.Change, holdsBy(&c.Before), holdsBy(&c.After)}
		if properties[key] == nil {
			order = append(order, key)
		}
		properties[key] = append(properties[key], string(c.Property))
	}
	at := map[string]int{}
	var out []protectionGroup
	for _, key := range order {
		word := map[string]string{protectionLost: "loses ", protectionWeakened: "may lose ", protectionGained: "gains "}[key.change] + andList(properties[key])
		text := strings.Join([]string{word, key.before, key.after}, "\x00")
		n, known := at[text]
		if !known || o.ByRule {
			n = len(out)
			at[text] = n
			tone := map[string]Tone{protectionLost: Bad, protectionWeakened: Partly, protectionGained: Good}[key.change]
			out = append(out, protectionGroup{cells: []Cell{{Text: word, Tone: tone}, {Text: key.before}, {Text: key.after}}})
		}
		out[n].targets = append(out[n].targets, key.target)
	}
	return out
}

// holdsBy says by what a property holds, or why not.
func holdsBy(r *protect.Result) string {
	if r.Verdict == gate.Holds && !r.Has(gate.DeniesAll) {
		return usesText(r.By)
	}
	return becauseText(r.Because)
}

// usesText names gates.
func usesText(uses []protect.Use) string {
	var out []string
	for _, u := range uses {
		text := u.Object.Kind + " " + u.Object.FullName()
		if u.Field != "" {
			text = u.Field + " of " + text
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return cmp.Or(strings.Join(out, ", "), "-")
}

// becauseText says reasons in a cell.
func becauseText(reasons []protect.Reason) string {
	return cmp.Or(reasonsText(reasons), "-")
}

// ruleLabels are the namespaces and the names of rules, a line for each route; too many for lines are counted.
func ruleLabels(targets []model.Ref, o TableOptions) (lines [][]Cell, counts int) {
	var objects []model.Ref
	sections := map[model.Ref][]string{}
	for _, target := range targets {
		object := target.WithoutSection()
		if sections[object] == nil {
			objects = append(objects, object)
		}
		sections[object] = append(sections[object], target.Section)
	}
	if len(objects) >= foldFrom && !o.Wide && !o.ByRule {
		return countedTargets(targets), len(targets)
	}
	for _, object := range objects {
		lines = append(lines, []Cell{{Text: cmp.Or(object.Namespace, "-")}, {Text: strings.ToLower(object.Kind) + "/" + object.Name + " " + sectionList(sections[object], o)}})
	}
	return lines, 0
}
