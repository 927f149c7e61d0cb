package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// The marks of a tree. Writers that may not use them replace them.
const (
	markInForce = "✔"
	markLost    = "✘"
)

// rulesPerLine is how many rules stand behind a policy before each gets a line of its own.
const rulesPerLine = 3

// Tree shows the stacks: below each target (with how traffic gets there) the policy kinds, and below these the policies from the least to
// the most specific, each with what became of its rules.
func (l *EffectivePolicyList) Tree(o TableOptions) []Branch {
	items := l.listShownItems()
	out := effectiveTree(items, o)
	if len(l.Items) == 0 {
		out = append(out, Branch{Cells: []Cell{{Text: l.nothingText(o)}}})
	}
	marked := unsureLine(slices.ContainsFunc(items, func(i *EffectivePolicy) bool { return len(i.Unread) > 0 }))
	for _, line := range slices.Concat(l.unattachedReasons, marked, l.IncompleteLines()) {
		out = append(out, Branch{Cells: []Cell{{Text: line}}})
	}
	return out
}

// effectiveTree returns the stacks of effective policies as a tree, by target.
func effectiveTree(items []*EffectivePolicy, o TableOptions) []Branch {
	answers := groupItems(items)
	kinds := kindNames{}
	for _, item := range items {
		kinds.add(item.PolicyKind)
	}
	var out []Branch
	for i := range answers[:o.countShown(len(answers))] {
		a := &answers[i]
		lines := func(items []*EffectivePolicy) []Branch { return kindBranches(items, kinds, o) }
		for _, same := range foldSections(a, o, lines, branchesKey) {
			root := objectName(a.target)
			if label := sectionList(same.sections, o); label != "" {
				root += " " + label
			}
			out = append(out, Branch{Cells: []Cell{{Text: strings.Join(append([]string{root}, a.formatVia(o)...), " · ")}}, Children: same.lines})
		}
	}
	for _, line := range formatMoreLine(len(answers)-o.countShown(len(answers)), "block") {
		out = append(out, Branch{Cells: []Cell{{Text: line, Tone: Dim}}})
	}
	return out
}

// branchesKey returns a key that tells subtrees apart.
func branchesKey(branches []Branch) string {
	var b strings.Builder
	for _, branch := range branches {
		for _, c := range branch.Cells {
			b.WriteString(c.Text)
			b.WriteByte(0)
		}
		b.WriteString("(" + branchesKey(branch.Children) + ")\n")
	}
	return b.String()
}

// kindBranches are the stacks at one target, one branch per policy kind.
func kindBranches(items []*EffectivePolicy, kinds kindNames, o TableOptions) []Branch {
	var out []Branch
	for _, item := range items {
		out = append(out, Branch{Cells: markUnsure([]Cell{{Text: kinds.shortName(item.PolicyKind)}}, item.Unread), Children: stackBranches(item, o)})
	}
	return out
}

// treeLayer is one block of one policy of the stack, with its rules.
type treeLayer struct {
	source Source
	rules  []Cell
}

// stackBranches is one line per policy of the stack and block of it.
func stackBranches(item *EffectivePolicy, o TableOptions) []Branch {
	var out []Branch
	byPlace := groupByLayer(item, o)
	seen := map[string]bool{}
	for _, use := range item.Policies {
		key := placeKey(use.Policy, use.Builtin, *use.Target)
		layers := byPlace[key]
		delete(byPlace, key)
		if seen[key] && len(layers) == 0 { // another part of a policy whose line has all
			continue
		}
		seen[key] = true
		if len(layers) == 0 {
			idle := Source{Policy: use.Policy, Builtin: use.Builtin, Target: use.Target, Strategy: use.Strategy}
			layers = []treeLayer{{source: idle, rules: []Cell{{Text: markLost + " " + cmp.Or(use.Role, "ignored"), Tone: Bad}}}}
		}
		for _, l := range layers {
			out = append(out, l.buildBranch(item))
		}
	}
	return out
}

