package prove

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table says the result, then shows the smallest counterexample in full and one of each other rule,
// then what is not decided.
func (p *Proof) Table(o view.TableOptions) view.Table {
	t := view.Table{Blocks: []view.Block{{Heading: append([]string{p.formatResult()}, p.formatCounts())}}}
	if len(p.Items) > 0 {
		t.Blocks = append(t.Blocks, view.Block{Heading: p.Items[0].formatLines()})
	}
	if len(p.Items) > 1 {
		b := view.Block{Heading: []string{"further rules that take such requests"},
			Columns: []view.Column{{Name: "ROUTE", Rank: 1, MinWidth: 12},
				{Name: "RULE", Rank: 2, MinWidth: 8},
				{Name: "CLASSES", Rank: 4, Optional: true}, {Name: "SMALLEST REQUEST", Rank: 3, MinWidth: 24, Wrap: true}}}
		rest := p.Items[1:]
		shown := rest[:o.CountShown(len(rest))]
		for i := range shown {
			e := &shown[i]
			b.Rows = append(b.Rows, []view.Cell{{Text: e.Route.WithoutSection().String()},
				{Text: e.Route.Section}, {Text: fmt.Sprint(e.Classes)}, {Text: e.Command}})
		}
		t.Blocks = append(t.Blocks, b)
		t.Footer = append(t.Footer, view.FormatMoreLine(len(rest)-len(shown)+p.More, "rule")...)
	}
	if len(p.Undecided) > 0 {
		b := view.Block{Heading: []string{"not decided"}, Columns: []view.Column{{Name: "CLASSES", Rank: 2},
			{Name: "EXAMPLE", Rank: 3, MinWidth: 24, Wrap: true}, {Name: "WHY", Rank: 1, MinWidth: 24, Wrap: true, Keep: true}}}
		shown := p.Undecided[:o.CountShown(len(p.Undecided))]
		for i := range shown {
			b.Rows = append(b.Rows, []view.Cell{{Text: fmt.Sprint(shown[i].Classes)}, {Text: shown[i].Example},
				{Text: shown[i].Why}})
		}
		t.Blocks = append(t.Blocks, b)
		t.Footer = append(t.Footer, view.FormatMoreLine(len(p.Undecided)-len(shown), "reason")...)
	}
	blocks, footer := p.buildSpellingBlocks(o)
	t.Blocks, t.Footer = append(t.Blocks, blocks...), append(t.Footer, footer...)
	t.Footer = append(t.Footer, p.emptySelectionLines()...)
	for _, note := range p.Notes {
		t.Footer = append(t.Footer, "note: "+note)
	}
	for _, what := range p.LeftOut {
		t.Footer = append(t.Footer, "not looked at: "+what)
	}
	t.Footer = append(t.Footer, p.IncompleteLines()...)
	return t
}

// formatResult says the result for people.
func (p *Proof) formatResult() string {
	switch p.Verdict {
	case Refuted:
		return "refuted: not " + p.Property
	case ProofUnknown:
		return "unknown whether " + p.Property
	case NothingProved:
		return "nothing is proved: no request" + p.askedText + " gets through to a backend"
	}
	return p.Verdict + ": " + p.Property
}

// formatCounts says how many classes hold, fail, and are not decided.
func (p *Proof) formatCounts() string {
	if p.Classes == 0 {
		return "there is no such request"
	}
	text := view.FormatCount(p.Classes, "class of requests|classes of requests") + ": "
	without, with := "meet no policy", "meet a policy"
	switch {
	case p.ofRequests:
		asked := strings.Join(p.Require, " or ")
		without, with = "without "+asked, "with "+asked
	case p.Name == noneShadowed:
		return text + fmt.Sprintf("taken by %s; %s", view.FormatCount(p.Rules, "rule"),
			view.FormatCount(p.unprotected, "rule takes none|rules take none"))
	case len(p.Require) == 0:
		without, with = "for which it does not hold", "for which it holds"
	}
	if p.unprotected > 0 {
		text += fmt.Sprintf("%d %s, ", p.unprotected, without)
	}
	undecided := 0
	for _, u := range p.Undecided {
		undecided += u.Classes
	}
	if undecided > 0 {
		text += fmt.Sprintf("%d not decided, ", undecided)
	}
	text += fmt.Sprintf("%d %s, %d reach no backend", p.Protected, with, p.Unreached)
	if p.Rules == 0 {
		return text
	}
	return text + fmt.Sprintf(" (%s looked at)", view.FormatCount(p.Rules, "rule"))
}

// formatLines says a counterexample for people.
func (e *Counterexample) formatLines() []string {
	if e.Command == "" {
		return []string{"counterexample: " + e.sentence}
	}
	out := []string{"counterexample: " + e.Command, "goes to:        " + e.PathText()}
	for i, why := range e.Why {
		out = append(out, [...]string{"why:            ", "                "}[min(i, 1)]+why)
	}
	if e.sentence != "" {
		out = append(out, "and yet:        "+e.sentence)
	}
	if len(e.Instead) > 0 {
		instead := e.Instead[0].String()
		if n := len(e.Instead); n > 1 {
			instead += fmt.Sprintf(" or one of %d others", n-1)
		}
		out = append(out, "or goes to:     "+instead+", with which it does not hold either")
	}
	if e.Classes > 1 {
		out = append(out, fmt.Sprintf("stands for:     %s; of this rule, %s more", e.Class,
			view.FormatCount(e.Classes-1, "class|classes")))
	} else {
		out = append(out, "stands for:     "+e.Class)
	}
	return out
}

// emptySelectionLines says what of the selection takes no request.
func (p *Proof) emptySelectionLines() []string {
	if p.Name != "" && p.Name != meetsPolicy {
		return nil
	}
	return p.emptySelections
}
