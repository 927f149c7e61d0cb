package effective

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// rulesPerLine is how many rules stand behind a policy before each gets a line of its own.
const rulesPerLine = 3

// Tree shows the stacks: below each target (with how traffic gets there) the policy kinds, and
// below these the policies from the least to the most specific, each with what became of its rules.
func (l *EffectivePolicyList) Tree(o view.TableOptions) []view.Branch {
	items := l.listShownItems(o)
	out := BuildTree(items, o)
	if len(l.Items) == 0 {
		out = append(out, view.Branch{Cells: []view.Cell{{Text: l.nothingText(o)}}})
	}
	marked := view.UnsureLine(slices.ContainsFunc(items,
		func(i *view.EffectivePolicy) bool { return len(i.Unread) > 0 }))
	for _, line := range slices.Concat(l.unattachedReasons, marked, l.IncompleteLines()) {
		out = append(out, view.Branch{Cells: []view.Cell{{Text: line}}})
	}
	return out
}

// BuildTree returns the stacks of effective policies as a tree, by target.
func BuildTree(items []*view.EffectivePolicy, o view.TableOptions) []view.Branch {
	answers := groupItems(items)
	kinds := view.KindNames{}
	for _, item := range items {
		kinds.Add(item.PolicyKind)
	}
	var out []view.Branch
	for i := range answers[:o.CountShown(len(answers))] {
		a := &answers[i]
		lines := func(items []*view.EffectivePolicy) []view.Branch { return kindBranches(items, kinds, o) }
		for _, same := range foldSections(a, o, lines, branchesKey) {
			root := view.AddSections(a.target.WithoutSection().String(), same.sections, o)
			out = append(out,
				view.Branch{Cells: []view.Cell{{Text: strings.Join(append([]string{root}, a.formatVia(o)...), " · ")}},
					Children: same.lines})
		}
	}
	for _, line := range view.FormatMoreLine(len(answers)-o.CountShown(len(answers)), "block") {
		out = append(out, view.Branch{Cells: []view.Cell{{Text: line, Tone: view.Dim}}})
	}
	return out
}

// branchesKey returns a key that tells subtrees apart.
func branchesKey(branches []view.Branch) string {
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
func kindBranches(items []*view.EffectivePolicy, kinds view.KindNames, o view.TableOptions) []view.Branch {
	var out []view.Branch
	for _, item := range items {
		out = append(out, view.Branch{Cells: view.MarkUnsure([]view.Cell{{Text: kinds.ShortName(item.PolicyKind)}},
			item.Unread), Children: stackBranches(item, o)})
	}
	return out
}

// treeLayer is one block of one policy of the stack, with its rules.
type treeLayer struct {
	source view.Source
	rules  []view.Cell
}

// stackBranches is one line per policy of the stack and block of it.
func stackBranches(item *view.EffectivePolicy, o view.TableOptions) []view.Branch {
	var out []view.Branch
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
			idle := view.Source{Policy: use.Policy, Builtin: use.Builtin, Target: use.Target, Strategy: use.Strategy}
			layers = []treeLayer{{source: idle,
				rules: []view.Cell{{Text: view.MarkLost + " " + cmp.Or(use.Role, "ignored"), Tone: view.Bad}}}}
		}
		for _, l := range layers {
			out = append(out, l.buildBranch(item))
		}
	}
	return out
}

// groupByLayer returns every rule of an item, in force or lost, by the policy and the block that it
// stands in: defaults, bare, overrides.
func groupByLayer(item *view.EffectivePolicy, o view.TableOptions) map[string][]treeLayer {
	out := map[string][]treeLayer{}
	add := func(s view.Source, c view.Cell) {
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
			add(s, view.Cell{Text: formatInForce(item, r, o), Tone: view.Good})
		}
		for _, l := range r.Lost {
			add(l.Source, lostCell(r.Name, l, o))
		}
	}
	for _, l := range item.Lost {
		add(l.Source, lostCell(l.Rule, l.Loss, o))
	}
	for key := range out {
		slices.SortStableFunc(out[key], func(a, b treeLayer) int {
			return cmp.Compare(blockRank(a.source.Block),
				blockRank(b.source.Block))
		})
	}
	return out
}

// formatInForce is a rule with its value.
func formatInForce(e *view.EffectivePolicy, r *view.Rule, o view.TableOptions) string {
	value := e.SummarizeRule(r)
	if o.Wide {
		value = view.ValueText(r.Value, 0)
	}
	return r.Name + " " + view.MarkInForce + " " + value
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
func lostCell(rule string, l view.Loss, o view.TableOptions) view.Cell {
	words := explain.DescribeOutcome(merge.Reason(l.Reason), winnerText(l))
	if o.Wide && l.Message != "" {
		words += " (" + l.Message + ")"
	}
	return view.Cell{Text: rule + " " + view.MarkLost + " " + words, Tone: view.Bad}
}

// winnerText names the winner of a loss; "" if a condition or nobody decided it.
func winnerText(l view.Loss) string {
	if len(l.LostTo) == 0 {
		return ""
	}
	name := view.SourceName(l.LostTo[0])
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
func (l *treeLayer) buildBranch(item *view.EffectivePolicy) view.Branch {
	place := l.source.Target.String()
	if *l.source.Target == item.Target && item.Target.Section != "" {
		place = item.Target.Section
	}
	how := strings.Join(slices.DeleteFunc([]string{l.source.Block, l.source.Strategy},
		func(s string) bool { return s == "" }), ", ")
	b := view.Branch{Cells: []view.Cell{{Text: place}, {Text: view.SourceName(l.source)}, {Text: cmp.Or(how, "-")}}}
	if l.source.Builtin != "" {
		b.Cells[1].Tone = view.Dim
	}
	if len(l.rules) <= rulesPerLine {
		b.Cells = append(b.Cells, l.rules...)
		return b
	}
	b.Cells = append(b.Cells, view.Cell{Text: view.FormatCount(len(l.rules), "rule")})
	for _, c := range l.rules {
		b.Children = append(b.Children, view.Branch{Cells: []view.Cell{c}})
	}
	return b
}
