package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// Table shows the fold step by step, from the most specific policy to the least specific, and below
// it what came out.
func (l *Explanation) Table(o view.TableOptions) view.Table {
	kinds := view.KindNames{}
	for i := range l.Items {
		kinds.Add(l.Items[i].PolicyKind)
	}
	var t view.Table
	shown := l.Items[:o.CountShown(len(l.Items))]
	for i := range shown {
		t.Blocks = append(t.Blocks, shown[i].buildBlock(kinds, o))
	}
	t.Footer = view.FormatMoreLine(len(l.Items)-len(shown), "block")
	if len(l.Items) == 0 {
		t.Footer = append(t.Footer, l.NothingInForceText(o))
	}
	t.Footer = append(t.Footer, view.RowNotes(listExplained(shown))...)
	t.Footer = append(t.Footer,
		view.UnsureLine(slices.ContainsFunc(l.Items, func(i ExplainedPolicy) bool { return len(i.Unread) > 0 }))...)
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}

// Tree is that of the effective policies that are explained.
func (l *Explanation) Tree(o view.TableOptions) []view.Branch {
	return effective.BuildTree(listExplained(l.Items), o)
}

// listExplained lists the effective policies that are explained.
func listExplained(all []ExplainedPolicy) []*view.EffectivePolicy {
	out := make([]*view.EffectivePolicy, len(all))
	for i := range all {
		out[i] = &all[i].EffectivePolicy
	}
	return out
}

// stepColumns are the columns of the steps of a merge.
func stepColumns() []view.Column {
	return []view.Column{{Name: "STEP"}, {Name: "POLICY", Rank: 3, MinWidth: 12}, {Name: "SET ON", Rank: 4,
		MinWidth: 6}, {Name: "MERGE", Rank: 5, MinWidth: 14, Wrap: true}, {Name: "RESULT", Rank: 9, MinWidth: 30, Below: true, Keep: true,
		Wrap: true}}
}

// buildBlock returns one fold as a block. Steps that change nothing are left out, unless the table is
// wide.
func (p *ExplainedPolicy) buildBlock(kinds view.KindNames, o view.TableOptions) view.Block {
	b := view.Block{Heading: []string{p.formatHeading(kinds, o)}, Columns: stepColumns()}
	steps := p.Steps
	if !o.Wide {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return !s.hasEffect() })
	}
	if len(steps) > 1 {
		b.Heading = append(b.Heading, "merged from the most specific policy to the least specific:")
	}
	for i := range steps {
		for n, line := range steps[i].formatLines() {
			row := []view.Cell{{}, {}, {}, {}, {Text: line}}
			if n == 0 {
				row = append(steps[i].buildIntro(i+1), row[4])
			}
			b.Rows = append(b.Rows, row)
		}
	}
	return b.WithRows(p.buildResultRows(o))
}

// formatHeading says what is explained; a single rule by name.
func (p *ExplainedPolicy) formatHeading(kinds view.KindNames, o view.TableOptions) string {
	var names []string
	for i := range p.Rules {
		names = append(names, p.Rules[i].Name)
	}
	for i := range p.Lost {
		names = append(names, p.Lost[i].Rule)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	what := kinds.ShortName(p.PolicyKind)
	if len(names) == 1 {
		what += " " + names[0]
	}
	what += " on " + p.Target.String()
	if via := view.ViaText(p.Paths, p.Target.WithoutSection(), o); via != "" {
		what += " via " + via
	}
	return what
}

// buildIntro returns the left half of the first row of step n: whose settings it merges, and how.
func (s *Step) buildIntro(n int) []view.Cell {
	policy, level := view.Cell{Text: s.Builtin, Tone: view.Dim}, explain.LevelName(s.Level)
	switch {
	case s.Policy != nil:
		policy = view.Cell{Text: s.Policy.FullName()}
	case s.isOfSeveral():
		policy, level = view.Cell{Text: "all of them", Tone: view.Dim}, "-"
	}
	how := s.how
	if n == 1 && !s.isOfSeveral() {
		how = "first"
	}
	return []view.Cell{{Text: strconv.Itoa(n)}, policy, {Text: level}, {Text: how}}
}

// isOfSeveral reports whether the step merges the results of several steps, not one policy.
func (s *Step) isOfSeveral() bool { return s.Policy == nil && s.Builtin == "" }

// hasEffect reports whether the step changes what is in force.
func (s *Step) hasEffect() bool {
	return len(s.Took)+len(s.Lost)+len(s.Notes) > 0 || s.Condition != ""
}

// formatLines returns the right half of a step: its condition, then what happened to which setting.
func (s *Step) formatLines() []string {
	var out []string
	if s.Condition != "" {
		out = append(out, "condition "+s.Condition)
	}
	if len(s.Took) > 0 && !(s.isOfSeveral() && len(s.Notes) > 0) { // the notes say whose they are
		out = append(out, "sets "+joinSettings(s.Took))
	}
	out = append(out, s.Notes...)
	if len(s.Lost) > 0 && len(s.Notes) == 0 {
		out = append(out, joinSettings(s.Lost)+" is not in force")
	}
	if out == nil {
		out = append(out, "no change")
	}
	return out
}

// joinSettings lists settings, each once; the whole of a policy is said in words.
func joinSettings(names []string) string {
	out := slices.Clone(names)
	for i, name := range out {
		if name == merge.Path(nil).String() {
			out[i] = wholePolicy
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// wholePolicy stands for the name of a setting that is all of a policy.
const wholePolicy = "the whole policy"

// buildResultRows returns the rows below the fold: what is in force, with its sources, and what is
// not. They have two cells, the second of which takes the rest of the row.
func (p *ExplainedPolicy) buildResultRows(o view.TableOptions) [][]view.Cell {
	value := p.SummarizeRule
	if o.Wide {
		value = func(r *view.Rule) string { return view.ValueText(r.Value, 0) }
	}
	var out [][]view.Cell
	for i := range p.Rules {
		r := &p.Rules[i]
		from := view.EachSource(r.Sources, func(s view.Source) string {
			if origin := view.OriginText(s); origin != "" {
				return view.SourceName(s) + ", " + origin
			}
			return view.SourceName(s)
		})
		out = append(out, view.MarkUnsure([]view.Cell{{Text: "=", Tone: view.Good},
			{Text: fmt.Sprintf("%s = %s   (%s)", joinSettings([]string{r.Name}), value(r), from)}}, p.Unread))
	}
	for i := range p.Lost {
		l := &p.Lost[i]
		text := fmt.Sprintf("%s is not in force: %s   (%s)", joinSettings([]string{l.Rule}), l.Why, view.SourceName(l.Source))
		if o.Wide && l.Message != "" {
			text = fmt.Sprintf("%s is not in force: %s   (%s)", l.Rule, l.Message, view.SourceName(l.Source))
		}
		out = append(out, view.MarkUnsure([]view.Cell{{Text: "-", Tone: view.Bad}, {Text: text}}, p.Unread))
	}
	if out == nil {
		out = [][]view.Cell{view.MarkUnsure([]view.Cell{{Text: "=", Tone: view.Dim}, {Text: "nothing in force"}},
			p.Unread)}
	}
	return out
}