// groupByLayer returns every rule of an item, in force or lost, by the policy and the block that it
// stands in: defaults, bare, overrides.
func groupByLayer(item *EffectivePolicy, o TableOptions) map[string][]treeLayer {
	out := map[string][]treeLayer{}
	add := func(s Source, c Cell) {
		key := placeKey(s.Policy, s.Builtin, *s.Target)
		at := slices.IndexFunc(out[key], func(l treeLayer) bool { return l.source.Block == s.Block })
		if at < 0 {
			at = len(out[key])
			out[key] = append(out[key], treeLayer{source: s})
		}
		out[key][at].rules = append(out[key][at].rules, c)
	}
	for i := range item.Rules {
		r := &item.Rules[i]
		for _, s := range r.Sources {
			add(s, Cell{Text: formatInForce(item, r, o), Tone: Good})
		}
		for _, l := range r.Lost {
			add(l.Source, lostCell(r.Name, l, o))
		}
	}
	for _, l := range item.Lost {
		add(l.Source, lostCell(l.Rule, l.Loss, o))
	}
	for key := range out {
		slices.SortStableFunc(out[key], func(a, b treeLayer) int { return cmp.Compare(blockRank(a.source.Block), blockRank(b.source.Block)) })
	}
	return out
}

// formatInForce is a rule with its value.
func formatInForce(e *EffectivePolicy, r *Rule, o TableOptions) string {
	value := e.SummarizeRule(r)
	if o.Wide {
		value = valueText(r.Value, 0)
	}
	return r.Name + " " + markInForce + " " + value
}

func placeKey(policy *model.Ref, builtin string, target model.Ref) string {
	key := builtin + "\x00" + target.Group + "\x00" + target.String()
	if policy != nil {
		key += "\x00" + policy.Group + "\x00" + policy.String()
	}
	return key
}

func blockRank(block string) int {
	return slices.Index([]string{"defaults", "bare", "overrides"}, block)
}

// lostCell says in a word why a rule is not in force; the wide form has the whole sentence.
func lostCell(rule string, l Loss, o TableOptions) Cell {
	words := explain.DescribeOutcome(merge.Reason(l.Reason), winnerText(l))
	if o.Wide && l.Message != "" {
		words += " (" + l.Message + ")"
	}
	return Cell{Text: rule + " " + markLost + " " + words, Tone: Bad}
}

// winnerText names the winner of a loss; "" if a condition or nobody decided it.
func winnerText(l Loss) string {
	if len(l.LostTo) == 0 {
		return ""
	}
	name := sourceName(l.LostTo[0])
	if l.Policy != nil && l.LostTo[0].Policy != nil && *l.Policy == *l.LostTo[0].Policy {
		name = "its own " + l.LostTo[0].Block
	}
	if more := len(l.LostTo) - 1; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	return name
}

// buildBranch returns the layer as a line: where it stands, the policy, its block and strategy, its
// rules.
func (l *treeLayer) buildBranch(item *EffectivePolicy) Branch {
	place := targetName(*l.source.Target)
	if *l.source.Target == item.Target && item.Target.Section != "" {
		place = item.Target.Section
	}
	how := strings.Join(slices.DeleteFunc([]string{l.source.Block, l.source.Strategy}, func(s string) bool { return s == "" }), ", ")
	b := Branch{Cells: []Cell{{Text: place}, {Text: sourceName(l.source)}, {Text: cmp.Or(how, "-")}}}
	if l.source.Builtin != "" {
		b.Cells[1].Tone = Dim
	}
	if len(l.rules) <= rulesPerLine {
		b.Cells = append(b.Cells, l.rules...)
		return b
	}
	b.Cells = append(b.Cells, Cell{Text: FormatCount(len(l.rules), "rule")})
	for _, c := range l.rules {
		b.Children = append(b.Children, Branch{Cells: []Cell{c}})
	}
	return b
}
